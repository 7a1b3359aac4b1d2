package script

import (
	"context"
	"net/http"

	"github.com/dop251/goja"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Functions calls the user-defined functions of one query. It belongs to one goroutine.
type Functions struct {
	ctx     context.Context //nolint:containedctx // functions live as long as the query that calls them
	find    func(id string) (body string, found bool)
	world   World
	session *session // made at the first call: most queries have none
	loaded  map[string]goja.Callable
}

// NewFunctions prepares calls of the functions that find gives the bodies of. All calls together have the limits of one run.
func NewFunctions(ctx context.Context, find func(id string) (body string, found bool), w World) *Functions {
	return &Functions{ctx: ctx, find: find, world: w, loaded: map[string]goja.Callable{}}
}

// Call calls a function. The error is an [*Error].
func (f *Functions) Call(id string, arguments []value.Value) (result value.Value, err error) {
	if f.session == nil {
		f.session = newSession(f.world)
	}
	s := f.session
	err = s.run(f.ctx, func() error {
		function, err := f.load(id)
		if err != nil {
			return err
		}
		args := make([]goja.Value, len(arguments))
		for i, a := range arguments {
			if args[i] = goja.Undefined(); !a.IsUndefined() {
				args[i] = s.decode(a.String())
			}
		}
		v, err := function(goja.Undefined(), args...)
		if err != nil {
			return err
		}
		if exception := s.rt.Try(func() { result = s.value(v) }); exception != nil {
			return exception
		}
		return nil
	})
	return result, err
}

// Check finds and compiles a function without calling it. The error is an [*Error].
func (f *Functions) Check(id string) error {
	if f.session == nil {
		f.session = newSession(f.world)
	}
	return f.session.run(f.ctx, func() error {
		_, err := f.load(id)
		return err
	})
}

// load finds and compiles a function once.
func (f *Functions) load(id string) (goja.Callable, error) {
	if function := f.loaded[id]; function != nil {
		return function, nil
	}
	body, found := f.find(id)
	if !found {
		return nil, &Error{Status: http.StatusBadRequest, Message: "The user-defined function udf." + id + " does not exist in this container."}
	}
	function, err := f.session.load(id, body)
	if err != nil {
		return nil, err
	}
	f.loaded[id] = function
	return function, nil
}

// value is a result as the query sees it; what JSON has no form for is undefined.
func (s *session) value(v goja.Value) value.Value {
	text, ok := s.encode(v)
	if !ok {
		return value.Value{}
	}
	parsed, err := value.Parse([]byte(text))
	if err != nil {
		s.throw("TypeError", "The result of the function is no value of the query language.")
	}
	return parsed
}
