package emulatortest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// prepare runs Setup, whose account every run forks.
func (x *explorer) prepare() (failure string) {
	var service *emulator.Service
	synctest.Test(x.t, func(t *testing.T) {
		service = newService(x.t, x.settings)
		r := x.newRunState(nil)
		if x.scenario.Setup != nil {
			w := r.newWorld(t, "", x.handle(service), ungated(service, "setup"))
			<-w.do(func() error { x.scenario.Setup(w); return nil })
		}
		x.states, failure = r.states, r.failure
	})
	x.origin = service
	return failure
}

func (x *explorer) handle(service *emulator.Service) Emulator {
	return Emulator{service: service, key: service.Key(), options: x.settings.client}
}

// endpoint is a URL of its own for each world, at one host: the SDK shares what it knows of containers, and the requests that find out, between
// all clients of a URL in a process, and the worlds stand for processes.
func (x *explorer) endpoint() string {
	const first, last = 1024, 65535
	x.worlds++
	return fmt.Sprintf("https://%s.emulator.localhost:%d/", x.host, first+x.worlds%(last-first))
}

// ungated is the transport of what comes before and behind the actors.
func ungated(service *emulator.Service, client string) func(*World) policy.Transporter {
	return func(*World) policy.Transporter { return service.Named(client) }
}

func (x *explorer) newRunState(states map[reflect.Type]any) *runState {
	r := &runState{endpoint: x.endpoint, states: map[reflect.Type]any{}, outcomes: map[string]error{}, dead: func(string) bool { return false }}
	for key, held := range states {
		fresh := reflect.New(key)
		fresh.Elem().Set(reflect.ValueOf(held).Elem())
		r.states[key] = fresh.Interface()
	}
	return r
}

// run runs the scenario once, under a plan.
func (x *explorer) run(p plan, sabotage func(*World)) result {
	var out result
	synctest.Test(x.t, func(t *testing.T) { out = x.inBubble(t, p, sabotage) })
	x.coverage.Runs++
	h := fnv.New64a()
	for _, row := range out.rows {
		fmt.Fprintf(h, "%s %s\n", row.request.Actor, row.request.Operation)
	}
	x.orders[h.Sum64()] = true
	return out
}

func (x *explorer) inBubble(t *testing.T, p plan, sabotage func(*World)) result {
	service := x.origin.Fork(emulator.ForkOptions{})
	handle := x.handle(service)
	r := x.newRunState(x.states)
	if sabotage != nil {
		w := r.newWorld(t, "", handle, ungated(service, "sabotage"))
		<-w.do(func() error { sabotage(w); return nil })
	}
	s := newScheduler(p, x.scenario.Actors)
	r.dead = s.isDead
	for _, a := range x.scenario.Actors {
		r.actors = append(r.actors, a.Name)
	}
	armed := make([]*emulator.ArmedFault, len(p.faults))
	for i, f := range p.faults {
		armed[i] = service.Faults().Add(x.kinds[f.kind].Fault.Client(x.scenario.Actors[f.actor].Name).Nth(f.n))
	}
	worlds := make([]*World, len(x.scenario.Actors))
	ended := make([]chan struct{}, len(worlds))
	for i, a := range x.scenario.Actors {
		w := r.newWorld(t, a.Name, handle, func(w *World) policy.Transporter {
			return &gate{
				scheduler: s, actor: s.actors[i], undisturbed: &w.undisturbed, next: service.Named(a.Name), aside: service.Named("start"),
				forget: func() policy.Transporter { return service.Fork(emulator.ForkOptions{}).Named(a.Name) },
			}
		})
		worlds[i], ended[i] = w, w.do(func() error {
			defer s.end(i)
			return a.Do(w)
		})
	}
	failure := ""
	if err := s.run(); err != nil {
		failure = err.Error()
	}
	for i, w := range worlds {
		w.cancel()
		<-ended[i]
	}
	out := result{failure: cmp.Or(r.failure, failure), outcomes: r.outcomes}
	for _, a := range s.actors {
		out.sent = append(out.sent, a.sent)
	}
	for i, a := range armed {
		if a.Fired() == 0 {
			out.missed = append(out.missed, p.faults[i])
		}
	}
	service.Faults().Clear()
	service.Faults().ApplyLate()
	out.rows = s.rows
	if out.failure == "" {
		x.finish(t, r, handle)
		out.failure = r.failure
	}
	// What a client does beneath its callers, such as reading a container's ranges, may still be held up.
	<-time.After(suspension + time.Second)
	return out
}

// finish runs what comes when all faults are over.
func (x *explorer) finish(t *testing.T, r *runState, handle Emulator) {
	for _, phase := range []struct {
		client string
		do     func(w *World) error
	}{
		{"then", func(w *World) error {
			if x.scenario.Then != nil {
				x.scenario.Then(w)
			}
			return nil
		}},
		{"check", x.scenario.Check},
	} {
		w := r.newWorld(t, "", handle, ungated(handle.service, phase.client))
		<-w.do(func() error {
			if err := phase.do(w); err != nil {
				w.Error(err)
			}
			return nil
		})
		if r.failure != "" {
			return
		}
	}
}
