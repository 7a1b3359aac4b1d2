package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Provision creates the plan's database and containers where they are missing,
// and compares those that exist with the plan. It may be called as often as
// one likes, by any number of processes at once: who comes second finds what
// the first one made. Nothing that exists is changed.
//
// It returns every difference. When one of them is fatal, or a container can't
// be created or read, there is an error as well, a [*DriftError] in the
// first case. Failures that may pass (408, 429, 449, 5xx, no answer) are
// repeated with growing pauses, 10 times in all or until ctx ends.
func Provision(ctx context.Context, client *azcosmos.Client, plan *Plan) ([]Difference, error) {
	return visit(ctx, client, plan, true)
}

// Check is [Provision] without the creating: a container that is missing is an
// error.
func Check(ctx context.Context, client *azcosmos.Client, plan *Plan) ([]Difference, error) {
	return visit(ctx, client, plan, false)
}

func visit(ctx context.Context, client *azcosmos.Client, plan *Plan, create bool) ([]Difference, error) {
	v := visitor{client: client, plan: plan, create: create}
	// An identity whose role is that of a container may not read its database;
	// the containers tell then.
	if err := v.database(ctx); err != nil && !isDenied(err) {
		return nil, fmt.Errorf("registry: database %q: %w", plan.cfg.Database, err)
	}
	var differences []Difference
	for _, c := range plan.containers {
		live, err := v.container(ctx, c)
		if err != nil {
			return differences, fmt.Errorf("registry: container %q of database %q: %w", c.ID, plan.cfg.Database, err)
		}
		differences = append(differences, compare(c, live)...)
	}
	return differences, errorOf(plan.cfg.Database, differences)
}

type visitor struct {
	client *azcosmos.Client
	plan   *Plan
	create bool
}

func (v *visitor) database(ctx context.Context) error {
	id := v.plan.cfg.Database
	return v.ensure(ctx, resource{
		read: func(ctx context.Context) error { return cosmos.ReadDatabase(ctx, v.client, id) },
		create: func(ctx context.Context) error {
			err := cosmos.CreateDatabase(ctx, v.client, id, cosmos.Throughput(v.plan.cfg.Throughput))
			if err == nil {
				v.plan.cfg.Logger.InfoContext(ctx, "created database", "database", id)
			}
			return err
		},
	})
}

func (v *visitor) container(ctx context.Context, c Container) (*azcosmos.ContainerProperties, error) {
	database := v.plan.cfg.Database
	container, err := cosmos.OpenContainer(v.client, database, c.ID)
	if err != nil {
		return nil, err
	}
	var live *azcosmos.ContainerProperties
	err = v.ensure(ctx, resource{
		read: func(ctx context.Context) (err error) {
			live, _, err = cosmos.ReadContainer(ctx, container)
			return err
		},
		create: func(ctx context.Context) (err error) {
			live, err = cosmos.CreateContainer(ctx, v.client, database, c.properties(), cosmos.Throughput(c.Throughput))
			if err == nil {
				v.plan.cfg.Logger.InfoContext(ctx, "created container", "database", database, "container", c.ID, "partitionKey", list(c.PartitionKey))
			}
			return err
		},
	})
	return live, err
}

// resource is a database or container that may have to be made.
type resource struct {
	read, create func(context.Context) error
}

const attempts = 10

// ensure reads, creates what is missing, and begins again when another process
// was faster (409) or the answer was lost: the next read tells what came of it.
func (v *visitor) ensure(ctx context.Context, r resource) error {
	var last error
	for attempt := range attempts {
		if attempt > 0 {
			if err := pause(ctx, attempt); err != nil {
				return errors.Join(err, last)
			}
		}
		err := r.read(ctx)
		if statusOf(err) == http.StatusNotFound && v.create {
			err = r.create(ctx)
			if statusOf(err) == http.StatusForbidden {
				return fmt.Errorf("it does not exist and may not be created: %w", answer(err))
			}
		}
		if err == nil {
			return nil
		}
		last = answer(err)
		if ctx.Err() != nil || !mayPass(err) {
			return last
		}
	}
	return fmt.Errorf("%d attempts: %w", attempts, last)
}

// mayPass reports whether the same request may succeed a little later.
func mayPass(err error) bool {
	switch status := statusOf(err); status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, statusRetryWith:
		return true
	default:
		return status >= http.StatusInternalServerError
	}
}

// statusRetryWith is the service's "concurrent write, try again".
const statusRetryWith = 449

// pause waits 50 ms to 3 s, longer from attempt to attempt, at random so that
// processes that start together do not stay together.
func pause(ctx context.Context, attempt int) error {
	longest := min(100*time.Millisecond<<attempt, 3*time.Second)
	timer := time.NewTimer(longest/4 + rand.N(longest*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// properties is the container as the service is asked to make it. Defaults were
// filled in before: withDefaults in config.go.
func (c Container) properties() azcosmos.ContainerProperties {
	p := azcosmos.ContainerProperties{
		ID: c.ID,
		// Without a version the service makes version 1, which cuts values
		// off after 101 bytes.
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: c.PartitionKey, Version: 2},
		IndexingPolicy:         c.Indexing,
	}
	if seconds, on := c.ttlSeconds(); on {
		p.DefaultTimeToLive = &seconds
	}
	if len(c.UniqueKeys) > 0 {
		policy := &azcosmos.UniqueKeyPolicy{}
		for _, paths := range c.UniqueKeys {
			policy.UniqueKeys = append(policy.UniqueKeys, azcosmos.UniqueKey{Paths: paths})
		}
		p.UniqueKeyPolicy = policy
	}
	return p
}

func (c Container) ttlSeconds() (seconds int32, on bool) {
	switch c.DefaultTTL {
	case TTLOff:
		return 0, false
	case TTLOn:
		return -1, true
	}
	return int32(c.DefaultTTL / time.Second), true //nolint:gosec // validate keeps it below the limit
}
