package scenarios_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A call is a verb of a process and what it was told.
type call struct {
	verb  treeVerb
	err   error
	ended bool // false where the process was killed in it
}

// diary is what the three processes of a run did.
type diary struct{ calls [3][]call }

// A treeVerb is one of a tree's, on the documents that setupBranch leaves.
type treeVerb struct{ name, id, to string }

func (v treeVerb) String() string { return strings.TrimSpace(v.name + " " + v.id + " " + v.to) }

func verbsOfTrees() []treeVerb {
	return []treeVerb{
		{"delete", "a", ""},
		{"delete", "b", ""},
		{"delete", "c", ""},
		{"delete", "r", ""},
		{"restore", "a", ""},
		{"restore", "b", ""},
		{"restore", "c", ""},
		{"restore", "r", ""},
		{"purge", "a", ""},
		{"purge", "c", ""},
		{"move", "c", "b"},
		{"move", "c", "a"},
		{"append", "a", ""},
		{"create", "n", "c"},
		{"upsert", "n", "c"},
		{"upsert", "r", "c"},
		{"resume", "", ""},
		{"sweep", "", ""},
	}
}

func (v treeVerb) do(w *emulatortest.World, b branch) error {
	ctx, form := w.Context(), *emulatortest.State[shape](w)
	switch {
	case v.name == "resume":
		_, err := b.forest.Resume(ctx, "acme")
		return err
	case v.name == "sweep":
		_, err := b.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
		return err
	case !strings.ContainsAny(v.id, "crnCRN"):
		id, key := form.at(v.id)
		return v.doToNote(ctx, b, id, key)
	}
	id, key := form.below(v.id)
	switch v.name {
	case "move":
		to, city := form.at(v.to)
		return b.comments.Move(ctx, "acme", id, tenantitem.Ref[Note](to), city...)
	case "upsert", "create":
		r := reply(id)
		to, _ := form.below(v.to)
		r.ParentID = tenantitem.Ref[Comment](to)
		if len(key) > 0 {
			r.City = fmt.Sprint(key[0])
		}
		if v.name == "upsert" {
			return b.replies.In("acme", key...).Upsert(ctx, r)
		}
		return b.replies.UnderID("acme", r.ParentID, key...).Create(ctx, r)
	}
	if strings.ToLower(id) == "c" {
		return lifecycle(ctx, b.comments.In("acme", key...), v.name, id)
	}
	return lifecycle(ctx, b.replies.In("acme", key...), v.name, id)
}

func (v treeVerb) doToNote(ctx context.Context, b branch, id string, key []any) error {
	n := note(id, "new", 0)
	if len(key) > 0 {
		n.City = fmt.Sprint(key[0])
	}
	switch v.name {
	case "append":
		_, err := b.buckets.UnderID("acme", tenantitem.Ref[Note](id)).Append(ctx, "entry")
		return err
	case "upsert":
		return b.notes.In("acme", key...).Upsert(ctx, n)
	case "create":
		return b.notes.In("acme", key...).Create(ctx, n)
	}
	return lifecycle(ctx, b.notes.In("acme", key...), v.name, id)
}

func lifecycle[E any](ctx context.Context, s *repository.Scope[E], verb, id string) error {
	switch verb {
	case "mutate":
		_, err := s.Mutate(ctx, id, func(*E) error { return nil })
		return err
	case "patch":
		_, err := s.Patch(ctx, id, repository.Edits{}.Set("/city", "x"))
		return err
	case "delete":
		return s.Delete(ctx, id, nil)
	case "restore":
		return s.Restore(ctx, id)
	default:
		return s.Purge(ctx, id)
	}
}

