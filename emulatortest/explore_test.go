package emulatortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// counter is a document that actors add to.
type counter struct {
	ID string `json:"id"`
	PK string `json:"pk"`
	N  int    `json:"n"`
}

// tally counts what the actors of a run were told.
type tally struct{ acknowledged, unknown int }

func itemsOf(w *emulatortest.World) *azcosmos.ContainerClient {
	o := &azcosmos.ClientOptions{}
	o.Retry = policy.RetryOptions{MaxRetries: -1}
	items, err := w.Client(o).NewContainer("db", "items")
	if err != nil {
		w.Fatal(err)
	}
	return items
}

func setupCounter(w *emulatortest.World) {
	create(w, newContainer(w, w.Client(nil), "/pk"), pk("a"), `{"id":"1","pk":"a","n":0}`)
}

func readCounter(ctx context.Context, items *azcosmos.ContainerClient) (c counter, etag azcore.ETag, err error) {
	r, err := items.ReadItem(ctx, pk("a"), "1", nil)
	if err != nil {
		return c, "", err
	}
	return c, r.ETag, json.Unmarshal(r.Value, &c)
}

// increment adds one, with the etag it has read when careful.
func increment(w *emulatortest.World, careful bool) error {
	items := itemsOf(w)
	c, etag, err := readCounter(w.Context(), items)
	if err != nil {
		return err
	}
	c.N++
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	o := &azcosmos.ItemOptions{}
	if careful {
		o.IfMatchEtag = &etag
	}
	_, err = items.ReplaceItem(w.Context(), pk("a"), "1", body, o)
	return err
}

// note keeps what an actor was told: an answer of the service below 500 that is no time-out is a definite one.
func note(w *emulatortest.World, err error) {
	var answer *azcore.ResponseError
	switch {
	case err == nil:
		emulatortest.State[tally](w).acknowledged++
	case errors.As(err, &answer) && answer.StatusCode < 500 && answer.StatusCode != http.StatusRequestTimeout:
	default:
		emulatortest.State[tally](w).unknown++
	}
}

func checkCounter(w *emulatortest.World) error { return checkCounterOf(w, "first", "second") }

func checkCounterOf(w *emulatortest.World, actors ...string) error {
	c, _, err := readCounter(w.Context(), itemsOf(w))
	if err != nil {
		return err
	}
	told := emulatortest.State[tally](w)
	killed := 0
	for _, name := range actors {
		if errors.Is(w.Outcome(name), emulatortest.ErrKilled) {
			killed++
		}
	}
	if c.N < told.acknowledged || c.N > told.acknowledged+told.unknown+killed {
		return fmt.Errorf("%d increments were acknowledged, %d are unknown, and the counter is %d", told.acknowledged, told.unknown, c.N)
	}
	return nil
}

func countingScenario(careful bool) emulatortest.Scenario {
	do := func(w *emulatortest.World) error {
		note(w, increment(w, careful))
		return nil
	}
	return emulatortest.Scenario{
		Setup:  setupCounter,
		Actors: []emulatortest.Actor{{Name: "first", Do: do}, {Name: "second", Do: do}},
		Check:  checkCounter,
	}
}

func TestExploreFindsALostUpdate(t *testing.T) {
	t.Parallel()
	finding, coverage := emulatortest.Find(t, countingScenario(false), emulatortest.ExploreOptions{Budget: time.Second})
	if finding == nil {
		t.Fatalf("nothing found: %v", coverage)
	}
	for _, want := range []string{
		"2 increments were acknowledged, 0 are unknown, and the counter is 1",
		"replace item", "EXPLORE_SEED='start=first,first:", ">second'", "^TestExploreFindsALostUpdate$",
	} {
		if !strings.Contains(finding.String(), want) {
			t.Errorf("the finding does not say %q:\n%v", want, finding)
		}
	}
	if len(finding.Faults) != 0 || strings.Count(finding.Seed, ">") != 1 {
		t.Errorf("it is not the shortest: %s", finding.Seed)
	}
	t.Log(finding, coverage)
}

