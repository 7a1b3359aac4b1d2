package changefeed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/internal/redact"
)

// errRunEnded tells a CatchUp that the run it counted on is over.
var errRunEnded = errors.New("the run ended")

// CatchUp returns when every change made before the call, and every change
// that handlers made meanwhile, was handled or quarantined. It hurries the
// ranges that run here and waits for those of other instances. A processor
// that does not run runs for as long as that takes. It returns [ErrStopped]
// when Stop is called meanwhile.
//
// Besides the reads of the ranges themselves it costs one listing of the
// leases for each round of changes that cause changes, one for each range that
// ends or moves, and where it has to wait for something that it can't see, ever
// fewer, down to one in a [Config.BalanceInterval].
func (p *Processor) CatchUp(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return redact.Error(err)
	}
	for {
		if err := p.catchUp(ctx); !errors.Is(err, errRunEnded) {
			return redact.Error(err)
		}
	}
}

// catchUp goes along with the present run, or with one of its own.
func (p *Processor) catchUp(ctx context.Context) error {
	var ended <-chan struct{} // none: its own run is over when it says so
	switch run, end, err := p.begin(ctx); {
	case errors.Is(err, ErrRunning):
		p.mu.Lock()
		if p.current != nil {
			ended = p.current.ended
		}
		p.mu.Unlock()
		if ended == nil {
			return errRunEnded
		}
	case err != nil:
		return err
	default:
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = p.run(run) // it was opened before, which is all that can fail
		}()
		defer func() { p.cancelRun(); <-done; end() }()
	}
	for {
		quiet, err := p.round(ctx, ended)
		if err != nil || quiet {
			return err
		}
	}
}

func (p *Processor) cancelRun() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current.cancel()
}

// round waits until each range has answered "nothing new" to a read that began
// after the round did, and reports whether no range had any change meanwhile:
// a change handled in one range may have caused one in another.
func (p *Processor) round(ctx context.Context, ended <-chan struct{}) (quiet bool, err error) {
	before := p.handledPages()
	r := catchUpRound{p: p}
	// The leases come first: what another instance has stored in one by then
	// was handled before any read that counts below.
	if err := r.list(ctx); err != nil {
		return false, err
	}
	r.generation = p.generation.Add(1)
	for _, l := range r.leases {
		if w := p.worker(l.ID); w != nil {
			signal(w.wake)
		}
	}
	// The progress of other instances makes no signal here, so their leases
	// are looked at from time to time.
	interval := max(p.cfg.PollInterval, 10*time.Millisecond)
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		progress := p.nextChange()
		drained, err := r.drained(ctx)
		if err != nil || drained {
			return !r.late && p.handledPages() == before, err
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("changefeed: catching up: %w", context.Cause(ctx))
		case <-p.stopping:
			return false, ErrStopped
		case <-ended:
			return false, errRunEnded
		case <-progress:
		case <-timer.C:
			r.old = true
			interval = max(interval, min(2*interval, p.cfg.BalanceInterval))
			timer.Reset(interval)
		}
	}
}

func (p *Processor) handledPages() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handled
}

// nextChange is closed at the next progress.
func (p *Processor) nextChange() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// catchUpRound is what one round of CatchUp knows about the leases.
type catchUpRound struct {
	p          *Processor
	generation uint64

	leases       []*lease
	clear        map[string]bool // those of other instances that had nothing new
	endedWorkers uint64          // when they were listed
	listed       int             // how often
	old          bool            // it is time to list them again
	// late says that another instance stored progress since the round began:
	// what it handled may have caused changes in ranges that were read before.
	late bool
}

func (r *catchUpRound) list(ctx context.Context) error {
	r.p.mu.Lock()
	r.endedWorkers = r.p.endedWorkers
	r.p.mu.Unlock()
	leases, err := r.p.leases(ctx)
	if err != nil {
		return fmt.Errorf("changefeed: catching up: %w", err)
	}
	r.leases, r.old = leases, false
	r.listed++
	if r.clear == nil {
		r.clear = map[string]bool{}
	}
	return nil
}

// drained reports whether every lease is: those that run here by what their
// workers read since the generation began, the others by their lag.
func (r *catchUpRound) drained(ctx context.Context) (bool, error) {
	r.p.mu.Lock()
	left := r.endedWorkers != r.p.endedWorkers
	r.p.mu.Unlock()
	if r.old || left {
		if err := r.list(ctx); err != nil {
			return false, err
		}
	}
	var others []*lease
	// A lease may be missing from a listing by a replica that lags behind, or
	// was deleted and is about to be made anew.
	all := len(uncovered(everything, rangesOf(r.leases))) == 0 && len(replaced(r.leases)) == 0
	for _, l := range r.leases {
		r.p.mu.Lock()
		w := r.p.workers[l.ID]
		done := r.p.drained[l.ID] >= r.generation // by whichever worker has the range by now
		r.p.mu.Unlock()
		switch {
		case done || r.clear[l.ID]:
		case w == nil && l.owner() != "" && l.owner() != r.p.cfg.Instance:
			others = append(others, l)
		default:
			all = false // at work, or about to be taken
		}
	}
	if !all {
		return false, nil
	}
	for _, l := range others {
		var behind int64
		err := r.p.persist(ctx, func() (err error) {
			behind, err = r.p.behind(ctx, l)
			return err
		})
		if err != nil {
			return false, fmt.Errorf("changefeed: reading the lag of a range: %w", err)
		}
		if behind > 0 {
			return false, nil
		}
		r.clear[l.ID] = true
		r.late = r.late || r.listed > 1
	}
	return true, nil
}
