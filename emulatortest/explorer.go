package emulatortest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// explorer is one call of [Explore].
type explorer struct {
	t        *testing.T
	scenario Scenario
	options  ExploreOptions
	kinds    []FaultKind
	settings *settings
	origin   *emulator.Service    // what Setup left
	states   map[reflect.Type]any // what Setup put there
	until    time.Time
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
	x := &explorer{t: t, scenario: s, options: o, kinds: o.Faults, settings: settingsOf(s.Options), orders: map[uint64]bool{}}
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

// prepare runs Setup, whose account every run forks.
func (x *explorer) prepare() (failure string) {
	var service *emulator.Service
	synctest.Test(x.t, func(t *testing.T) {
		service = newService(x.t, x.settings)
		r := newRunState(nil)
		if x.scenario.Setup != nil {
			w := r.newWorld(t, "", x.handle(service), ungated(service, "setup"))
			<-w.do(func() error { x.scenario.Setup(w); return nil })
		}
		x.states, failure = r.states, r.failure
	})
	x.origin = service
	return failure
}

func (x *explorer) handle(service *emulator.Service) Emulator {
	return Emulator{
		service: service, key: service.Key(), options: x.settings.client,
		endpoint: "https://" + strings.ReplaceAll(uuid.NewString(), "-", "")[:16] + ".emulator.localhost/",
	}
}

// ungated is the transport of what comes before and behind the actors.
func ungated(service *emulator.Service, client string) func(*World) policy.Transporter {
	return func(*World) policy.Transporter { return service.Named(client) }
}

func newRunState(states map[reflect.Type]any) *runState {
	r := &runState{states: map[reflect.Type]any{}, outcomes: map[string]error{}, dead: func(string) bool { return false }}
	for key, held := range states {
		fresh := reflect.New(key)
		fresh.Elem().Set(reflect.ValueOf(held).Elem())
		r.states[key] = fresh.Interface()
	}
	return r
}

// run runs the scenario once, under a plan.
func (x *explorer) run(p plan, sabotage func(*World)) result {
	var out result
	synctest.Test(x.t, func(t *testing.T) { out = x.inBubble(t, p, sabotage) })
	x.coverage.Runs++
	h := fnv.New64a()
	for _, row := range out.rows {
		fmt.Fprintf(h, "%s %s\n", row.request.Actor, row.request.Operation)
	}
	x.orders[h.Sum64()] = true
	return out
}

func (x *explorer) inBubble(t *testing.T, p plan, sabotage func(*World)) result {
	service := x.origin.Fork(emulator.ForkOptions{})
	handle := x.handle(service)
	r := newRunState(x.states)
	if sabotage != nil {
		w := r.newWorld(t, "", handle, ungated(service, "sabotage"))
		<-w.do(func() error { sabotage(w); return nil })
	}
	s := newScheduler(p, x.scenario.Actors)
	r.dead = s.isDead
	for _, a := range x.scenario.Actors {
		r.actors = append(r.actors, a.Name)
	}
	armed := make([]*emulator.ArmedFault, len(p.faults))
	for i, f := range p.faults {
		armed[i] = service.Faults().Add(x.kinds[f.kind].Fault.Client(x.scenario.Actors[f.actor].Name).Nth(f.n))
	}
	worlds := make([]*World, len(x.scenario.Actors))
	ended := make([]chan struct{}, len(worlds))
	for i, a := range x.scenario.Actors {
		w := r.newWorld(t, a.Name, handle, func(w *World) policy.Transporter {
			return &gate{
				scheduler: s, actor: s.actors[i], undisturbed: &w.undisturbed, next: service.Named(a.Name), aside: service.Named("start"),
				forget: func() policy.Transporter { return service.Fork(emulator.ForkOptions{}).Named(a.Name) },
			}
		})
		worlds[i], ended[i] = w, w.do(func() error {
			defer s.end(i)
			return a.Do(w)
		})
	}
	failure := ""
	if err := s.run(); err != nil {
		failure = err.Error()
	}
	for i, w := range worlds {
		w.cancel()
		<-ended[i]
	}
	out := result{failure: cmp.Or(r.failure, failure), outcomes: r.outcomes}
	for _, a := range s.actors {
		out.sent = append(out.sent, a.sent)
	}
	for i, a := range armed {
		if a.Fired() == 0 {
			out.missed = append(out.missed, p.faults[i])
		}
	}
	service.Faults().Clear()
	service.Faults().ApplyLate()
	out.rows = s.rows
	if out.failure == "" {
		x.finish(t, r, handle)
		out.failure = r.failure
	}
	return out
}

// finish runs what comes when all faults are over.
func (x *explorer) finish(t *testing.T, r *runState, handle Emulator) {
	for _, phase := range []struct {
		client string
		do     func(w *World) error
	}{
		{"then", func(w *World) error {
			if x.scenario.Then != nil {
				x.scenario.Then(w)
			}
			return nil
		}},
		{"check", x.scenario.Check},
	} {
		w := r.newWorld(t, "", handle, ungated(handle.service, phase.client))
		<-w.do(func() error {
			if err := phase.do(w); err != nil {
				w.Error(err)
			}
			return nil
		})
		if r.failure != "" {
			return
		}
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

func (x *explorer) replay(text string) *Finding {
	p, err := x.decode(text)
	if err != nil {
		x.t.Fatal(err)
	}
	r := x.run(p, nil)
	if r.failure == "" {
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

// everyFault tries every kind of fault at every request that the undisturbed run made in that order.
func (x *explorer) everyFault(start int, baseline result) *Finding {
	for _, f := range x.placements(baseline) {
		x.coverage.FaultsPossible++
		p := plan{start: start, faults: []placed{f}}
		r := x.run(p, nil)
		if len(r.missed) > 0 && r.failure == "" {
			return &Finding{
				Promise: fmt.Sprintf("the fault %s at request %d of %s never happened: the scenario doesn't make the same requests each time "+
					"(it goes by the wall clock, by chance, or by a variable that one run leaves to the next)",
					x.kinds[f.kind].Name, f.n, x.scenario.Actors[f.actor].Name),
				Seed: x.encode(p), Schedule: x.table(p, r),
			}
		}
		if r.failure != "" {
			return x.shrink(p, r)
		}
		x.coverage.Faults++
		x.follow(start, f, r)
	}
	return nil
}

// placements are the faults that fit the requests of a run.
func (x *explorer) placements(r result) []placed {
	var all []placed
	for _, row := range r.rows {
		if row.request.Late {
			continue
		}
		actor := slices.IndexFunc(x.scenario.Actors, func(a Actor) bool { return a.Name == row.request.Actor })
		for k, kind := range x.kinds {
			if kind.Fits == nil || kind.Fits(row.request) {
				all = append(all, placed{actor: actor, n: row.request.N, kind: k})
			}
		}
	}
	return all
}

// overtakings are the places at which one actor can go before another one's request.
func (x *explorer) overtakings(start int, baseline result) []switching {
	var all []switching
	for to, a := range x.scenario.Actors {
		if to == start || a.Background {
			continue
		}
		for n := 1; n <= baseline.sent[start]; n++ {
			all = append(all, switching{actor: start, n: n, to: to})
		}
	}
	return all
}

func (x *explorer) everyOvertaking(start int, baseline result) *Finding {
	for _, s := range x.overtakings(start, baseline) {
		x.coverage.OvertakingsPossible++
		p := plan{start: start, switches: []switching{s}}
		if r := x.run(p, nil); r.failure != "" {
			return x.shrink(p, r)
		}
		x.coverage.Overtakings++
	}
	return nil
}

// sabotages tries whether the check notices what is broken on purpose.
func (x *explorer) sabotages(starts []int, baselines []result) *Finding {
	if len(x.options.Sabotage) == 0 {
		return x.forgottenWrites(starts, baselines)
	}
	for _, name := range slices.Sorted(maps.Keys(x.options.Sabotage)) {
		if !x.noticed(x.options.Sabotage[name], starts, baselines) {
			return &Finding{Promise: fmt.Sprintf("the sabotage %q went unnoticed: Check can't fail for it", name)}
		}
		x.coverage.Sabotages++
	}
	return nil
}

// forgottenWrites tries whether the check notices that an acknowledged write is not there.
func (x *explorer) forgottenWrites(starts []int, baselines []result) *Finding {
	writes := 0
	for i, start := range starts {
		for _, row := range baselines[i].rows {
			if !row.request.IsWrite() {
				continue
			}
			writes++
			actor, _ := x.actorNamed(row.request.Actor) // a row is of an actor
			if x.run(plan{start: start, forgotten: &placed{actor: actor, n: row.request.N}}, nil).failure != "" {
				x.coverage.Sabotages++
				return nil
			}
		}
	}
	if writes == 0 {
		return nil
	}
	return &Finding{Promise: fmt.Sprintf("each of the actors' %d writes can be forgotten behind its acknowledgement, and Check does not notice: "+
		"name a Sabotage that it has to notice, if that is as it should be", writes)}
}

func (x *explorer) noticed(sabotage func(*World), starts []int, baselines []result) bool {
	for i, start := range starts {
		if x.run(plan{start: start}, sabotage).failure != "" {
			return true
		}
		for _, s := range x.overtakings(start, baselines[i]) {
			if x.run(plan{start: start, switches: []switching{s}}, sabotage).failure != "" {
				return true
			}
		}
		for _, f := range x.placements(baselines[i]) {
			if x.run(plan{start: start, faults: []placed{f}}, sabotage).failure != "" {
				return true
			}
		}
	}
	return false
}

// byChance tries pairs of faults and further orders until the budget is used up. An order is a few places at which the
// actor with the turn loses it, as in probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): most races need few.
func (x *explorer) byChance(starts []int, baselines []result) *Finding {
	pairs := x.pairs
	x.coverage.PairsPossible = len(pairs)
	random := rand.New(rand.NewPCG(x.options.Seed, 1))
	random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	tried := map[string]bool{}
	for same, turn := 0, 0; time.Now().Before(x.until) && same < 1000; turn++ {
		i := random.IntN(len(starts))
		p := x.chance(random, starts[i], baselines[i])
		if x.coverage.Pairs < len(pairs) && turn%2 == 0 {
			p = pairs[x.coverage.Pairs]
			x.coverage.Pairs++
		}
		text := x.encode(p)
		if tried[text] {
			same++
			continue
		}
		same, tried[text] = 0, true
		r := x.run(p, nil)
		if r.failure != "" {
			return x.shrink(p, r)
		}
	}
	return nil
}

// follow notes the pairs of a fault with each one at a request that came behind it, in the run that the first one made.
func (x *explorer) follow(start int, first placed, r result) {
	const most = 1 << 20
	at := slices.IndexFunc(r.rows, func(row *row) bool {
		return row.request.Actor == x.scenario.Actors[first.actor].Name && row.request.N == first.n
	})
	for _, second := range x.placements(result{rows: r.rows[at+1:]}) {
		if len(x.pairs) < most {
			x.pairs = append(x.pairs, plan{start: start, faults: []placed{first, second}})
		}
	}
}

func (x *explorer) chance(random *rand.Rand, start int, baseline result) plan {
	p := plan{start: start}
	background := slices.ContainsFunc(x.scenario.Actors, func(a Actor) bool { return a.Background })
	if len(x.starts()) > 1 || background {
		for range random.IntN(4) {
			from, to := random.IntN(len(x.scenario.Actors)), random.IntN(len(x.scenario.Actors))
			if from != to && baseline.sent[from] > 0 {
				p.switches = append(p.switches, switching{actor: from, n: 1 + random.IntN(baseline.sent[from]+2), to: to})
			}
		}
		p.inner = random.Uint64N(1 << 16)
	} else if random.IntN(2) == 0 {
		p.inner = random.Uint64N(1 << 16)
	}
	places := x.placements(baseline)
	want := 2
	if len(p.switches) > 0 {
		want = random.IntN(3)
	}
	for len(p.faults) < want && len(places) > 1 {
		f := places[random.IntN(len(places))]
		f.n += random.IntN(2) // a fault can make more requests follow, which no undisturbed run has
		if !slices.ContainsFunc(p.faults, func(other placed) bool { return other == f }) {
			p.faults = append(p.faults, f)
		}
	}
	return p
}
