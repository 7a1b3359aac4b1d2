package changefeed_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// Stop does not sit out a pause between two tries, neither the handler's nor
// the service's. What was under way comes again.
func TestStopDuringBackoff(t *testing.T) {
	t.Parallel()
	unavailable := emulator.Answer(http.StatusServiceUnavailable, 0).Keep()
	for name, prepare := range map[string]func(*testBundle) changefeed.Handler{
		"the handler fails": func(*testBundle) changefeed.Handler {
			return func(context.Context, []changefeed.Change) error { return errors.New("not now") }
		},
		"the feed fails": func(b *testBundle) changefeed.Handler {
			b.emu.Fault(unavailable.On(emulator.ChangeFeed))
			return new(seen).handle
		},
		"the feed is throttled for long": func(b *testBundle) changefeed.Handler {
			b.emu.Fault(emulator.Throttle(31 * time.Second).Keep().On(emulator.ChangeFeed))
			return new(seen).handle
		},
		"the leases are throttled for long": func(b *testBundle) changefeed.Handler {
			return func(context.Context, []changefeed.Change) error {
				b.emu.Fault(emulator.Throttle(31 * time.Second).Keep().On(emulator.QueryItems))
				return errors.New("not now")
			}
		},
		"the checkpoint fails": func(b *testBundle) changefeed.Handler {
			return func(context.Context, []changefeed.Change) error {
				b.emu.Fault(unavailable.On(emulator.ReplaceItem))
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.put("t", "d", 1)
				cfg := changefeed.Config{Container: b.items, Leases: b.leases, Name: "stop", Backoff: time.Minute, MaxAttempts: 100}
				p := b.processor(cfg, prepare(b))
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(5 * time.Minute)
				began := time.Now()
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				// The SDK's own tries of a request take some time.
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("it took %s to stop", took)
				}
				b.emu.Faults().Clear()
				var s seen
				if err := b.processor(cfg, s.handle).CatchUp(t.Context()); err != nil || s.count() != 1 {
					t.Errorf("%d changes came again: %v", s.count(), err)
				}
			})
		})
	}
}

// A lease is handed back though the service asks for that request once more.
func TestALeaseIsHandedBackInASecondAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.put("t", "d", 1)
		p := b.processor(b.config("back"), new(seen).handle)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute + time.Second) // off the beat of the renewals
		armed := b.emu.Fault(emulator.Answer(449, 0).On(emulator.ReplaceItem).Container("leases"))
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, l := range b.leaseDocuments() {
			if l["Owner"] != nil {
				t.Errorf("the lease still belongs to %v", l["Owner"])
			}
		}
		if armed.Fired() != 1 {
			t.Errorf("%d requests were asked for again", armed.Fired())
		}
	})
}

// A context that ends interrupts the handler at once, and a service that hangs
// does not hold up the end for longer than a farewell may take.
func TestContextEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]bool{"the service answers": false, "the service hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.WithPartitions(4), emulatortest.Calm()) // it measures how soon
				b.fill(20)
				ctx, cancel := context.WithCancel(t.Context())
				working := make(chan struct{}, 4)
				p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "cancel"}, func(ctx context.Context, _ []changefeed.Change) error {
					working <- struct{}{}
					<-ctx.Done()
					return context.Cause(ctx)
				})
				done := make(chan error)
				go func() { done <- p.Run(ctx) }()
				for range 4 {
					<-working
				}
				most := time.Duration(0)
				if hang {
					b.emu.Fault(emulator.Delay(time.Hour).Keep())
					most = 2 * time.Second
				}
				began := time.Now()
				cancel()
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > most {
					t.Errorf("it took %s to end", took)
				}
				b.emu.Faults().Clear()
				if free := b.owners()[""]; free != 4 && !hang {
					t.Errorf("%d of 4 leases were handed back", free)
				}
			})
		})
	}
}

