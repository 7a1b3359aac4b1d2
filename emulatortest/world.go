package emulatortest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// ErrKilled is the outcome of an actor whose process a fault ended.
var ErrKilled = errors.New("the process of this actor was killed")

// World is one run of a [Scenario] as one of its actors, or Setup, Then or Check, sees it. It is a testing.TB whose failures
// and cleanups are those of the run, so that helpers of tests work with it.
type World struct {
	testing.TB
	actor    string
	run      *runState
	ctx      context.Context //nolint:containedctx // a testing.TB has one
	cancel   context.CancelFunc
	emulator *Emulator
	// undisturbed says that requests are no part of what is explored.
	undisturbed atomic.Bool

	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

// runState is what the worlds of a run share.
type runState struct {
	endpoint func() string // of another client's process

	mu       sync.Mutex
	failure  string
	states   map[reflect.Type]any
	outcomes map[string]error
	actors   []string
	dead     func(actor string) bool
}

// State gives a value that belongs to one run and is shared by its worlds. It begins as the zero value, or as a shallow copy of
// what Setup put there.
func State[T any](w *World) *T {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	key := reflect.TypeFor[T]()
	if held, ok := w.run.states[key].(*T); ok {
		return held
	}
	held := new(T)
	w.run.states[key] = held
	return held
}

// Actor is the name of the actor that this World belongs to; empty for Setup, Then and Check.
func (w *World) Actor() string { return w.actor }

// Emulator is a handle on the account.
func (w *World) Emulator() *Emulator { return w.emulator }

// Client gives a new client of the account with these options; nil for those of the scenario's. It belongs to the actor:
// its requests wait for their turn and are met by the actor's faults.
func (w *World) Client(o *azcosmos.ClientOptions) *azcosmos.Client { return w.emulator.Client(o) }

// Undisturbed calls f, whose requests neither wait for their turn nor are met by faults: for what a process does at its
// start, which is not what the scenario is about.
func (w *World) Undisturbed(f func()) {
	w.undisturbed.Store(true)
	defer w.undisturbed.Store(false)
	f()
}

// Outcome is what an actor's Do returned, and [ErrKilled] when it didn't come to that.
func (w *World) Outcome(actor string) error {
	if !slices.Contains(w.run.actors, actor) {
		w.Fatalf("Outcome(%q): the scenario has no such actor", actor)
	}
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	err, ended := w.run.outcomes[actor]
	if !ended {
		return ErrKilled
	}
	return err
}

// Context ends when the actor is to end.
func (w *World) Context() context.Context { return w.ctx }

// Helper does nothing: a World reports what went wrong, not where.
func (w *World) Helper() {}

// Cleanup has f called when the actor has ended.
func (w *World) Cleanup(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cleanups = append(w.cleanups, f)
}

// fail notes what went wrong. What goes wrong for a dead process is nobody's affair.
func (w *World) fail(text string) {
	w.mu.Lock()
	w.failed = true
	w.mu.Unlock()
	if w.run.dead(w.actor) {
		return
	}
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	if w.run.failure != "" {
		return
	}
	if w.actor != "" {
		text = w.actor + ": " + text
	}
	w.run.failure = text
}

// Error says that the promise is broken.
func (w *World) Error(args ...any) { w.fail(trimLine(fmt.Sprintln(args...))) }

// Errorf says that the promise is broken.
func (w *World) Errorf(format string, args ...any) { w.fail(fmt.Sprintf(format, args...)) }

// Fail says that the promise is broken.
func (w *World) Fail() { w.fail("failed") }

// Fatal is Error, and ends the goroutine.
func (w *World) Fatal(args ...any) { w.Error(args...); runtime.Goexit() }

// Fatalf is Errorf, and ends the goroutine.
func (w *World) Fatalf(format string, args ...any) { w.Errorf(format, args...); runtime.Goexit() }

// FailNow is Fail, and ends the goroutine.
func (w *World) FailNow() { w.Fail(); runtime.Goexit() }

// Failed says whether this World failed.
func (w *World) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// Log is dropped: a run is one of thousands.
func (w *World) Log(...any) {}

// Logf is dropped, as by Log.
func (w *World) Logf(string, ...any) {}

// Skip ends the goroutine: a run can't be skipped.
func (w *World) Skip(args ...any) { w.Fatal(append([]any{"skipped:"}, args...)...) }

// Skipf is Skip.
func (w *World) Skipf(format string, args ...any) { w.Fatalf("skipped: "+format, args...) }

// SkipNow is Skip.
func (w *World) SkipNow() { w.Fatal("skipped") }

// Skipped is false.
func (w *World) Skipped() bool { return false }

func trimLine(s string) string { return s[:len(s)-1] }

// newWorld makes a world whose clients go through that transport.
func (r *runState) newWorld(tb testing.TB, actor string, e Emulator, transport func(*World) policy.Transporter) *World {
	w := &World{TB: tb, actor: actor, run: r}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	e.t, e.transport, e.endpoint = w, transport(w), r.endpoint()
	w.emulator = &e
	return w
}

// do calls f and then the cleanups, in a goroutine of their own, which may end early. The channel is closed behind them.
func (w *World) do(f func() error) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer w.cancel()
		defer w.cleanUp()
		defer w.recovered()
		err := f()
		w.run.mu.Lock()
		defer w.run.mu.Unlock()
		if w.actor != "" && !w.run.dead(w.actor) {
			w.run.outcomes[w.actor] = err
		}
	}()
	return ended
}

func (w *World) recovered() {
	if p := recover(); p != nil {
		w.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// cleanUp calls the cleanups, latest first, each of which may end the goroutine.
func (w *World) cleanUp() {
	for {
		w.mu.Lock()
		if len(w.cleanups) == 0 {
			w.mu.Unlock()
			return
		}
		f := w.cleanups[len(w.cleanups)-1]
		w.cleanups = slices.Delete(w.cleanups, len(w.cleanups)-1, len(w.cleanups))
		w.mu.Unlock()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer w.recovered()
			f()
		}()
		<-done
	}
}
