package emulatortest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

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

// scheduler lets the actors' requests through one at a time, as the plan says.
type scheduler struct {
	plan   plan
	actors []*actorState
	over   chan struct{} // closed when the actors' part of the run has ended
	wake   chan struct{} // holds a token when a request came or an actor ended

	mu       sync.Mutex
	waiting  []*ticket
	rows     []*row
	current  int
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
	s := &scheduler{plan: p, over: make(chan struct{}), wake: make(chan struct{}, 1), current: p.start, switched: make([]bool, len(p.switches))}
	for _, a := range actors {
		s.actors = append(s.actors, &actorState{name: a.Name, background: a.Background})
	}
	return s
}

// gate is the transport of one actor's clients.
type gate struct {
	scheduler   *scheduler
	actor       *actorState
	undisturbed *atomic.Bool
	next        policy.Transporter
	// aside is the transport of what is not explored.
	aside policy.Transporter
	// forget gives a service on which a write has no effect that anybody sees.
	forget func() policy.Transporter
}

var errDead = fmt.Errorf("emulatortest: the process of this actor was killed: %w", syscall.ECONNRESET)

// Do waits for the request's turn. Reads of the account pass: the SDK makes them at times of its own, holding locks.
func (g *gate) Do(r *http.Request) (*http.Response, error) {
	s := g.scheduler
	if g.undisturbed.Load() {
		return g.aside.Do(r)
	}
	if r.Method == http.MethodGet && strings.Trim(r.URL.Path, "/") == "" {
		return g.next.Do(r)
	}
	tk, err := g.ticket(r)
	if err != nil {
		return nil, err
	}
	if !s.enqueue(tk) {
		return g.afterwards(r)
	}
	select {
	case <-tk.pass:
	case <-s.over:
		return g.afterwards(r)
	case <-r.Context().Done():
		s.forget(tk)
		return nil, fmt.Errorf("emulatortest: %w", r.Context().Err())
	}
	next := g.next
	if f := s.plan.forgotten; f != nil && s.actors[f.actor] == g.actor && tk.row.request.N == f.n {
		next = g.forget()
	}
	response, err := next.Do(r.WithContext(emulator.Observe(r.Context(), func(x emulator.Exchange) { s.answered(tk, x) })))
	if g.dead() {
		<-s.over // a dead process does nothing, not even handle an error
		return g.afterwards(r)
	}
	return response, err
}

// afterwards serves what an actor asks for when the actors' part has ended: one that cleans up gets its answers, and a dead
// one nothing. A goroutine that goes on for ever is ended.
func (g *gate) afterwards(r *http.Request) (*http.Response, error) {
	g.scheduler.mu.Lock()
	g.actor.after++
	dead, n := g.actor.dead, g.actor.after
	g.scheduler.mu.Unlock()
	switch {
	case dead && n > mostRefusals, n > mostRequests:
		runtime.Goexit()
	case dead:
		return nil, errDead
	}
	return g.next.Do(r)
}

// mostRefusals is how many errors a dead actor gets before its goroutine is ended: enough for code that gives up by itself.
const mostRefusals = 20

func (g *gate) dead() bool {
	g.scheduler.mu.Lock()
	defer g.scheduler.mu.Unlock()
	return g.actor.dead
}

func (g *gate) ticket(r *http.Request) (*ticket, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, fmt.Errorf("emulatortest: read the request: %w", err)
		}
		if err := r.Body.Close(); err != nil {
			return nil, fmt.Errorf("emulatortest: close the request: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	key := strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("x-ms-documentdb-partitionkey"),
		r.Header.Get("x-ms-documentdb-partitionkeyrangeid"), string(body)}, "\n")
	return &ticket{
		actor: g.actor, key: key, pass: make(chan struct{}),
		row: &row{request: Request{Actor: g.actor.name, Conditional: r.Header.Get("If-Match") != ""}},
	}, nil
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
	if actor := s.turn(); actor >= 0 {
		return s.take(actor), false
	}
	return nil, false
}

// turn says whose request goes next, -1 when there is none or when it is worth waiting for the current actor.
func (s *scheduler) turn() int {
	if s.plan.inner != 0 {
		if a := s.backgroundTurn(); a >= 0 {
			return a
		}
	}
	now := time.Now()
	current := s.actors[s.current]
	if s.pending(s.current) {
		s.idle = time.Time{}
		for i, w := range s.plan.switches {
			if to := s.actors[w.to]; w.actor == s.current && w.n == current.sent+1 && !s.switched[i] && !to.ended && !to.dead {
				s.switched[i] = true
				s.current = w.to
				return s.turn()
			}
		}
		return s.current
	}
	if !current.ended && !current.dead && !current.background {
		if s.idle.IsZero() {
			s.idle = now
		}
		if now.Sub(s.idle) < patience {
			return -1
		}
	}
	for i := 1; i <= len(s.actors); i++ {
		next := (s.current + i) % len(s.actors)
		if s.pending(next) {
			s.current, s.idle = next, time.Time{}
			return s.turn()
		}
	}
	return -1
}

// backgroundTurn lets a background actor in between now and then.
func (s *scheduler) backgroundTurn() int {
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