// TestOppositeCallsOfThreeProcesses: whatever three processes do to the same trees at the same time, and wherever they are killed or held up, the state in the
// end is one that some undisturbed order of their calls gives: those that succeeded, some of those whose outcome is unknown, and none of those that failed. Two
// exceptions are in docs/deletes.md, both under Restrict: a reply whose writer died before its second look can be left without its parent, and sweeps count it; and one of which
// its writer was told that it is stored, though the parent was deleted, is hidden and comes back with that, or stays where that is gone for good.
//
// The calls are drawn; EXPLORE (as 10m) is how long, in all, and EXPLORE_CALLS the number that the first draw begins with.
func TestOppositeCallsOfThreeProcesses(t *testing.T) { //nolint:paralleltest // it sets EXPLORE for each draw
	drawCalls(t, func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
		r := rules{parented.Cascade, []parented.Rule{parented.Cascade, parented.Restrict}[random.IntN(2)]}
		scripts := drawScripts(random, verbsOfTrees())
		return r, scripts, shape{paths: [][]string{nil, shared()}[random.IntN(2)]}
	})
}

// drawCalls explores calls that are drawn.
func drawCalls(t *testing.T, draw func(random *rand.Rand) (rules, [3][]treeVerb, shape)) {
	t.Helper()
	draws, budget := 2, time.Duration(0)
	if text := os.Getenv("EXPLORE"); text != "" {
		var err error
		budget, err = time.ParseDuration(text)
		must(t, err)
		t.Setenv("EXPLORE", "2s")
	}
	first := uint64(1)
	if text := os.Getenv("EXPLORE_CALLS"); text != "" {
		_, err := fmt.Sscan(text, &first)
		must(t, err)
	}
	runs := 0
	for n, until := first, time.Now().Add(budget); n < first+uint64(draws) || time.Now().Before(until); n++ {
		r, scripts, form := draw(rand.New(rand.NewPCG(n, 0)))
		ok := t.Run(fmt.Sprintf("%d, %v, %v, %v", n, r, scripts, form), func(t *testing.T) {
			kinds := kindsOf(strings.Split(cmp.Or(os.Getenv("EXPLORE_KINDS"), "killed,suspended,cut-after"), ",")...)
			if !inFull() {
				kinds = kindsOf("killed-after")
			}
			runs += emulatortest.Explore(t, oppositeCalls(form, r, scripts), emulatortest.ExploreOptions{
				Budget: time.Nanosecond, Seed: n, Faults: kinds, Sabotage: lostNote("z"),
			}).Runs
		})
		if !ok {
			break
		}
	}
	t.Logf("%d runs", runs)
}

// drawScripts draws calls with a delete among them, without which most verbs have nothing to meet.
func drawScripts(random *rand.Rand, all []treeVerb) [3][]treeVerb {
	deletes := slices.DeleteFunc(slices.Clone(all), func(v treeVerb) bool { return v.name != "delete" || strings.ToLower(v.id) == "r" })
	scripts := drawAny(random, all)
	deleter := random.IntN(len(scripts))
	scripts[deleter][0] = deletes[random.IntN(len(deletes))]
	return scripts
}

func drawAny(random *rand.Rand, all []treeVerb) [3][]treeVerb {
	var scripts [3][]treeVerb
	for i := range scripts {
		for range 1 + random.IntN(2) {
			scripts[i] = append(scripts[i], all[random.IntN(len(all))])
		}
	}
	return scripts
}

func oppositeCalls(form shape, r rules, scripts [3][]treeVerb) emulatortest.Scenario {
	s := emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			*emulatortest.State[shape](w) = form
			setupBranch(w, true)
			z := note("z", "z", 0)
			_, key := form.at("z")
			if len(key) > 0 {
				z.City = fmt.Sprint(key[0])
			}
			b := branchOf(w, r)
			must(w, b.notes.In("acme", key...).Create(w.Context(), z))
			for _, v := range form.before {
				must(w, v.do(w, b))
			}
		},
		Then:  mend(r),
		Check: func(w *emulatortest.World) error { return someOrderGives(w, r) },
	}
	for i, script := range scripts {
		s.Actors = append(s.Actors, emulatortest.Actor{Name: fmt.Sprint("p", i+1), Do: func(w *emulatortest.World) error {
			b := branchOf(w, r)
			for _, v := range script {
				calls := &emulatortest.State[diary](w).calls[i]
				*calls = append(*calls, call{verb: v})
				err := v.do(w, b)
				last := &(*calls)[len(*calls)-1]
				last.err, last.ended = err, w.Context().Err() == nil
				if !last.ended {
					break
				}
			}
			return nil
		}})
	}
	return s
}

