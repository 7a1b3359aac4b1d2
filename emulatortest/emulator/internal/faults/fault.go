package faults

import (
	"net/http"
	"slices"
	"time"
)

// Fault is a value: each method returns a changed copy, so that faults can be built up from a common stem. Make one with
// [Answer], [Throttle], [Cut], [Delay] or one of the others that return a Fault. Without further methods it is for every request but the
// account read, and happens once, before the request takes effect. Printed, it is the Go code that makes it.
type Fault struct {
	operations []Operation
	client     string
	database   string
	container  string
	item       string
	nth        int
	times      int
	chance     float64
	seed       uint64
	effect     Effect
}

// Answer replaces the answer by an error of that HTTP status and substatus (0 for none), for example 503 and 0 or 410 and 1002.
func Answer(status, substatus int) Fault {
	return Fault{times: 1, effect: Effect{Status: status, Substatus: substatus}}
}

// Throttle answers 429/3200, asking the client to come back after that time.
func Throttle(retryAfter time.Duration) Fault {
	f := Answer(http.StatusTooManyRequests, 3200)
	f.effect.RetryAfter = retryAfter
	return f
}

// Cut breaks the connection without an answer.
func Cut() Fault { return Fault{times: 1, effect: Effect{Cut: true}} }

// Delay holds the request back for that time on the emulator's clock, or until its context ends, and then serves it.
func Delay(d time.Duration) Fault { return Fault{times: 1, effect: Effect{Delay: d}} }

// On restricts the fault to these operations.
func (f Fault) On(operations ...Operation) Fault {
	f.operations = slices.Clone(operations)
	return f
}

// Database restricts the fault to the database of that id.
func (f Fault) Database(id string) Fault { f.database = id; return f }

// Container restricts the fault to containers of that id.
func (f Fault) Container(id string) Fault { f.container = id; return f }

// Client restricts the fault to the requests of the client of that name.
func (f Fault) Client(name string) Fault { f.client = name; return f }

// Item restricts the fault to requests on the item of that id, which the link names, or in a create or upsert the body.
// Queries, batches and feeds name no item.
func (f Fault) Item(id string) Fault { f.item = id; return f }

// Nth lets the first n-1 matching requests pass. Numbers below 2 mean the first.
func (f Fault) Nth(n int) Fault { f.nth = n; return f }

// Times makes the fault happen n times instead of once; n below 1 is taken as 1.
func (f Fault) Times(n int) Fault { f.times = max(n, 1); return f }

// Keep makes the fault happen for as long as it stays in its set.
func (f Fault) Keep() Fault { f.times = forever; return f }

// Probability makes the fault happen to a matching request with probability p, from 0 to 1. The same seed and the same
// sequence of matching requests give the same faults.
func (f Fault) Probability(p float64, seed uint64) Fault { f.chance, f.seed = p, seed; return f }

// AfterEffect lets the request take effect, and then gives the fault's answer or none.
func (f Fault) AfterEffect() Fault {
	if f.effect.Suspend != 0 {
		f.effect.SuspendAfter = true
		return f
	}
	f.effect.After = true
	return f
}

// Later lets the request take effect after its answer was lost: right before the n-th request that its client makes after
// it. With n below 1 it stays under way until [Set.ApplyLate]. A fault without an answer of its own cuts the connection.
func (f Fault) Later(n int) Fault {
	f.effect.Late, f.effect.LateBy = true, max(n, 0)
	f.effect.Cut = f.effect.Cut || f.effect.Status == 0
	return f
}

// Delayed adds a delay to the fault.
func (f Fault) Delayed(d time.Duration) Fault { f.effect.Delay = d; return f }

const forever = -1

// Target is what a request is about, as far as faults can ask.
type Target struct {
	Operation                         Operation
	Client, Database, Container, Item string
}

func (f Fault) matches(t Target) bool {
	switch {
	case len(f.operations) > 0 && !slices.Contains(f.operations, t.Operation):
		return false
	// The Go SDK remembers a failed first account read for minutes, so a fault meets one only by name.
	case len(f.operations) == 0 && t.Operation == ReadAccount:
		return false
	case f.client != "" && f.client != t.Client:
		return false
	case f.database != "" && f.database != t.Database:
		return false
	case f.container != "" && f.container != t.Container:
		return false
	case f.item != "" && f.item != t.Item:
		return false
	}
	return true
}
