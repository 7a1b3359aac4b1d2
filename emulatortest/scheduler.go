package emulatortest

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// patience is how long, in the run's time, others wait for the actor whose turn it is while it makes no request: longer
// than a pause between two attempts, shorter than a lease.
const patience = 5 * time.Second

// The bounds of a run. What goes on beyond them is taken to go on for ever.
const (
	mostRequests = 5000
	mostSilence  = 24 * time.Hour
)

// scheduler lets the actors' requests through one at a time, as the plan says (plan.go; explorer.go has the order in which plans are tried).
type scheduler struct {
	plan   plan
	actors []*actorState
	over   chan struct{} // closed when the actors' part of the run has ended
	wake   chan struct{} // holds a token when a request came or an actor ended

	mu       sync.Mutex
	waiting  []*ticket
	rows     []*row
	current  int
	order    []int // the actors by priority, where the plan has priorities
	switched []bool
	idle     time.Time // since when the current actor has made no request; zero when it has
	finished bool
}

// actorState is what the scheduler knows of an actor.
type actorState struct {
	name       string
	background bool
	sent       int // requests let through
	after      int // requests made when the actors' part had ended
	ended      bool
	dead       bool
}

// ticket is a request that waits to be let through.
type ticket struct {
	actor *actorState
	key   string // orders requests that an actor makes at the same time, whatever goroutine was faster
	row   *row
	pass  chan struct{}
}

// row is a request in the schedule.
type row struct {
	request  Request
	answered bool
	killed   bool
	// behind is how many requests had been let through when the answer came.
	behind int
}

func newScheduler(p plan, actors []Actor) *scheduler {
	s := &scheduler{plan: p, over: make(chan struct{}), wake: make(chan struct{}, 1), current: p.start, switched: make([]bool, len(p.switches)), order: slices.Clone(p.priorities)}
	for _, a := range actors {
		s.actors = append(s.actors, &actorState{name: a.Name, background: a.Background})
	}
	return s
}

func (s *scheduler) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *scheduler) enqueue(tk *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return false
	}
	s.waiting = append(s.waiting, tk)
	s.notify()
	return true
}

func (s *scheduler) forget(tk *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(other *ticket) bool { return other == tk })
}

// answered notes the outcome of a request, or that it took effect at last.
func (s *scheduler) answered(tk *ticket, x emulator.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Late {
		late := *tk.row
		late.request.Exchange, late.answered = x, true
		s.rows = append(s.rows, &late)
		return
	}
	tk.row.request.Exchange, tk.row.answered, tk.row.behind = x, true, len(s.rows)
	if x.Killed {
		tk.row.killed = true
		tk.actor.dead = true
		s.notify()
	}
}

// end notes that an actor has returned.
func (s *scheduler) end(actor int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actors[actor].ended = true
	s.notify()
}

var (
	errEndless = errors.New("the actors made 5000 requests and did not end: they wait for something that no actor does")
	errSilent  = errors.New("the actors made no request for a day and did not end: they wait for something that no actor does")
)

// run lets requests through until every actor that is not in the background has ended or died.
func (s *scheduler) run() error {
	defer func() {
		s.mu.Lock()
		s.finished, s.waiting = true, nil
		s.mu.Unlock()
		close(s.over)
	}()
	quiet := time.Now()
	for {
		synctest.Wait()
		tk, done := s.choose()
		switch {
		case done:
			return nil
		case tk != nil:
			if len(s.rows) >= mostRequests {
				return errEndless
			}
			quiet = time.Now()
			close(tk.pass)
		default:
			if time.Since(quiet) > mostSilence {
				return errSilent
			}
			pause := time.NewTimer(patience)
			select {
			case <-s.wake:
			case <-pause.C:
			}
			pause.Stop()
		}
	}
}

