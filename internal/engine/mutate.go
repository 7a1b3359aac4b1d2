package engine

// MaxMutations bounds the attempts of one Mutate. Writers of this process wait
// for each other, so that many attempts mean many processes on one document.
const MaxMutations = 100

// ForeignError keeps an error of the caller's function, or of what follows a
// write, from being taken for the service's answer to the write itself.
type ForeignError struct{ err error }

func (e *ForeignError) Error() string { return e.err.Error() }

func (e *ForeignError) Unwrap() error { return e.err }
