package script

import "time"

// World is what a script sees of the world, and what bounds it.
type World struct {
	Limits Limits
	// Now is the clock behind Date. Defaults to the wall clock.
	Now func() time.Time
	// Random is what Math.random returns. Defaults to a random number.
	Random func() float64
	// NewID gives the ids of documents that are made without one. Defaults to random ones.
	NewID func() string
}

// Limits bounds one run. A zero field means its default.
type Limits struct {
	// Time is how long a run may take before it is stopped with 408. Defaults to 5 seconds, as in the service.
	Time time.Duration
	// Charge is how many request units a run may use before operations are no longer accepted. Defaults to 50,000: what one
	// physical partition can serve in 5 seconds.
	Charge float64
	// Memory is by how many bytes the process's live memory may grow during a run. Defaults to 256 MB.
	Memory int64
}

const (
	defaultTime   = 5 * time.Second
	defaultCharge = 50_000
	defaultMemory = 256 << 20

	// acceptedShare is the part of a run's time in which operations are accepted; the rest is for wrapping up.
	acceptedShare = 0.8

	maxSource   = 256 << 10 // bytes of a script
	maxResponse = 4 << 20   // bytes of a response's body
	maxLog      = 16 << 10  // bytes of what console.log collects
	maxElements = 1 << 20   // elements of an array that a built-in may walk in one call
	maxText     = 16 << 20  // UTF-16 units of a string that a built-in may build in one call
	maxCalls    = 1000      // nested calls of functions
	maxDepth    = 200       // nested calls of built-ins, and levels of JSON
	maxPending  = 10_000    // operations that wait for their turn
)

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = defaultTime
	}
	if l.Charge <= 0 {
		l.Charge = defaultCharge
	}
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	return l
}