// someOrderGives compares what readers see with what the calls give in any order.
func someOrderGives(w *emulatortest.World, r rules) error {
	seen, err := standing(w, r)
	if err != nil {
		return err
	}
	entries := int64(0)
	form := *emulatortest.State[shape](w)
	if _, ok := seen["a"]; ok && !form.hasCities() {
		if entries, err = branchOf(w, r).buckets.UnderID("acme", "a").Count(w.Context()); err != nil {
			return err
		}
	}
	d := *emulatortest.State[diary](w)
	m := newTreeModel(r, form)
	if m.reaches(d.calls, seen, entries) {
		return countedBySweeps(w, r, seen)
	}
	if kept := m.keptByRestrict(d, seen); len(kept) > 0 && m.reaches(d.calls, without(seen, kept), entries) {
		return countedBySweeps(w, r, seen)
	}
	var told []string
	for i, calls := range d.calls {
		for _, c := range calls {
			answer := fmt.Sprint(c.err)
			if !c.ended {
				answer = "killed"
			}
			told = append(told, fmt.Sprintf("p%d %v: %s", i+1, c.verb, answer))
		}
	}
	return fmt.Errorf("no order of the calls gives %v with %d entries:\n%s", seen, entries, strings.Join(told, "\n"))
}

// countedBySweeps looks whether a sweep counts the replies that are left without their parent. Where it does not, a delete for good has met them
// when it was decided, and is ended by Resume once they are gone.
func countedBySweeps(w *emulatortest.World, r rules, seen map[string]string) error {
	if dangling(seen) == nil {
		return nil
	}
	b, form := branchOf(w, r), *emulatortest.State[shape](w)
	swept, err := b.forest.Sweep(w.Context(), "acme", &parented.SweepOptions{MinAge: time.Nanosecond, Keep: true})
	if err != nil {
		return err
	}
	var alone []string
	for id, parent := range seen {
		if _, there := seen[parent]; !there && parent != "root" && parent != "" {
			alone = append(alone, id)
		}
	}
	if swept["Reply"] == int64(len(alone)) {
		return nil
	}
	for _, id := range alone {
		here, key := form.below(id)
		if err := b.replies.In("acme", key...).Delete(w.Context(), here, nil); err != nil {
			return err
		}
	}
	resumed, err := b.forest.Resume(w.Context(), "acme")
	if err == nil && resumed.Finished == 0 {
		return fmt.Errorf("%v were without their parent, a sweep counted %v, and no delete waited for them to go", alone, swept)
	}
	return err
}

// keptByRestrict are the replies without their parent that Restrict keeps and a sweep only counts: their writer
// died between the write and its second look, in the instant in which another process deleted the parent.
func (m treeModel) keptByRestrict(d diary, seen map[string]string) (kept []string) {
	for id, parent := range seen {
		if _, there := seen[parent]; there || strings.ToLower(parent) != "c" || m.rules.replies != parented.Restrict {
			continue
		}
		for _, calls := range d.calls {
			if slices.ContainsFunc(calls, func(c call) bool {
				return !c.ended && (c.verb.name == "create" || c.verb.name == "upsert") && c.verb.id == id
			}) {
				kept = append(kept, id)
				break
			}
		}
	}
	return kept
}

func without(seen map[string]string, ids []string) map[string]string {
	rest := maps.Clone(seen)
	for _, id := range ids {
		delete(rest, id)
	}
	return rest
}
