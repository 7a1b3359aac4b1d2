package emulatortest

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// Scenario is a promise and what might break it: some actors, each a process with a client of its own, and what must hold
// whatever becomes of their requests. Its functions are run many times, one run after the other; what belongs to one run
// is kept in [State], since a variable of the test would go on from the run before.
type Scenario struct {
	// Options are those of the account.
	Options []Option
	// Setup prepares the account, undisturbed. It runs once: every run begins with a fork of what it left, and with copies
	// of the values that it put into [State]. What it keeps in variables has to be plain data, such as ids, since clients and what
	// is made of them belong to one run.
	Setup func(w *World)
	// Actors act at the same time, their requests let through one after the other.
	Actors []Actor
	// Then runs when the actors have ended or died and all faults are over: the place to resume, catch up and repair. May be
	// nil.
	Then func(w *World)
	// Check says what is wrong, in words that name the promise; nil when it holds.
	Check func(w *World) error
}

// Actor is one process of a scenario.
type Actor struct {
	Name string
	// Do is what it does, with clients made of its own World. Under faults it may fail: what it returns is what Check
	// finds with [World.Outcome]. A promise that is broken on the spot is reported with the World's own Errorf or Fatal.
	Do func(w *World) error
	// Background actors, such as a processor, go on until the others have ended; then their World's context is done, and
	// Do has to return. What it returns is not looked at.
	Background bool
}

// ExploreOptions change how [Explore] goes about it.
type ExploreOptions struct {
	// Budget is how long it may take, by the wall clock. Each fault at each request is tried, and each place where one actor
	// can overtake another, however long that takes; pairs of faults and further orders are tried until the budget is used up.
	// Defaults to 15 s; the environment variable EXPLORE (as 5m) takes its place, and -short leaves pairs and orders out.
	Budget time.Duration
	// Seed decides about what is tried in what is left of the budget.
	Seed uint64
	// Faults are what may become of a request. Defaults to [FaultKinds].
	Faults []FaultKind
	// Sabotage names ways to break the promise on purpose, each done to a run's World before its actors start (by changing
	// data, or a [State] that the actors look at). Explore fails when it finds nothing wrong with one of them. Without any, it
	// lets each write of the actors be forgotten behind its acknowledgement, and fails when the check notices none of that.
	Sabotage map[string]func(w *World)
}

// FaultKind is one way for a request to go wrong.
type FaultKind struct {
	// Name stands in schedules and in EXPLORE_SEED. It holds letters, digits and hyphens.
	Name string
	// Fault is what happens; its conditions are the explorer's.
	Fault emulator.Fault
	// Fits says to which requests it may happen; nil is all.
	Fits func(r Request) bool
}

// Request is a request of an actor.
type Request struct {
	emulator.Exchange
	// Actor made it, as its N-th, counted from 1. Reads of the account, which the SDK makes by itself, don't count.
	Actor string
	N     int
	// Conditional says that it carried If-Match.
	Conditional bool
}

// IsWrite says whether it may change items.
func (r Request) IsWrite() bool {
	switch r.Operation {
	case emulator.CreateItem, emulator.UpsertItem, emulator.ReplaceItem, emulator.DeleteItem, emulator.PatchItem,
		emulator.TransactionalBatch, emulator.Bulk, emulator.DeleteItemsByPartition:
		return true
	}
	return false
}

// IsRead says whether it reads items.
func (r Request) IsRead() bool {
	switch r.Operation {
	case emulator.ReadItem, emulator.QueryItems, emulator.ListItems, emulator.ChangeFeed:
		return true
	}
	return false
}

// Coverage is what an exploration tried.
type Coverage struct {
	// Requests is how many requests the undisturbed run made, of each actor.
	Requests map[string]int
	// Faults is how many of FaultsPossible combinations of one fault and one request were tried, over all orders in which the
	// actors can go one after the other.
	Faults, FaultsPossible int
	// Overtakings is how many of OvertakingsPossible places were tried at which one actor overtakes another, once: a preemption
	// before one request of its, as in a search with a preemption bound of one.
	Overtakings, OvertakingsPossible int
	// Pairs is how many of PairsPossible pairs were tried: a fault, and another one at a request that came behind it.
	Pairs, PairsPossible int
	// Orders is how many different orders of requests there were among all runs.
	Orders int
	// Sabotages is how many deliberate breaks were found.
	Sabotages int
	// Runs is how often the scenario was run, in Time by the wall clock.
	Runs int
	Time time.Duration
}

// String is a line for a log.
func (c Coverage) String() string {
	total := 0
	for _, n := range c.Requests {
		total += n
	}
	perSecond := 0.0
	if c.Time > 0 {
		perSecond = float64(c.Runs) / c.Time.Seconds()
	}
	return fmt.Sprintf("%d requests; %d of %d faults x requests, %d of %d overtakings, %d of %d pairs of faults, %d orders, "+
		"%d sabotages found; %d runs in %v, %.0f a second",
		total, c.Faults, c.FaultsPossible, c.Overtakings, c.OvertakingsPossible, c.Pairs, c.PairsPossible, c.Orders,
		c.Sabotages, c.Runs, c.Time.Round(time.Millisecond), perSecond)
}

// Explore looks for faults and orders of requests that break the scenario's promise, and fails the test with the shortest
// schedule it finds. It runs the scenario undisturbed, then with every fault at every request of every actor and with every actor
// overtaken at every request, and then with pairs of faults and further orders until the budget is used up. Each run is inside a
// testing/synctest bubble, so that no time passes and goroutines of the code under test are waited for; requests of all actors are
// let through one at a time, and the same schedule gives the same run.
//
// With EXPLORE_SEED in the environment, as a failure prints it, only that schedule is run.
func Explore(t *testing.T, s Scenario, o ExploreOptions) Coverage {
	t.Helper()
	finding, coverage := Find(t, s, o)
	if finding != nil {
		t.Error(finding)
	}
	t.Logf("explored: %v", coverage)
	return coverage
}

// Find is [Explore] for those who want to find something: it returns the finding instead of failing the test, nil when
// the promise held.
func Find(t *testing.T, s Scenario, o ExploreOptions) (*Finding, Coverage) {
	t.Helper()
	InProcess(t, "it looks into the emulator")
	began := time.Now()
	x := newExplorer(t, s, o)
	finding := x.explore()
	x.coverage.Time = time.Since(began)
	x.coverage.Orders = len(x.orders)
	return finding, x.coverage
}