func TestExploreHolds(t *testing.T) {
	t.Parallel()
	coverage := emulatortest.Explore(t, countingScenario(true), emulatortest.ExploreOptions{
		Budget: time.Second,
		Sabotage: map[string]func(w *emulatortest.World){
			"an increment that nobody made": func(w *emulatortest.World) {
				if err := increment(w, false); err != nil {
					w.Error(err)
				}
			},
		},
	})
	if coverage.Faults == 0 || coverage.Faults != coverage.FaultsPossible || coverage.Overtakings != coverage.OvertakingsPossible ||
		coverage.Sabotages != 1 || coverage.Orders < 10 {
		t.Errorf("%v", coverage)
	}
}

// An increment that is sent again without a look is counted twice when its answer was lost.
func TestExploreFindsAWriteCountedTwice(t *testing.T) {
	t.Parallel()
	patch := func(w *emulatortest.World) error {
		items := itemsOf(w)
		var ops azcosmos.PatchOperations
		ops.AppendIncrement("/n", 1)
		for {
			_, err := items.PatchItem(w.Context(), pk("a"), "1", ops, nil)
			var answer *azcore.ResponseError
			if err == nil || (errors.As(err, &answer) && answer.StatusCode < 500 && answer.StatusCode != http.StatusRequestTimeout) {
				note(w, err)
				return nil
			}
		}
	}
	s := emulatortest.Scenario{Setup: setupCounter, Actors: []emulatortest.Actor{{Name: "first", Do: patch}}, Check: func(w *emulatortest.World) error {
		return checkCounterOf(w, "first")
	}}
	finding, coverage := emulatortest.Find(t, s, emulatortest.ExploreOptions{Budget: time.Second})
	if finding == nil || len(finding.Faults) != 1 {
		t.Fatalf("found %v, %v", finding, coverage)
	}
	t.Log(finding)
}

func TestExploreRefusesWhatProvesNothing(t *testing.T) {
	t.Parallel()
	holds := func(*emulatortest.World) error { return nil }
	wild := 0
	cases := []struct {
		name     string
		scenario emulatortest.Scenario
		options  emulatortest.ExploreOptions
		says     string
	}{
		{"a check that can't fail", func() emulatortest.Scenario { s := countingScenario(true); s.Check = holds; return s }(),
			emulatortest.ExploreOptions{Sabotage: map[string]func(*emulatortest.World){
				"the counter is gone": func(w *emulatortest.World) {
					_, err := itemsOf(w).DeleteItem(w.Context(), pk("a"), "1", nil)
					if err != nil {
						w.Error(err)
					}
				},
			}}, `the sabotage "the counter is gone" went unnoticed`},
		{"requests that are not the same each time", emulatortest.Scenario{
			Setup: setupCounter,
			Actors: []emulatortest.Actor{{Name: "first", Do: func(w *emulatortest.World) error {
				if wild++; wild > 1 {
					return nil
				}
				_, _, err := readCounter(w.Context(), itemsOf(w))
				return err
			}}},
			Check: holds,
		}, emulatortest.ExploreOptions{}, "of first never happened"},
		{"no request", emulatortest.Scenario{
			Actors: []emulatortest.Actor{{Name: "first", Do: holds}}, Check: holds,
		}, emulatortest.ExploreOptions{}, "make no request"},
		{"a setup that fails", emulatortest.Scenario{
			Setup:  func(w *emulatortest.World) { w.Fatal("no database") },
			Actors: []emulatortest.Actor{{Name: "first", Do: holds}}, Check: holds,
		}, emulatortest.ExploreOptions{}, "Setup: no database"},
	}
	for _, c := range cases {
		c.options.Budget = time.Millisecond
		finding, _ := emulatortest.Find(t, c.scenario, c.options)
		if finding == nil || !strings.Contains(finding.Promise, c.says) {
			t.Errorf("%s: %v", c.name, finding)
		}
	}
}

