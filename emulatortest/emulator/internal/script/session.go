package script

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// session is one runtime with everything that bounds it. It serves one run, or the functions of one query, and belongs to
// one goroutine; only stop may be called from others.
type session struct {
	rt      *goja.Runtime
	limits  Limits
	started time.Time
	spent   time.Duration         // by the runs so far: the limit is for all of them
	stopped atomic.Pointer[Error] // why the run has to end; nil while it may go on
	depth   int                   // built-ins that are being called
	binds   int                   // functions made by bind, which nest without the runtime noticing
	joining map[*goja.Object]bool // arrays that are being made a string: one inside itself is an empty one
}

// halt unwinds a run that was stopped. Scripts can't catch it.
type halt struct{ err error }

// now is the moment on the process's own clock: a script's time is what it takes, whatever the emulator's clock says.
func now() time.Time { return time.Now() }

func newSession(w World) *session {
	s := &session{rt: goja.New(), limits: w.Limits.withDefaults(), started: now(), joining: map[*goja.Object]bool{}}
	if w.Now != nil {
		s.rt.SetTimeSource(w.Now)
	}
	if w.Random != nil {
		s.rt.SetRandSource(w.Random)
	}
	s.rt.SetMaxCallStackSize(maxCalls)
	s.harden()
	return s
}

// stop ends the run at the next instruction.
func (s *session) stop(e *Error) {
	if s.stopped.CompareAndSwap(nil, e) {
		s.rt.Interrupt(e)
	}
}

// check unwinds a run that was stopped; built-ins that go on for long call it.
func (s *session) check() {
	if e := s.stopped.Load(); e != nil {
		panic(halt{e}) //nolint:forbidigo // the only way out of a built-in that scripts can't catch
	}
}

// run calls f under the watch of the limits and turns what ends it into an [*Error].
func (s *session) run(ctx context.Context, f func() error) (err error) {
	end := s.watch(ctx)
	defer end()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case halt:
			err = r.err
		default:
			panic(r) //nolint:forbidigo // a defect of the emulator, not of the script
		}
		err = s.explain(err)
	}()
	return f()
}

// explain words an error of the runtime.
func (s *session) explain(err error) error {
	if err == nil {
		return nil
	}
	if e := s.stopped.Load(); e != nil {
		return e
	}
	var own *Error
	var exception *goja.Exception
	var overflow *goja.StackOverflowError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &overflow):
		return failure(http.StatusBadRequest, "Encountered exception while executing Javascript. Exception = Error: Out of stack space")
	case errors.As(err, &exception):
		return thrown(exception.Value(), describeException(exception))
	}
	return failure(http.StatusBadRequest, "Encountered exception while executing Javascript. Exception = %v", err)
}

// describeException gives an exception's text and stack in the service's form.
func describeException(e *goja.Exception) string {
	v := e.Value()
	if v == nil {
		return "undefined"
	}
	text := v.String()
	o, ok := v.(*goja.Object)
	if !ok {
		return text
	}
	if stack := o.Get("stack"); stack != nil && !goja.IsUndefined(stack) {
		text += "\r\nStack trace: " + stack.String()
	}
	return text
}

// load compiles a script and gives the function that it is.
func (s *session) load(id, body string) (goja.Callable, error) {
	program, err := compile(id, body)
	if err != nil {
		return nil, err
	}
	wrapped, err := s.rt.RunProgram(program)
	if err != nil {
		return nil, err
	}
	wrapper, ok := goja.AssertFunction(wrapped)
	if !ok {
		return nil, compileError(errLeaves)
	}
	v, err := wrapper(goja.Undefined(), s.hostFunctions()...)
	if err != nil {
		return nil, err
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		return nil, compileError(errors.New("SyntaxError: the script is not a function"))
	}
	return f, nil
}

// call calls a function of the script from Go. An exception goes on as one of the script's.
func (s *session) call(f goja.Callable, this goja.Value, args ...goja.Value) goja.Value {
	v, err := f(this, args...)
	if err != nil {
		s.raise(err)
	}
	return v
}

// raise hands an error of a called function to the script, or unwinds the run when scripts may not catch it.
func (s *session) raise(err error) {
	var exception *goja.Exception
	if errors.As(err, &exception) {
		panic(exception) //nolint:forbidigo // how goja throws from Go
	}
	panic(halt{err}) //nolint:forbidigo // see check
}

// throw raises an error of one of the language's types.
func (s *session) throw(kind, format string, args ...any) {
	made, err := s.rt.New(s.rt.Get(kind), s.rt.ToValue(fmt.Sprintf(format, args...)))
	if err != nil {
		s.raise(err)
	}
	panic(made) //nolint:forbidigo // how goja throws from Go
}
