package eval

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Limits bounds what one run may do. A zero field means its default.
type Limits struct {
	// Rows is how many rows all FROM clauses of a run may bind together. Defaults to 4,000,000.
	Rows int
	// Text is the size in bytes that a string or a row may reach. Defaults to 16 MB.
	Text int
}

const (
	defaultRows = 4_000_000
	defaultText = 16 << 20
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
	ctx      context.Context // kept here because a run is itself the call: compiled closures can't take one each
	env      Env
	slots    []value.Value
	started  ticks
	patterns map[string]*pattern
	lists    map[*sql.In]*Set
	rows     int
	err      error // the first failure; evaluation unwinds when it is set
}

// NewRun prepares an execution. The context is observed while rows are produced.
func (p *Program) NewRun(ctx context.Context, env Env) *Run {
	if env.Limits.Rows <= 0 {
		env.Limits.Rows = defaultRows
	}
	if env.Limits.Text <= 0 {
		env.Limits.Text = defaultText
	}
	if env.Started.IsZero() {
		env.Started = env.Now()
	}
	return &Run{
		program: p,
		run:     run{ctx: ctx, env: env, slots: make([]value.Value, p.slots), started: ticksOf(env.Started)},
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
	const contextEvery = 1 << 6
	r.rows++
	if r.rows > r.env.Limits.Rows {
		r.fail(&Error{Message: "The query binds more rows than one request may; narrow its joins and subqueries."})
	}
	if r.rows%contextEvery == 0 && r.err == nil {
		if err := r.ctx.Err(); err != nil {
			r.fail(err)
		}
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

// leastElement is the least that an element of an array takes as JSON, with its comma.
const leastElement = 2

// affords reports whether a pattern of that many parts may be matched with a text of that many bytes, which can take time
// with the product of both; it fails the run if not.
func (r *run) affords(text, parts int) bool {
	const most = 500_000_000 // some seconds
	if parts > 0 && text > most/parts {
		r.fail(&Error{Message: "The query matches a pattern that is too complex for a text this long."})
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

// sizeUpTo returns about how many bytes the value takes as JSON, or more than limit once it is known to pass that. Values
// share parts, so that a short query can describe a value of any size: nothing may walk one before this has.
func sizeUpTo(v value.Value, limit int) int {
	size := 2
	if s, ok := v.Str(); ok {
		return size + len(s)
	}
	elements, _ := v.Array()
	for _, e := range elements {
		if size > limit {
			return size
		}
		size += 1 + sizeUpTo(e, limit-size)
	}
	members, _ := v.Members()
	for _, m := range members {
		if size > limit {
			return size
		}
		size += 4 + len(m.Name) + sizeUpTo(m.Value, limit-size)
	}
	return size
}