// A killed process does nothing more, and the other goes on.
func TestExploreKillsAndSuspendsActors(t *testing.T) {
	t.Parallel()
	type seen struct{ afterDeath, late bool }
	s := countingScenario(true)
	s.Actors[0].Do = func(w *emulatortest.World) error {
		began := time.Now()
		err := increment(w, true)
		if time.Since(began) > time.Minute {
			emulatortest.State[seen](w).late = true
		}
		note(w, err)
		emulatortest.State[seen](w).afterDeath = true
		return nil
	}
	suspended, killed := false, 0
	s.Check = func(w *emulatortest.World) error {
		suspended = suspended || emulatortest.State[seen](w).late
		if errors.Is(w.Outcome("first"), emulatortest.ErrKilled) {
			killed++
			if err := w.Outcome("second"); err != nil && !errors.Is(err, emulatortest.ErrKilled) {
				return errors.New("the second actor did not end")
			}
		}
		return checkCounter(w)
	}
	var kinds []emulatortest.FaultKind
	for _, k := range emulatortest.FaultKinds() {
		if strings.HasPrefix(k.Name, "killed") || strings.HasPrefix(k.Name, "suspended") {
			kinds = append(kinds, k)
		}
	}
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: 100 * time.Millisecond, Faults: kinds})
	if !suspended || killed == 0 {
		t.Errorf("suspended: %v, killed: %d", suspended, killed)
	}
}

// The order of requests is the plan's, not that of goroutines, and the same plan gives the same run.
func TestExploreLetsGoroutinesOfAnActorThroughOneByOne(t *testing.T) {
	t.Parallel()
	s := emulatortest.Scenario{
		Setup: setupCounter,
		Actors: []emulatortest.Actor{{Name: "bulk", Do: func(w *emulatortest.World) error {
			items := itemsOf(w)
			done := make(chan error, 5)
			for i := range cap(done) {
				go func() {
					_, err := items.UpsertItem(w.Context(), pk("a"), fmt.Appendf(nil, `{"id":"b%d","pk":"a"}`, i), nil)
					done <- err
				}()
			}
			var failed error
			for range cap(done) {
				failed = errors.Join(failed, <-done)
			}
			return failed
		}}},
		Check: func(w *emulatortest.World) error {
			told := 0
			for _, x := range w.Emulator().Requests().All() {
				if x.Operation == emulator.UpsertItem {
					told++
				}
			}
			if told < 5 && w.Outcome("bulk") == nil {
				return fmt.Errorf("%d of 5 upserts", told)
			}
			return nil
		},
	}
	coverage := emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: 100 * time.Millisecond})
	if coverage.Requests["bulk"] < 5 {
		t.Errorf("%v", coverage)
	}
}

// A race that needs two changes between the actors is no single overtaking; the orders of the budget find it, and it is shown as the two
// places at which one goes before the other.
func TestExploreFindsARaceOfTwoChanges(t *testing.T) {
	t.Parallel()
	type reads struct{ first, second int }
	s := emulatortest.Scenario{
		Setup: setupCounter,
		Actors: []emulatortest.Actor{
			{Name: "reader", Do: func(w *emulatortest.World) error {
				items, seen := itemsOf(w), emulatortest.State[reads](w)
				first, _, err := readCounter(w.Context(), items)
				if err != nil {
					return err
				}
				second, _, err := readCounter(w.Context(), items)
				seen.first, seen.second = first.N, second.N
				return err
			}},
			{Name: "writer", Do: func(w *emulatortest.World) error {
				for n := range 2 {
					if _, err := itemsOf(w).UpsertItem(w.Context(), pk("a"), fmt.Appendf(nil, `{"id":"1","pk":"a","n":%d}`, n+1), nil); err != nil {
						return err
					}
				}
				return nil
			}},
		},
		Check: func(w *emulatortest.World) error {
			if seen := emulatortest.State[reads](w); seen.first == 0 && seen.second == 1 {
				return errors.New("the reader saw what was there between the two writes")
			}
			return nil
		},
	}
	if testing.Short() {
		t.Skip("-short leaves out the orders, among which the race is")
	}
	slow := []emulatortest.FaultKind{{Name: "slow", Fault: emulator.Delay(time.Millisecond)}}
	finding, coverage := emulatortest.Find(t, s, emulatortest.ExploreOptions{
		Budget: 5 * time.Minute, // it ends with the finding, some dozens of runs later
		Faults: slow,
		Sabotage: map[string]func(*emulatortest.World){
			"there is no counter": func(w *emulatortest.World) { w.Error("nothing to read") },
		},
	})
	if finding == nil || strings.Count(finding.Seed, ">") != 2 || len(finding.Faults) != 0 {
		t.Fatalf("found %v, %v", finding, coverage)
	}
	t.Log(finding, coverage)
}
