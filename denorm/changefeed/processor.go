package changefeed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/tenantitem"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Processor processes one container's changes, together with other instances
// of the same name. Make it with [New]; it does nothing until Run or Start.
type Processor struct {
	cfg     Config
	handler Handler
	metrics *metrics
	store   *leaseStore
	reader  *reader

	// opened is set once the container was read and the leases exist.
	openMu sync.Mutex
	opened bool

	generation atomic.Uint64 // counts the calls of CatchUp
	wake       chan struct{} // asks the balancer for a round
	changed    chan struct{} // tells CatchUp that a worker made progress
	stopping   chan struct{}

	mu      sync.Mutex
	workers map[string]*worker // by lease id
	handled uint64             // pages with changes

	runMu  sync.Mutex // held while running
	cancel context.CancelFunc
	ended  chan struct{}
	failed error
}

// New returns a processor. It sends nothing. A config that can't work is an
// error that unwraps to [tenantitem.ErrInvalid].
func New(cfg Config, handler Handler) (*Processor, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if handler == nil {
		return nil, &tenantitem.InvalidError{What: "changefeed handler", Reason: "it is nil", Hint: "pass a function"}
	}
	p := &Processor{
		cfg: cfg, handler: handler, workers: map[string]*worker{},
		wake: make(chan struct{}, 1), changed: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
	var err error
	p.metrics, err = newMetrics(cfg)
	return p, err
}

// ErrRunning is returned by Run and Start of a processor that runs already.
var ErrRunning = errors.New("changefeed: the processor is running")

// Run processes until the context ends or Stop is called, and returns nil
// then. When the context ends, handlers are interrupted and their changes come
// again to whoever takes the range next. Failures of the service are retried
// for ever; what Run returns as an error is a container that does not exist or
// does not fit.
func (p *Processor) Run(ctx context.Context) error {
	if !p.runMu.TryLock() {
		return ErrRunning
	}
	defer p.runMu.Unlock()
	return p.run(ctx)
}

// Start runs the processor in the background; Stop ends it. The context bounds
// the start alone.
func (p *Processor) Start(ctx context.Context) error {
	if !p.runMu.TryLock() {
		return ErrRunning
	}
	if err := p.open(ctx); err != nil {
		p.runMu.Unlock()
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel, p.ended = cancel, make(chan struct{})
	go func() {
		defer p.runMu.Unlock()
		defer close(p.ended)
		p.failed = p.run(running)
	}()
	return nil
}

// Stop ends what Start began: no new batch is begun, those under way are
// finished and checkpointed, and the leases are handed back. When the context
// ends first, handlers are interrupted. It does nothing when nothing runs.
func (p *Processor) Stop(ctx context.Context) error {
	if p.ended == nil {
		return nil
	}
	select {
	case <-p.stopping:
	default:
		close(p.stopping)
	}
	defer p.cancel()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.cancel()
		<-p.ended
	}
	return p.failed
}

func (p *Processor) run(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	unwatch, err := p.watchLag()
	if err != nil {
		return err
	}
	defer unwatch()
	var group sync.WaitGroup
	defer group.Wait()
	seen := watch{}
	for {
		if err := p.balance(ctx, seen, &group); err != nil && ctx.Err() == nil {
			p.cfg.Logger.WarnContext(ctx, "change feed ranges could not be balanced", "processor", p.cfg.Name, "error", err)
		}
		timer := time.NewTimer(p.cfg.BalanceInterval)
		select {
		case <-ctx.Done():
		case <-p.stopping:
		case <-timer.C:
		case <-p.wake:
		}
		timer.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-p.stopping:
			return nil
		default:
		}
	}
}

// open reads the container's key and makes the leases of a name that never ran.
func (p *Processor) open(ctx context.Context) error {
	p.openMu.Lock()
	defer p.openMu.Unlock()
	if p.opened {
		return nil
	}
	if err := p.checkLeaseContainer(ctx); err != nil {
		return err
	}
	properties, err := p.readProperties(ctx, p.cfg.Container)
	if err != nil {
		return fmt.Errorf("changefeed: reading the container: %w", err)
	}
	p.reader = &reader{container: p.cfg.Container, scheme: schemeOf(properties.PartitionKeyDefinition), maxItems: int32(p.cfg.MaxItems)} //nolint:gosec // validate keeps it to 1,000
	for _, path := range properties.PartitionKeyDefinition.Paths {
		p.reader.keyPaths = append(p.reader.keyPaths, strings.Split(strings.Trim(path, "/"), "/"))
	}
	p.store = &leaseStore{container: p.cfg.Leases, prefix: leasePrefix(p.cfg.Name, properties.ResourceID), instance: p.cfg.Instance}
	leases, err := p.leases(ctx)
	if err != nil {
		return err
	}
	if len(leases) == 0 {
		if err := p.createLeases(ctx); err != nil {
			return err
		}
	}
	p.opened = true
	return nil
}

