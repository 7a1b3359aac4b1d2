package script

import "github.com/dop251/goja"

// maxBinds is how many functions a run may make with bind: they call each other without the runtime counting.
const maxBinds = 10_000

// guardFunctions bounds calls that take their arguments from an array.
func (s *session) guardFunctions() {
	proto, ok := s.rt.Get("Function").ToObject(s.rt).Get("prototype").(*goja.Object)
	if !ok {
		return
	}
	arguments := func(at int) func(goja.FunctionCall) {
		return func(c goja.FunctionCall) {
			if _, isObject := c.Argument(at).(*goja.Object); isObject {
				s.elements(c.Argument(at))
			}
		}
	}
	s.guard(proto, "apply", arguments(1))
	s.guard(proto, "bind", func(goja.FunctionCall) {
		if s.binds++; s.binds > maxBinds {
			s.throw("RangeError", "The script binds more than %d functions.", maxBinds)
		}
	})
	s.guard(s.object("Reflect"), "apply", arguments(2))
	s.guard(s.object("Reflect"), "construct", arguments(1))
	s.guardErrors()
}

// guardErrors gives Error the two arguments that the service's engine takes: a number, then the message.
func (s *session) guardErrors() {
	_, err := s.rt.RunString(errorConstructor)
	s.must(err)
}

const errorConstructor = `(function (Native) {
  function Error(number, message) {
    var numbered = arguments.length > 1 && typeof number === "number";
    var made = Reflect.construct(Native, numbered ? [message] : arguments, new.target || Error);
    if (numbered) {
      Object.defineProperty(made, "number", { value: number, writable: true, configurable: true, enumerable: false });
    }
    return made;
  }
  Error.prototype = Native.prototype;
  Object.defineProperty(Native.prototype, "constructor", { value: Error, writable: true, configurable: true, enumerable: false });
  globalThis.Error = Error;
})(Error);`
