package denorm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Keeper keeps the copies of an opened database true: in the background
// between Start and Stop, and on demand. It is safe for use by many goroutines.
type Keeper struct {
	copies       *Copies
	configs      map[string]changefeed.Config // by container
	mu           sync.Mutex
	processors   map[string]*changefeed.Processor // by container
	handled      atomic.Uint64
	unrepairable *unrepairableReporter
}

// Keeper returns what keeps the copies of the opened database. It sends
// nothing.
func (c *Copies) Keeper() (*Keeper, error) {
	if c.db == nil {
		return nil, &tenantitem.InvalidError{What: "denorm.Keeper", Reason: "no database is opened", Hint: "pass Extension() to registry.NewPlan and open the plan first"}
	}
	unrepairable, err := newUnrepairableReporter(cmp.Or(c.cfg.Processor.Logger, c.db.Plan().Logger()), c.cfg.Processor.Meters)
	if err != nil {
		return nil, fmt.Errorf("denorm: %w", err)
	}
	k := &Keeper{copies: c, configs: map[string]changefeed.Config{}, processors: map[string]*changefeed.Processor{}, unrepairable: unrepairable}
	for _, typ := range c.schema.entityTypes {
		id := typ.entity.Container
		if _, made := k.configs[id]; made || len(typ.own) == 0 && len(typ.followers) == 0 {
			continue
		}
		cfg, err := containerConfig(c.db, c.cfg, id, c.cfg.Name, typ.docs.SessionToken)
		if err != nil {
			return nil, err
		}
		k.configs[id] = cfg
		if err := k.renew(id); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// renew gives a container another processor: one that was stopped can't be started again.
func (k *Keeper) renew(container string) error {
	p, err := changefeed.New(k.configs[container], k.handler(container))
	if err != nil {
		return fmt.Errorf("denorm: container %q: %w", container, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.processors[container] = p
	return nil
}

func (k *Keeper) processor(container string) *changefeed.Processor {
	p, _ := k.Processor(container)
	return p
}

// handler follows the changes of one container.
func (k *Keeper) handler(container string) changefeed.Handler {
	return func(ctx context.Context, changes []changefeed.Change) error { return k.handle(ctx, container, changes) }
}

// handle follows one page. It says which failures pass, and are waited out; others count against the change and
// end in quarantine. What a document itself makes impossible is in unrepairable.go.
func (k *Keeper) handle(ctx context.Context, container string, changes []changefeed.Change) error {
	k.handled.Add(1)
	err := k.followPage(ctx, container, changes)
	// What is written here is computed anew each time, so that a write of which
	// it is not known whether it was applied may be repeated.
	if repository.IsRetryable(err) || errors.Is(err, repository.ErrAmbiguous) {
		return changefeed.Transient(err)
	}
	return err
}

// Processor returns the processor of a container's changes, for its lag and
// its quarantine. After a Start that failed it may be another one.
func (k *Keeper) Processor(container string) (*changefeed.Processor, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.processors[container]
	return p, ok
}

// Containers returns the ids of the containers whose changes are followed.
func (k *Keeper) Containers() []string {
	ids := make([]string, 0, len(k.configs))
	for id := range k.configs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Start follows changes in the background until Stop. The context bounds the
// start alone. When it fails, nothing runs, and it may be called again.
func (k *Keeper) Start(ctx context.Context) error {
	for i, id := range k.Containers() {
		if err := k.processor(id).Start(ctx); err != nil {
			for _, started := range k.Containers()[:i] {
				err = errors.Join(err, k.processor(started).Stop(ctx), k.renew(started))
			}
			return fmt.Errorf("denorm: container %q: %w", id, err)
		}
	}
	return nil
}

// Stop ends what Start began: what is under way is finished, unless the
// context ends first.
func (k *Keeper) Stop(ctx context.Context) error {
	failures := make([]error, len(k.configs))
	var group sync.WaitGroup
	for i, id := range k.Containers() {
		group.Go(func() { failures[i] = k.processor(id).Stop(ctx) })
	}
	group.Wait()
	return errors.Join(failures...)
}

// CatchUp returns when every change that was made before the call, and every
// change that was made because of one, was followed. It works with and without
// Start. A change that keeps failing is in quarantine afterwards; see
// [changefeed.Processor.Quarantined].
func (k *Keeper) CatchUp(ctx context.Context) error {
	ids := k.Containers()
	for round := 1; ; round++ {
		before := k.handled.Load()
		for _, id := range ids {
			if err := k.processor(id).CatchUp(ctx); err != nil {
				return fmt.Errorf("denorm: container %q: %w", id, err)
			}
		}
		// What is handled in one container may change another, which this
		// process sees in its own count. Of other processes it sees nothing
		// but that they have caught up, so it asks once more for each time
		// that a change may have gone from one container to another.
		if k.handled.Load() == before && round > k.copies.schema.crossings || len(ids) == 1 {
			return nil
		}
	}
}
