package changefeed

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
)

// balance starts workers for the leases that are this instance's share. Which
// they are, and which leases have expired, is decided in share.go.
func (p *Processor) balance(ctx context.Context, seen sightings, group *sync.WaitGroup) error {
	asking, end := p.untilStopped(ctx)
	defer end()
	leases, err := p.leases(asking)
	if err != nil {
		return err
	}
	start := func(l *lease) { p.startWorker(ctx, l, group) }
	return errors.Join(p.heal(asking, leases), p.takeShare(asking, leases, seen, start))
}

// untilStopped is a context for what a processor that stops need not wait for: a throttled read may wait for
// longer than a stop may take.
func (p *Processor) untilStopped(ctx context.Context) (until context.Context, end func()) {
	until, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.stopping:
			cancel(errStopped)
		case <-until.Done():
		}
	}()
	return until, func() { cancel(context.Canceled) }
}

// takeShare takes what is due to this instance, and asks for what others have too much of.
func (p *Processor) takeShare(ctx context.Context, leases []*lease, seen sightings, start func(*lease)) error {
	expired := seen.expired(leases, time.Now(), p.cfg.LeaseDuration)
	over := replaced(leases)
	live, err := p.clean(ctx, leases, over, expired)
	if err != nil {
		return err
	}
	// A split that was suspended half-way may have brought back a lease that
	// was replaced long ago: it is waiting to be removed, never to be taken.
	held := func(id string) bool {
		return p.running(id) || slices.ContainsFunc(over, func(l *lease) bool { return l.ID == id })
	}
	take, ask := share(live, p.cfg.Instance, expired, held)
	for _, l := range take {
		mine := l.clone()
		mine.acquire(p.cfg.Instance)
		mine, err := p.store.replace(ctx, mine)
		if err == nil && p.store.isFormer(mine) {
			mine, err = p.store.rename(ctx, mine)
		}
		if err != nil {
			if wasTaken(err) || errors.Is(err, errLost) {
				continue // another instance was faster
			}
			return err
		}
		start(mine)
	}
	for _, l := range ask {
		wanted := l.clone()
		wanted.Properties[propertyHandover] = p.cfg.Instance
		if _, err := p.store.replace(ctx, wanted); err != nil && !wasTaken(err) {
			return err
		}
	}
	// An idle worker would see another's wish at its next renewal only.
	for _, l := range live {
		if w := p.worker(l.ID); w != nil && l.owner() == p.cfg.Instance && l.epoch() == w.epoch && l.Properties[propertyHandover] != "" {
			w.handOver()
		}
	}
	return nil
}

func wasTaken(err error) bool {
	status := statusOf(err)
	return status == http.StatusPreconditionFailed || status == http.StatusNotFound
}

// clean removes the leases that their children have replaced, as far as it may,
// and returns the others. A living owner removes its own: until it has, it may be at work.
func (p *Processor) clean(ctx context.Context, leases, over []*lease, expired map[string]bool) ([]*lease, error) {
	gone := map[string]bool{}
	for _, parent := range over {
		owner := parent.owner()
		if p.running(parent.ID) || owner != "" && owner != p.cfg.Instance && !expired[parent.ID] {
			continue
		}
		if err := p.store.remove(ctx, parent); err != nil {
			if wasTaken(err) {
				continue
			}
			return nil, err
		}
		gone[parent.ID] = true
	}
	return slices.DeleteFunc(leases, func(l *lease) bool { return gone[l.ID] }), nil
}

func (p *Processor) worker(id string) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers[id]
}

func (p *Processor) running(id string) bool { return p.worker(id) != nil }

func (p *Processor) startWorker(ctx context.Context, l *lease, group *sync.WaitGroup) {
	w := newWorker(p, l)
	p.mu.Lock()
	p.workers[l.ID] = w
	p.mu.Unlock()
	group.Go(func() {
		w.run(ctx)
		p.mu.Lock()
		delete(p.workers, l.ID)
		p.endedWorkers++
		p.mu.Unlock()
		p.rebalance()
		p.announceProgress()
	})
}

// rebalance asks for a round of balancing now.
func (p *Processor) rebalance() { signal(p.wake) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
