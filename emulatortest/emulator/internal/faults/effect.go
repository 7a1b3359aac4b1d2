package faults

import "time"

// Effect is what becomes of a request that a fault is for.
type Effect struct {
	// Status and Substatus are the answer in place of the true one; 0 leaves the true one.
	Status, Substatus int
	// RetryAfter is sent as x-ms-retry-after-ms when it is above 0.
	RetryAfter time.Duration
	// Delay is waited for before anything is done.
	Delay time.Duration
	// Cut breaks the connection instead of answering.
	Cut bool
	// After lets the request take effect first, so that only its answer is replaced or lost.
	After bool
	// Late lets the request take effect after its answer: before the LateBy-th request that the client makes then, or, when
	// LateBy is 0, when [Set.ApplyLate] is called.
	Late   bool
	LateBy int
	// Kill breaks the connection of this request and of all that its client makes from then on.
	Kill bool
	// Suspend holds this request and all others of its client back for that time; with SuspendAfter, this one takes effect
	// first.
	Suspend      time.Duration
	SuspendAfter bool
	// Behind lets a replica answer a read that has not seen that many of the latest writes to its physical partition.
	Behind int
	// EmptyPage answers a page of items with none, and a continuation to the items it should have held.
	EmptyPage bool
	// PageSize is the most items that a page holds; 0 leaves the page as it is.
	PageSize int
	// OtherForm answers with the same in another form.
	OtherForm bool
	// Split and Merge change the physical partition that the request goes to right before it.
	Split, Merge bool
}

// part is one side of a request that an effect decides. Faults compose as long as they decide different ones.
type part uint8

const (
	outcome part = 1 << iota
	waiting
	stopping
	reading
	paging
	topology
	form
)

func (e Effect) parts() part {
	p := part(0)
	mark := func(decided bool, which part) {
		if decided {
			p |= which
		}
	}
	mark(e.Status != 0 || e.Cut || e.Late || e.Kill, outcome)
	mark(e.Delay != 0, waiting)
	mark(e.Suspend != 0, stopping)
	mark(e.Behind != 0, reading)
	mark(e.EmptyPage || e.PageSize != 0, paging)
	mark(e.Split || e.Merge, topology)
	mark(e.OtherForm, form)
	return p
}

// join adds the effect of another fault on the same request, when that decides other parts of it.
func (e Effect) join(other Effect) (Effect, bool) {
	if e.parts()&other.parts() != 0 {
		return e, false
	}
	if other.parts()&outcome != 0 {
		e.Status, e.Substatus, e.RetryAfter = other.Status, other.Substatus, other.RetryAfter
		e.Cut, e.Late, e.LateBy, e.Kill, e.After = other.Cut, other.Late, other.LateBy, other.Kill, other.After
	}
	e.Delay += other.Delay
	e.Suspend, e.SuspendAfter = e.Suspend+other.Suspend, e.SuspendAfter || other.SuspendAfter
	e.Behind += other.Behind
	e.EmptyPage = e.EmptyPage || other.EmptyPage
	e.PageSize += other.PageSize
	e.Split, e.Merge = e.Split || other.Split, e.Merge || other.Merge
	e.OtherForm = e.OtherForm || other.OtherForm
	return e, true
}

// Kill ends the client's process at that request: this one and all that the client makes after it break without an
// answer and without an effect; with [Fault.AfterEffect] this one takes effect. [Set.Revive] lets the client live again.
func Kill() Fault { return Fault{times: 1, effect: Effect{Kill: true, Cut: true}} }

// Suspend stops the client's process at that request: this one and all that the client makes meanwhile are held back for
// that time on the emulator's clock and then served. With [Fault.AfterEffect] this one takes effect first.
func Suspend(d time.Duration) Fault { return Fault{times: 1, effect: Effect{Suspend: d}} }

// Behind lets a read be answered by a replica that has not seen the latest k writes to the physical partition, eight at
// most: 404/1002 where the session token asks for them. It changes no write.
func Behind(k int) Fault { return Fault{times: 1, effect: Effect{Behind: k}} }

// EmptyPage answers a page of items with none, and a continuation token that leads to the items.
func EmptyPage() Fault { return Fault{times: 1, effect: Effect{EmptyPage: true}} }

// ShortPage cuts a page of items, or of the change feed, after n items, one at least.
func ShortPage(n int) Fault { return Fault{times: 1, effect: Effect{PageSize: max(n, 1)}} }

// OtherForm answers with the same in another form: the members of all documents, and of the answer that holds them, in the
// opposite order, and a continuation token of another form.
func OtherForm() Fault { return Fault{times: 1, effect: Effect{OtherForm: true}} }

// Split cuts the physical partition that the request goes to in two right before the request, and the first one of the
// container when it goes to several.
func Split() Fault { return Fault{times: 1, effect: Effect{Split: true}} }

// Merge joins the physical partition that the request goes to with its neighbour right before the request. A container of
// one physical partition stays as it is.
func Merge() Fault { return Fault{times: 1, effect: Effect{Merge: true}} }
