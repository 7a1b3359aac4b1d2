package eval

// Error is a query that parses and can't be run: the service would answer with status 400.
type Error struct {
	Message string // never quotes a document
	// Exhausted says that the query is in order and what others hold is in its way: the service would answer 429.
	Exhausted bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// unsupported refuses by name what the service can do and this evaluator can't.
func unsupported(what string) error {
	return &Error{Message: "The emulator does not support " + what + "."}
}
