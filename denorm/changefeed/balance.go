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
// they are is decided by share below. Another's may be taken over once its owner has not renewed it
// for Config.LeaseDuration by this instance's own clock (expired in leaseexpiry.go).
func (p *Processor) balance(ctx context.Context, seen observedLeases, group *sync.WaitGroup) error {
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

// takeShare takes what is due to this instance, and asks for what others have too much of. Of two
// instances that take the same lease one is refused: replace in leasestore.go writes over the etag
// that was read only. Which leases have expired says leaseexpiry.go.
func (p *Processor) takeShare(ctx context.Context, leases []*lease, seen observedLeases, start func(*lease)) error {
	expired := seen.expired(leases, time.Now(), p.cfg.LeaseDuration)
	over := replaced(leases)
	p.tellOverlaps(leases, expired)
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
		if err := p.reserveEpoch(ctx, mine.epoch()); err != nil {
			return err
		}
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

// share decides which leases an instance should take now, and which ones it
// should ask other instances for. Every live instance is due an equal number,
// rounded up; one that was asked for counts as the asker's. Leases without a
// living owner are taken at once; only when there are none, and while another
// instance has two more than this one, the richest is asked for one.
//
// A lease is left alone when it is held: a worker of this instance has it
// still, or it is to be removed. So is a child's while its parent's is there:
// the parent's owner may be at work on the same keys.
func share(leases []*lease, instance string, expired map[string]bool, held func(id string) bool) (take, ask []*lease) {
	owned := map[string][]*lease{instance: nil}
	for _, l := range leases {
		owner := l.owner()
		free := !held(l.ID) && !slices.ContainsFunc(leases, func(parent *lease) bool { return parent.FeedRange.Range.covers(l.FeedRange.Range) })
		switch {
		case owner == instance:
			owned[instance] = append(owned[instance], l)
			if free {
				// It was handed over, or left behind by a run before.
				take = append(take, l)
			}
		case owner == "" || expired[l.ID]:
			if free {
				take = append(take, l)
			}
		default:
			if wanted := l.Properties[propertyHandover]; wanted != "" {
				owner = wanted
			}
			owned[owner] = append(owned[owner], l)
		}
	}
	due := (len(leases) + len(owned) - 1) / len(owned)
	mine := len(owned[instance])
	if len(take) > 0 {
		room := max(0, due-mine)
		return slices.DeleteFunc(take, func(l *lease) bool {
			if l.owner() == instance {
				return false
			}
			room--
			return room < 0
		}), nil
	}
	for {
		richest := ""
		for owner, theirs := range owned {
			if owner != instance && (len(theirs) > len(owned[richest]) || len(theirs) == len(owned[richest]) && owner < richest) {
				richest = owner
			}
		}
		theirs := owned[richest]
		pick := slices.IndexFunc(theirs, func(l *lease) bool { return l.Properties[propertyHandover] == "" })
		if len(theirs)-mine < 2 || pick < 0 {
			return nil, ask
		}
		ask = append(ask, theirs[pick])
		owned[richest] = slices.Delete(theirs, pick, pick+1)
		mine++
	}
}

// replaced returns the leases that smaller ones cover completely: what is left
// of a split whose instance stopped before it removed the parent.
func replaced(leases []*lease) []*lease {
	var out []*lease
	for _, parent := range leases {
		whole := parent.FeedRange.Range
		inside := slices.DeleteFunc(slices.Clone(leases), func(l *lease) bool { return !whole.covers(l.FeedRange.Range) })
		if len(inside) > 0 && len(uncovered(whole, rangesOf(inside))) == 0 {
			out = append(out, parent)
		}
	}
	return out
}
