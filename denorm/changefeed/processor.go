package changefeed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Processor processes one container's changes, together with other instances
// of the same name. Make it with [New]; it does nothing until Run or Start.
type Processor struct {
	cfg            Config
	handler        Handler
	metrics        *metrics
	leaseContainer *leaseContainer
	store          *leaseStore
	reader         *reader
	start          *startDocument

	// opened is set once the container was read and the leases exist.
	opening chan struct{} // held by the goroutine that opens; a channel, because it takes requests
	opened  bool

	missing    missing       // the balancer's alone
	generation atomic.Uint64 // counts the rounds of CatchUp
	wake       chan struct{} // asks the balancer for a round
	stopping   chan struct{} // closed by Stop

	mu           sync.Mutex
	workers      map[string]*worker // by lease id
	drained      map[string]uint64  // by lease id: the newest generation that began before an empty read
	endedWorkers uint64             // workers that ended
	handled      uint64             // pages with changes
	changed      chan struct{}      // closed and made anew at every progress
	current      *running           // nil while nothing runs
}

// running is one run of the processor.
type running struct {
	cancel context.CancelFunc
	ended  chan struct{}
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
		cfg: cfg, handler: handler, leaseContainer: &leaseContainer{container: cfg.Leases}, workers: map[string]*worker{}, drained: map[string]uint64{},
		opening: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1), changed: make(chan struct{}), stopping: make(chan struct{}),
	}
	var err error
	p.metrics, err = newMetrics(cfg)
	return p, err
}

// ErrRunning is returned by Run and Start of a processor that runs already.
var ErrRunning = errors.New("changefeed: the processor is running")

// ErrStopped is returned by Run, Start and CatchUp after Stop.
var ErrStopped = errors.New("changefeed: the processor was stopped; make another with New")

// begin claims the processor for one run, until the context ends. The caller
// must call end.
func (p *Processor) begin(ctx context.Context) (run context.Context, end func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stopping:
		return nil, nil, ErrStopped
	default:
	}
	if p.current != nil {
		return nil, nil, ErrRunning
	}
	run, cancel := context.WithCancel(ctx)
	p.current = &running{cancel: cancel, ended: make(chan struct{})}
	return run, func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.current.ended)
		p.current = nil
	}, nil
}

// Run processes until the context ends or Stop is called, and returns nil
// then. When the context ends, handlers are interrupted and their changes come
// again to the instance that takes the range next. Failures of the service are retried
// for ever; what Run returns as an error is a container that does not exist or
// does not fit, [ErrRunning] or [ErrStopped].
func (p *Processor) Run(ctx context.Context) error {
	run, end, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := p.run(run); err != nil && ctx.Err() == nil {
		return redact.Error(err)
	}
	return nil
}

// Start runs the processor in the background; Stop ends it. The context bounds
// the start alone.
func (p *Processor) Start(ctx context.Context) error {
	run, end, err := p.begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		end()
		return redact.Error(err)
	}
	go func() {
		defer end()
		if err := p.run(run); err != nil {
			p.cfg.Logger.ErrorContext(run, "change feed processor ended", "processor", p.cfg.Name, "error", redact.Error(err))
		}
	}()
	return nil
}

// Stop ends what runs: no new batch is begun, those under way are finished and
// checkpointed, and the leases are handed back. A batch that waits to be tried
// again is left to the instance that takes the range next. When the context ends first,
// handlers are interrupted and its error is returned. Stop does nothing when
// nothing runs; what it has ended can't be started again.
func (p *Processor) Stop(ctx context.Context) error {
	p.mu.Lock()
	current := p.current
	if current != nil {
		select {
		case <-p.stopping:
		default:
			close(p.stopping)
		}
	}
	p.mu.Unlock()
	if current == nil {
		return nil
	}
	select {
	case <-current.ended:
		return nil
	case <-ctx.Done():
		current.cancel()
		<-current.ended
		return fmt.Errorf("changefeed: handlers were interrupted: %w", context.Cause(ctx))
	}
}

