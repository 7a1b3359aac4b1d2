package script

import "github.com/dop251/goja"

// guardObjects bounds the built-ins that list the properties of an object: a string has one for each of its characters.
func (s *session) guardObjects() {
	arguments := func(c goja.FunctionCall) {
		for _, a := range c.Arguments {
			s.splittable(a)
		}
	}
	for _, name := range []string{
		"assign", "create", "defineProperties", "entries", "freeze", "getOwnPropertyDescriptors", "getOwnPropertyNames",
		"getOwnPropertySymbols", "isFrozen", "isSealed", "keys", "preventExtensions", "seal", "values",
	} {
		s.guard(s.object("Object"), name, arguments)
	}
	s.guard(s.object("Reflect"), "ownKeys", arguments)
}