// createLeases makes one lease for each physical partition. Instances that
// start together make the same ones; should a split come between them, the
// parent's is found to be replaced.
func (p *Processor) createLeases(ctx context.Context) error {
	var ranges []azcosmos.FeedRange
	err := p.persist(ctx, func() (err error) {
		ranges, err = p.cfg.Container.ReadFeedRanges(ctx, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("changefeed: reading the container's ranges: %w", err)
	}
	var properties map[string]string
	switch start := p.cfg.StartFrom; {
	case start.now:
		properties = map[string]string{propertyStart: time.Now().UTC().Format(time.RFC3339)}
	case !start.at.IsZero():
		properties = map[string]string{propertyStart: start.at.UTC().Format(time.RFC3339)}
	}
	for _, r := range ranges {
		at := position{keys: keyRange{r.MinInclusive, r.MaxExclusive}}
		if err := p.persist(ctx, func() error { return p.store.create(ctx, at, "", properties) }); err != nil {
			return fmt.Errorf("changefeed: creating a lease: %w", err)
		}
	}
	return nil
}

func (p *Processor) checkLeaseContainer(ctx context.Context) error {
	properties, err := p.readProperties(ctx, p.cfg.Leases)
	if err != nil {
		return fmt.Errorf("changefeed: reading the lease container: %w", err)
	}
	if paths := properties.PartitionKeyDefinition.Paths; len(paths) != 1 || paths[0] != "/id" {
		return &tenantitem.InvalidError{What: "changefeed.Config.Leases", Reason: fmt.Sprintf("its partition key is %v", paths), Hint: "create it with the partition key /id"}
	}
	return nil
}

func (p *Processor) readProperties(ctx context.Context, container *azcosmos.ContainerClient) (*azcosmos.ContainerProperties, error) {
	var properties *azcosmos.ContainerProperties
	err := p.persist(ctx, func() error {
		resp, err := container.Read(ctx, nil)
		properties = resp.ContainerProperties
		return err
	})
	return properties, err
}

// leases lists what the store holds.
func (p *Processor) leases(ctx context.Context) ([]*lease, error) {
	var leases []*lease
	err := p.persist(ctx, func() (err error) {
		leases, err = p.store.list(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("changefeed: %w", err)
	}
	return leases, nil
}

func schemeOf(d azcosmos.PartitionKeyDefinition) epk.Scheme {
	switch {
	case len(d.Paths) > 1:
		return epk.MultiHash
	case d.Version == 1:
		return epk.HashV1
	}
	return epk.HashV2
}

// balance starts workers for the leases that are this instance's share.
func (p *Processor) balance(ctx context.Context, seen watch, group *sync.WaitGroup) error {
	leases, err := p.leases(ctx)
	if err != nil {
		return err
	}
	live, err := p.clean(ctx, leases)
	if err != nil {
		return err
	}
	expired := seen.expired(live, time.Now(), p.cfg.LeaseDuration)
	take, ask := share(live, p.cfg.Instance, expired)
	for _, l := range live {
		if l.owner() == p.cfg.Instance && !p.running(l.ID) {
			take = append(take, l) // handed over, or left by a run before
		}
	}
	for _, l := range take {
		mine := l.clone()
		mine.setOwner(p.cfg.Instance)
		delete(mine.Properties, propertyHandover)
		mine, err := p.store.replace(ctx, mine)
		if err != nil {
			if wasTaken(err) {
				continue // another instance was faster
			}
			return err
		}
		p.employ(ctx, mine, group)
	}
	if ask != nil {
		wanted := ask.clone()
		wanted.Properties[propertyHandover] = p.cfg.Instance
		if _, err := p.store.replace(ctx, wanted); err != nil && !wasTaken(err) {
			return err
		}
	}
	return nil
}

func wasTaken(err error) bool {
	status := statusOf(err)
	return status == http.StatusPreconditionFailed || status == http.StatusNotFound
}

// clean removes the leases that their children have replaced and returns the others.
func (p *Processor) clean(ctx context.Context, leases []*lease) ([]*lease, error) {
	gone := map[string]bool{}
	for _, parent := range replaced(leases) {
		gone[parent.ID] = true
		if p.running(parent.ID) {
			continue // its own worker is about to remove it
		}
		if err := p.store.remove(ctx, parent); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(leases, func(l *lease) bool { return gone[l.ID] }), nil
}

func (p *Processor) running(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers[id] != nil
}

func (p *Processor) employ(ctx context.Context, l *lease, group *sync.WaitGroup) {
	w := &worker{p: p, keys: l.FeedRange.Range, lease: l, nudge: make(chan struct{}, 1)}
	p.mu.Lock()
	p.workers[l.ID] = w
	p.mu.Unlock()
	group.Go(func() {
		w.run(ctx)
		p.mu.Lock()
		delete(p.workers, l.ID)
		p.mu.Unlock()
		p.rebalance()
		p.tellChanged()
	})
}

// rebalance asks for a round of balancing now.
func (p *Processor) rebalance() { signal(p.wake) }

func (p *Processor) tellChanged() { signal(p.changed) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// progress notes what a worker's read brought.
func (p *Processor) progress(w *worker, pg page, empty bool, generation uint64) {
	p.mu.Lock()
	if empty {
		w.drained, w.lag = max(w.drained, generation), 0
	} else {
		p.handled++
		w.lag = max(0, pg.head-pg.changes[len(pg.changes)-1].LSN)
	}
	p.mu.Unlock()
	p.tellChanged()
}