// choose takes the next request out of those that wait; nil when none may go yet.
func (s *scheduler) choose() (tk *ticket, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.actors, func(a *actorState) bool { return !a.background && !a.ended && !a.dead }) {
		return nil, true
	}
	if actor := s.nextActor(); actor >= 0 {
		return s.take(actor), false
	}
	return nil, false
}

// nextActor says whose request goes next, -1 when there is none or when it is worth waiting for the current actor.
func (s *scheduler) nextActor() int {
	if len(s.plan.priorities) > 0 {
		return s.highestPriority()
	}
	if s.plan.inner != 0 {
		if a := s.backgroundActor(); a >= 0 {
			return a
		}
	}
	current := s.actors[s.current]
	if s.pending(s.current) {
		s.idle = time.Time{}
		for i, w := range s.plan.switches {
			if to := s.actors[w.to]; w.actor == s.current && w.n == current.sent+1 && !s.switched[i] && !to.ended && !to.dead {
				s.switched[i] = true
				s.current = w.to
				return s.nextActor()
			}
		}
		return s.current
	}
	if current.isExpected() && s.isWaitedFor() {
		return -1
	}
	for i := 1; i <= len(s.actors); i++ {
		next := (s.current + i) % len(s.actors)
		if s.pending(next) {
			s.current, s.idle = next, time.Time{}
			return s.nextActor()
		}
	}
	return -1
}

// isExpected says whether the actor is going to make a request, or to end, by itself.
func (a *actorState) isExpected() bool { return !a.ended && !a.dead && !a.background }

// isWaitedFor says whether others still wait for an actor that makes no request.
func (s *scheduler) isWaitedFor() bool {
	now := time.Now()
	if s.idle.IsZero() {
		s.idle = now
	}
	return now.Sub(s.idle) < patience
}

// highestPriority is nextActor where the plan has priorities: the first of them that has a request goes.
func (s *scheduler) highestPriority() int {
	for _, actor := range s.order {
		if s.pending(actor) {
			s.idle = time.Time{}
			return actor
		}
		if s.actors[actor].isExpected() && s.isWaitedFor() {
			return -1
		}
	}
	return -1
}

// lower takes the actor's priority away when the plan says so: it comes last from then on.
func (s *scheduler) lower(actor int) {
	if slices.Contains(s.plan.lowered, len(s.rows)) {
		s.order = append(slices.DeleteFunc(s.order, func(a int) bool { return a == actor }), actor)
	}
}

// backgroundActor lets a background actor in between now and then.
func (s *scheduler) backgroundActor() int {
	for i, a := range s.actors {
		if a.background && i != s.current && s.pending(i) && mix(s.plan.inner, len(s.rows))%3 == 0 {
			return i
		}
	}
	return -1
}

func (s *scheduler) pending(actor int) bool {
	a := s.actors[actor]
	return !a.dead && slices.ContainsFunc(s.waiting, func(tk *ticket) bool { return tk.actor == a })
}

// take lets a request of the actor through.
func (s *scheduler) take(actor int) *ticket {
	a := s.actors[actor]
	var mine []*ticket
	for _, tk := range s.waiting {
		if tk.actor == a {
			mine = append(mine, tk)
		}
	}
	slices.SortStableFunc(mine, func(a, b *ticket) int { return cmp.Compare(a.key, b.key) })
	chosen := mine[0]
	if s.plan.inner != 0 {
		chosen = mine[mix(s.plan.inner, len(s.rows))%uint64(len(mine))]
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(tk *ticket) bool { return tk == chosen })
	a.sent++
	chosen.row.request.N = a.sent
	s.rows = append(s.rows, chosen.row)
	s.lower(actor)
	return chosen
}

// mix gives a number that looks random and depends on nothing but a seed and a step.
func mix(seed uint64, step int) uint64 {
	z := seed + uint64(step)*0x9e3779b97f4a7c15 //nolint:gosec // a step is not negative
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// isDead says whether the actor's process was killed.
func (s *scheduler) isDead(actor string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.actors, func(a *actorState) bool { return a.name == actor && a.dead })
}
