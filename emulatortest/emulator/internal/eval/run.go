package eval

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Env is what a query sees of the world besides its items.
type Env struct {
	// Parameters are the query's parameters by name, with the @. One that is missing is undefined.
	Parameters map[string]value.Value
	// Now is the clock behind GetCurrentDateTime and its like. Required.
	Now func() time.Time
	// Started is the time that Now(), Ago and the Static functions give throughout. Defaults to the time of [Program.NewRun].
	Started time.Time
	// Planar says that the container's geospatialConfig is Geometry. Spatial functions then refuse to work: they know the
	// earth only.
	Planar bool
	// Random is what RAND returns, from 0 to below 1. Defaults to a random number.
	Random func() float64
	Limits Limits
	// Meter is shared by the runs of one request; without one, a run has its own by the Limits.
	Meter *Meter
}

// Run is one execution of a [Program]. It belongs to one goroutine.
type Run struct {
	run
	program *Program
}

// Err returns the first failure; rows are of no value after it.
func (r *Run) Err() error { return r.err }

// run is the state that compiled expressions work on.
type run struct {
	env      Env
	meter    *Meter
	slots    []value.Value
	started  ticks
	patterns map[string]*pattern
	// patternBytes is what the patterns take.
	patternBytes int
	lists        map[*sql.In]*Set
	rows         int
	err          error // the first failure; evaluation unwinds when it is set
}

// NewRun prepares an execution. The context is observed while rows are produced and read; with a meter it is the meter's.
func (p *Program) NewRun(ctx context.Context, env Env) *Run {
	env.Limits = env.Limits.withDefaults()
	if env.Started.IsZero() {
		env.Started = env.Now()
	}
	meter := env.Meter
	if meter == nil {
		meter = NewMeter(ctx, env.Limits, nil)
		meter.look()
	}
	return &Run{
		program: p,
		run:     run{env: env, meter: meter, slots: make([]value.Value, p.slots), started: ticksOf(env.Started)},
	}
}

// fail records the first error; what is evaluated after it is of no consequence.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// step counts a row and reports whether evaluation may go on.
func (r *run) step() bool {
	const perRow = 64
	r.rows++
	if r.rows > r.env.Limits.Rows {
		r.fail(&Error{Message: "The query binds more rows than one request may; narrow its joins and subqueries."})
	}
	return r.work(perRow) && r.err == nil
}

// work counts steps, see [Meter.Work], and reports whether evaluation may go on.
func (r *run) work(steps int) bool {
	if !r.meter.Work(steps) {
		r.fail(r.meter.err)
	}
	return r.err == nil
}

// hold debits memory that is about to be allocated, see [Meter.Hold], and reports whether it may be.
func (r *run) hold(bytes int) bool {
	if !r.meter.Hold(bytes) {
		r.fail(r.meter.err)
	}
	return r.err == nil
}

// keep debits memory that stays in use until the request ends.
func (r *run) keep(bytes int) bool {
	if !r.meter.Keep(bytes) {
		r.fail(r.meter.err)
	}
	return r.err == nil
}

// fits reports whether a string of that many bytes may be built, and fails the run if not.
func (r *run) fits(size int) bool {
	if size > r.env.Limits.Text {
		r.fail(&Error{Message: "The query builds a value that is too large."})
		return false
	}
	return true
}

func (r *run) random() float64 {
	if r.env.Random != nil {
		return r.env.Random()
	}
	return rand.Float64()
}