func (p *Processor) run(ctx context.Context) error {
	switch err := p.openPatiently(ctx); {
	case errors.Is(err, errStopped), ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	unwatch, err := p.watchRanges()
	if err != nil {
		return err
	}
	defer unwatch()
	var group sync.WaitGroup
	defer group.Wait()
	seen := observedLeases{}
	unbalanced := false // and told of
	for {
		err := p.balance(ctx, seen, &group)
		if err != nil && ctx.Err() == nil && !unbalanced {
			p.cfg.Logger.WarnContext(ctx, "change feed ranges can't be balanced until this passes", "processor", p.cfg.Name, "error", redact.Error(err))
		}
		unbalanced = err != nil
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

// openPatiently opens, and waits out what passes.
func (p *Processor) openPatiently(ctx context.Context) error {
	for try := 0; ; try++ {
		err := p.open(ctx)
		if err == nil || !requestPasses(err) {
			return err
		}
		if try == 0 {
			p.cfg.Logger.WarnContext(ctx, "change feed processor can't begin until this passes", "processor", p.cfg.Name, "error", redact.Error(err))
		}
		if err := p.pause(ctx, backoff(p.cfg.Backoff, try)); err != nil {
			return err
		}
	}
}

// open reads the container's key and makes the leases of a name that never ran.
func (p *Processor) open(ctx context.Context) error {
	p.opening <- struct{}{}
	defer func() { <-p.opening }()
	if p.opened {
		return nil
	}
	if err := p.checkLeaseContainer(ctx); err != nil {
		return err
	}
	properties, host, err := p.readProperties(ctx, p.cfg.Container)
	if err != nil {
		return fmt.Errorf("changefeed: reading the container: %w", err)
	}
	if p.cfg.Endpoint != "" {
		host, _ = hostOf(p.cfg.Endpoint) // it was validated
	}
	p.reader = newReader(p.cfg.Container, properties, p.cfg.MaxItems, p.cfg.Session)
	names := namesOf(p.cfg.Name, host, properties.ResourceID)
	p.store = &leaseStore{container: p.leaseContainer, names: names, instance: p.cfg.Instance, logger: p.cfg.Logger}
	var complete bool
	err = p.persist(ctx, func() (err error) {
		complete, err = p.store.complete(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("changefeed: reading whether the leases exist: %w", err)
	}
	if p.start, err = p.openStart(ctx, names, complete); err != nil {
		return fmt.Errorf("changefeed: %w", err)
	}
	p.store.names.prefix = p.start.LeasePrefix
	p.store.former = append([]string{names.former()}, p.start.FormerPrefixes...)
	if !complete {
		if err := p.createLeases(ctx); err != nil {
			return fmt.Errorf("changefeed: %w", err)
		}
	}
	p.opened = true
	return nil
}

func (p *Processor) checkLeaseContainer(ctx context.Context) error {
	properties, _, err := p.readProperties(ctx, p.cfg.Leases)
	if err != nil {
		return fmt.Errorf("changefeed: reading the lease container: %w", err)
	}
	if paths := properties.PartitionKeyDefinition.Paths; len(paths) != 1 || paths[0] != "/id" {
		return &tenantitem.InvalidError{What: "changefeed.Config.Leases", Reason: fmt.Sprintf("its partition key is %v", paths), Hint: "create it with the partition key /id"}
	}
	return nil
}

// readProperties reads a container, and tells the host that answered.
func (p *Processor) readProperties(ctx context.Context, container *cosmos.Container) (properties *cosmos.ContainerProperties, host string, err error) {
	err = p.persist(ctx, func() (err error) {
		properties, host, err = cosmos.ReadContainer(ctx, container)
		return err
	})
	return properties, host, err
}

// leases lists what the store holds.
func (p *Processor) leases(ctx context.Context) ([]*lease, error) {
	var leases []*lease
	err := p.persist(ctx, func() (err error) {
		leases, err = p.store.list(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return leases, nil
}

// progress notes what a worker's read brought.
func (p *Processor) progress(w *worker, pg page, generation uint64) {
	p.mu.Lock()
	switch {
	case pg.empty:
		p.drained[w.id], w.lag = max(p.drained[w.id], generation), 0
	case len(pg.changes) > 0:
		p.handled++
		w.lag = max(0, pg.head-pg.changes[len(pg.changes)-1].LSN)
	}
	p.mu.Unlock()
	p.announceProgress()
}

// announceProgress wakes those who wait for progress.
func (p *Processor) announceProgress() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.changed)
	p.changed = make(chan struct{})
}
