package changefeed

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Config says what to process and how instances share the work. Container,
// Leases and Name are required.
type Config struct {
	// Container is the container whose changes are processed.
	Container *azcosmos.ContainerClient
	// Leases is the container for leases and quarantined changes. Its partition
	// key must be /id, and nothing else should be written into it. It may not
	// be Container itself: every lease written would be a change.
	Leases *azcosmos.ContainerClient
	// Name identifies the work: processors with one name over one container
	// share its ranges; another name processes everything on its own. It is
	// the beginning of every lease's id.
	Name string
	// Endpoint is the URL of the account, as azcosmos.Client.Endpoint returns
	// it. Its host stands in the leases' ids, where autoscalers look for it.
	// Defaults to the host that answers first, which is a region's on accounts
	// with several; it is kept then.
	Endpoint string
	// Instance identifies this process among those with the same Name. Two
	// live instances must not share it. Defaults to a random text.
	Instance string
	// StartFrom is where a Name that never ran begins. Defaults to Beginning.
	// Ranges that have a checkpoint go on from there.
	StartFrom Start
	// Session tells how far this process has seen Container, so that the feed
	// shows what the process has written also where a replica is behind. Give it
	// repository.Repository.SessionToken, or a function that joins the session
	// tokens of the SDK's answers with commas. Without it the feed is read from
	// any replica, and CatchUp may return before it has seen the last writes.
	Session func() string
	// MissingLease says where a range begins again whose lease was deleted by
	// hand. Defaults to [Restart].
	MissingLease MissingLease
	// MaxItems is the most changes in one call of the handler, 1 to 1,000.
	// Defaults to 100.
	MaxItems int
	// PollInterval is the wait after a range had nothing new. Defaults to 1 s.
	PollInterval time.Duration
	// MaxPollInterval is what that wait grows to in a range that has had nothing
	// new for long: it is a tenth of that time, within these bounds. CatchUp
	// does not wait. Defaults to 5 s, or to PollInterval if that is longer.
	MaxPollInterval time.Duration
	// LeaseDuration is how long a lease is respected after its owner last
	// renewed it; a dead instance's ranges are taken over after that. Defaults
	// to 30 s; it is 100 ms to a day. Leases are renewed at a third of it.
	LeaseDuration time.Duration
	// BalanceInterval is how often an instance looks for ranges to take, and
	// for ranges that split. Defaults to 5 s.
	BalanceInterval time.Duration
	// MaxAttempts is how often the handler may refuse a change, for a reason
	// that does not pass, before the change is quarantined. Defaults to 5.
	MaxAttempts int
	// Backoff is the wait after the first failure, at most a minute; it doubles up to that.
	// Defaults to 100 ms.
	Backoff time.Duration
	// Logger takes what an operator should know: leases lost, changes failing,
	// changes quarantined. Defaults to no logging.
	Logger *slog.Logger
	// Meters makes the metrics: changes handled, failed and quarantined, and
	// the lag of each range. Defaults to none.
	Meters metric.MeterProvider
}

const defaultBackoff = 100 * time.Millisecond

// withDefaults returns the config with its gaps filled.
func (c Config) withDefaults() Config {
	c.Instance = cmp.Or(c.Instance, rand.Text()[:12])
	c.MaxItems = cmp.Or(c.MaxItems, 100)
	c.PollInterval = cmp.Or(c.PollInterval, time.Second)
	c.MaxPollInterval = cmp.Or(c.MaxPollInterval, max(5*time.Second, c.PollInterval))
	c.LeaseDuration = cmp.Or(c.LeaseDuration, 30*time.Second)
	c.BalanceInterval = cmp.Or(c.BalanceInterval, 5*time.Second)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 5)
	c.Backoff = cmp.Or(c.Backoff, defaultBackoff)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Meters == nil {
		c.Meters = noop.NewMeterProvider()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Container == nil:
		return refuseConfig("Container", "it is nil", "pass the container to process")
	case c.Leases == nil:
		return refuseConfig("Leases", "it is nil", "pass a container of its own with the partition key /id")
	case c.Leases == c.Container:
		return refuseConfig("Leases", "it is the processed container", "use a container of its own: every lease written would be a change")
	}
	if err := tenantitem.ValidateID(c.Name); err != nil {
		return fmt.Errorf("changefeed.Config.Name: %w", err)
	}
	return c.Validate()
}

// Validate refuses what can't work whatever Container, Leases and Name are, so
// that it can be told before they are known: an error that unwraps to
// [tenantitem.ErrInvalid]. [New] refuses the same.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.MaxItems < 1 || c.MaxItems > 1000:
		return refuseConfig("MaxItems", fmt.Sprintf("it is %d", c.MaxItems), "use 1 to 1000")
	case c.MaxAttempts < 0:
		return refuseConfig("MaxAttempts", fmt.Sprintf("it is %d", c.MaxAttempts), "leave it out for its default")
	case c.LeaseDuration < 100*time.Millisecond || c.LeaseDuration > longestInterval:
		return refuseConfig("LeaseDuration", fmt.Sprintf("it is %s", c.LeaseDuration), "use seconds: less than a slow answer, and instances take from each other; days, and nobody takes over from a dead one")
	case c.Backoff < 0 || c.Backoff > longestBackoff:
		return refuseConfig("Backoff", fmt.Sprintf("it is %s", c.Backoff), "leave it out for its default, or use at most a minute")
	}
	if field, reason, hint := intervalRefusal(c.PollInterval, c.MaxPollInterval); field != "" {
		return refuseConfig(field, reason, hint)
	}
	if !isInterval(c.BalanceInterval) {
		return refuseConfig("BalanceInterval", fmt.Sprintf("it is %s", c.BalanceInterval), useSeconds)
	}
	if _, ok := hostOf(c.Endpoint); c.Endpoint != "" && !ok {
		return refuseConfig("Endpoint", "it is no URL", "pass what azcosmos.Client.Endpoint returns")
	}
	if err := tenantitem.ValidateID(c.Instance); err != nil {
		return fmt.Errorf("changefeed.Config.Instance: %w", err)
	}
	return nil
}

func refuseConfig(field, reason, hint string) error {
	return &tenantitem.InvalidError{What: "changefeed.Config." + field, Reason: reason, Hint: hint}
}