// Stop lets a handler finish and stores how far it came; when Stop's context
// ends first, the handler is interrupted and Stop says so.
func TestStopWaitsForTheHandler(t *testing.T) {
	t.Parallel()
	for name, patience := range map[string]time.Duration{"long enough": time.Hour, "not long enough": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.put("t", "d", 1)
				cfg := changefeed.Config{Container: b.items, Leases: b.leases, Name: "drain"}
				working := make(chan struct{})
				p := b.processor(cfg, func(ctx context.Context, _ []changefeed.Change) error {
					close(working)
					select {
					case <-ctx.Done():
						return context.Cause(ctx)
					case <-time.After(time.Minute):
						return nil
					}
				})
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-working
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				interrupted := patience < time.Minute
				if err := p.Stop(ctx); errors.Is(err, context.DeadlineExceeded) != interrupted {
					t.Errorf("Stop: %v", err)
				}
				if err := p.Stop(t.Context()); err != nil {
					t.Errorf("Stop again: %v", err)
				}
				if err := p.Start(t.Context()); !errors.Is(err, changefeed.ErrStopped) {
					t.Errorf("Start after Stop: %v", err)
				}
				var s seen
				if err := b.processor(cfg, s.handle).CatchUp(t.Context()); err != nil || (s.count() == 1) != interrupted {
					t.Errorf("%d changes came again: %v", s.count(), err)
				}
			})
		})
	}
}

// CatchUp goes on by itself when the run that it went along with ends, and
// gives up when the processor is stopped.
func TestCatchUpWhenTheRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.put("t", "d", 1)
		working, release := make(chan struct{}, 10), make(chan struct{})
		var s seen
		p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "along"}, func(ctx context.Context, changes []changefeed.Change) error {
			working <- struct{}{}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-release:
				return s.handle(ctx, changes)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended, caughtUp := make(chan error), make(chan error)
		go func() { ended <- p.Run(ctx) }()
		<-working
		for range 2 {
			go func() { caughtUp <- p.CatchUp(t.Context()) }()
		}
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		<-working // of the run that CatchUp began
		close(release)
		for range 2 {
			if err := <-caughtUp; err != nil || s.count() != 1 {
				t.Errorf("CatchUp: %v, %d changes", err, s.count())
			}
		}

		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		release = make(chan struct{})
		b.put("t", "d", 2)
		go func() { caughtUp <- p.CatchUp(t.Context()) }()
		<-working
		synctest.Wait()
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := p.Stop(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop: %v", err)
		}
		if err := <-caughtUp; !errors.Is(err, changefeed.ErrStopped) {
			t.Errorf("CatchUp of a stopped processor: %v", err)
		}
	})
}

// A document that makes the handler panic is quarantined like one that it
// refuses, and stops nothing.
func TestPanicIsQuarantined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(10)
	var s seen
	broken := true
	cfg := b.config("panic")
	cfg.MaxAttempts = 2
	p := b.processor(cfg, func(ctx context.Context, changes []changefeed.Change) error {
		for _, c := range changes {
			if c.ID == "d3" && broken {
				panic("a broken handler")
			}
		}
		return s.handle(ctx, changes)
	})
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	reason := ""
	for q, err := range p.Quarantined(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		reason += q.Reason
	}
	if s.count() != 9 || reason != "the handler panicked: a broken handler" {
		t.Errorf("%d documents handled; quarantined: %q", s.count(), reason)
	}
	if n, err := p.Replay(t.Context()); n != 0 || err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("replay of what still panics: %d, %v", n, err)
	}
	broken = false
	if n, err := p.Replay(t.Context()); n != 1 || err != nil || s.count() != 10 {
		t.Errorf("replay: %d, %v, %d documents", n, err, s.count())
	}
}

// A checkpoint that the service refuses for a moment is tried again without the
// handler.
func TestCheckpointIsRetriedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.put("t", "d", 1)
		calls := 0
		p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "again"}, func(context.Context, []changefeed.Change) error {
			if calls++; calls == 1 {
				b.emu.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReplaceItem).Times(5))
			}
			return nil
		})
		if err := p.CatchUp(t.Context()); err != nil || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}
