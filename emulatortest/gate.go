package emulatortest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

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
