package eval

import (
	"context"
	"fmt"
)

// Meter counts what the runs of one request hold in memory and what they do, and ends them at [Limits]. It looks at the
// request's context as work is done, so that nothing goes on for long after the caller has left.
//
// Memory is debited before it is allocated. What a row needs while it is evaluated is temporary and comes back when the
// row is done with; what outlives the row (a group, a member of a list, a sorted row) is kept. Both together are bounded.
// Sizes are estimates of what Go allocates, rather too large than too small.
//
// A meter belongs to one goroutine, as the runs that share it do.
type Meter struct {
	ctx              context.Context // a meter lives as long as the call whose context this is
	limits           Limits
	memory           *Memory
	temporary, kept  int
	reserved         int // of the memory that is shared with other requests
	steps, untilLook int
	err              error
}

// NewMeter returns the meter of a request. Memory, which bounds all requests together, may be nil. [Meter.Close] it.
func NewMeter(ctx context.Context, limits Limits, memory *Memory) *Meter {
	return &Meter{ctx: ctx, limits: limits.withDefaults(), memory: memory, untilLook: lookEvery}
}

// Close gives back what the meter has reserved of the shared memory.
func (m *Meter) Close() {
	m.memory.free(m.reserved)
	m.reserved = 0
}

// Err is the first failure; nothing is of value after it.
func (m *Meter) Err() error { return m.err }

func (m *Meter) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// Hold debits memory that is about to be allocated for the row at hand and reports whether there is so much.
func (m *Meter) Hold(bytes int) bool {
	m.temporary += max(bytes, 0)
	return m.within()
}

// Keep debits memory that is about to be allocated and stays in use.
func (m *Meter) Keep(bytes int) bool {
	m.kept += max(bytes, 0)
	return m.within()
}

// Spare keeps memory for something that the request can do without: where there is not so much it reports false, and nothing
// has failed.
func (m *Meter) Spare(bytes int) bool {
	if m.err != nil || m.temporary+m.kept+bytes > m.limits.Bytes {
		return false
	}
	if more := m.temporary + m.kept + bytes - m.reserved; more > 0 {
		if !m.memory.take(more + reserveAhead) {
			return false
		}
		m.reserved += more + reserveAhead
	}
	m.kept += bytes
	return true
}

// Free takes back a debit of Keep.
func (m *Meter) Free(bytes int) { m.kept -= bytes }

func (m *Meter) within() bool {
	held := m.temporary + m.kept
	switch {
	case m.err != nil:
	case held > m.limits.Bytes || held < 0:
		m.fail(&Error{Message: fmt.Sprintf("The query exceeds the emulator's memory budget of %d bytes for one request: it builds or keeps too much.",
			m.limits.Bytes)})
	case held > m.reserved:
		more := held - m.reserved + reserveAhead
		if !m.memory.take(more) {
			m.fail(&Error{Exhausted: true, Message: "The queries that run now hold all of the emulator's memory budget for queries; try again later."})
			break
		}
		m.reserved += more
	}
	return m.err == nil
}

// Kept is how much is kept.
func (m *Meter) Kept() int { return m.kept }

// Mark remembers how much is held temporarily.
func (m *Meter) Mark() int { return m.temporary }

// Drop says that nothing which was built since the mark is in use any more, but for what was kept.
func (m *Meter) Drop(mark int) { m.temporary = min(m.temporary, mark) }

// Retain turns all that is held for the row at hand into something kept.
func (m *Meter) Retain() {
	m.kept += m.temporary
	m.temporary = 0
}

// retention is what a part of an evaluation keeps for itself, such as a list that is being filled. At its end that is as
// temporary as the part's result.
type retention struct {
	meter *Meter
	kept  int
}

// note runs a step that may keep something, which then belongs to the retention.
func (own *retention) note(step func() bool) bool {
	before := own.meter.kept
	ok := step()
	own.kept += own.meter.kept - before
	return ok
}

func (own *retention) end() {
	own.meter.kept -= own.kept
	own.meter.temporary += own.kept
}

// lookEvery is after how many steps the context is looked at: within some milliseconds.
const lookEvery = 1 << 20

// Work counts steps, each about a nanosecond's worth, and reports whether the request may go on.
func (m *Meter) Work(steps int) bool {
	if steps < 0 {
		steps = m.limits.Steps // more than an int can count
	}
	if m.untilLook -= steps; m.untilLook < 0 {
		m.look()
	}
	return m.err == nil
}

func (m *Meter) look() {
	m.steps += lookEvery - m.untilLook
	m.untilLook = lookEvery
	if m.steps > m.limits.Steps || m.steps < 0 {
		m.fail(&Error{Message: fmt.Sprintf("The query exceeds the emulator's budget of %d steps for one request: it reads or compares too much.",
			m.limits.Steps)})
	}
	if err := m.ctx.Err(); err != nil {
		m.fail(err)
	}
}
