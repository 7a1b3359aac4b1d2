package emulatortest

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// explorer is one call of [Explore], whose comment says what is tried whatever the
// budget: single faults and overtakings (explorer_faults.go). Pairs of faults and orders
// follow until the budget ends (explorer_budget.go). With EXPLORE_SEED, which a failure
// prints, it runs that schedule alone: the replay.
type explorer struct {
	t        *testing.T
	scenario Scenario
	options  ExploreOptions
	kinds    []FaultKind
	settings *settings
	origin   *emulator.Service    // what Setup left
	states   map[reflect.Type]any // what Setup put there
	until    time.Time
	host     string // of the account
	worlds   int    // how many were made
	coverage Coverage
	orders   map[uint64]bool
	pairs    []plan // a fault, and another one at a request that came behind it
}

// result is how a run went.
type result struct {
	failure string
	rows    []*row
	// missed are the faults that did not happen.
	missed []placed
	sent   []int // requests of each actor
	// outcomes are what the actors returned.
	outcomes map[string]error
}

const defaultBudget = 15 * time.Second

func newExplorer(t *testing.T, s Scenario, o ExploreOptions) *explorer {
	t.Helper()
	x := &explorer{t: t, scenario: s, options: o, kinds: o.Faults, settings: settingsOf(s.Options), host: strings.ReplaceAll(uuid.NewString(), "-", "")[:16], orders: map[uint64]bool{}}
	if x.kinds == nil {
		x.kinds = FaultKinds()
	}
	budget := o.Budget
	if budget == 0 {
		budget = defaultBudget
	}
	if text := os.Getenv("EXPLORE"); text != "" {
		var err error
		if budget, err = time.ParseDuration(text); err != nil {
			t.Fatalf("EXPLORE: %v: use a duration as 5m", err)
		}
	}
	if testing.Short() {
		budget = 0
	}
	x.until = time.Now().Add(budget)
	x.check()
	return x
}

// check refuses scenarios that can't be explored.
func (x *explorer) check() {
	x.t.Helper()
	if x.scenario.Check == nil {
		x.t.Fatal("Explore: the scenario has no Check, so that nothing can fail")
	}
	names := map[string]bool{}
	foreground := 0
	for _, a := range x.scenario.Actors {
		if a.Name == "" || names[a.Name] || strings.ContainsAny(a.Name, ",>!=:") {
			x.t.Fatalf("Explore: %q is no name for an actor: it must be its own and hold none of , > ! = :", a.Name)
		}
		if a.Do == nil {
			x.t.Fatalf("Explore: actor %s has nothing to Do", a.Name)
		}
		names[a.Name] = true
		if !a.Background {
			foreground++
		}
	}
	if foreground == 0 {
		x.t.Fatal("Explore: the scenario has no actor that ends by itself")
	}
}

// explore goes through the plans, the surest first.
func (x *explorer) explore() *Finding {
	if failure := x.prepare(); failure != "" {
		return &Finding{Promise: "Setup: " + failure}
	}
	if text := os.Getenv("EXPLORE_SEED"); text != "" {
		return x.replay(text)
	}
	starts := x.starts()
	baselines := make([]result, len(starts))
	for i, start := range starts {
		p := plan{start: start}
		baselines[i] = x.run(p, nil)
		if baselines[i].failure != "" {
			return x.finding(p, baselines[i])
		}
	}
	x.coverage.Requests = map[string]int{}
	for i, a := range x.scenario.Actors {
		x.coverage.Requests[a.Name] = baselines[0].sent[i]
	}
	if len(baselines[0].rows) == 0 {
		return &Finding{Promise: "the actors make no request, so that nothing can happen to them"}
	}
	if f := x.undisturbedErrors(baselines[0]); f != nil {
		return f
	}
	for i, start := range starts {
		if f := x.everyOvertaking(start, baselines[i]); f != nil {
			return f
		}
	}
	for i, start := range starts {
		if f := x.everyFault(start, baselines[i]); f != nil {
			return f
		}
	}
	if f := x.sabotages(starts, baselines); f != nil {
		return f
	}
	return x.byChance(starts, baselines)
}

// undisturbedErrors refuses a scenario whose actors fail by themselves: what they would promise is never tried.
func (x *explorer) undisturbedErrors(r result) *Finding {
	for _, a := range x.scenario.Actors {
		if err := r.outcomes[a.Name]; err != nil && !a.Background {
			return &Finding{Promise: fmt.Sprintf("undisturbed, %s fails: %v", a.Name, err), Schedule: x.table(plan{}, r)}
		}
	}
	return nil
}

// replay runs one plan, behind the undisturbed runs, from which a check may know what to compare with. Where the promise holds, the test's log
// has the schedule.
func (x *explorer) replay(text string) *Finding {
	p, err := x.decode(text)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, start := range x.starts() {
		undisturbed := plan{start: start}
		if r := x.run(undisturbed, nil); r.failure != "" {
			return x.finding(undisturbed, r)
		}
	}
	r := x.run(p, nil)
	if r.failure == "" {
		x.t.Logf("with this schedule the promise holds:\n\n%s", x.table(p, r))
		return nil
	}
	return x.finding(p, r)
}

// starts are the actors with which a run can begin.
func (x *explorer) starts() []int {
	var starts []int
	for i, a := range x.scenario.Actors {
		if !a.Background {
			starts = append(starts, i)
		}
	}
	return starts
}
