package scenarios_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/parented"
)

// TestOppositeCallsInOtherShapes: so it is under other rules, where deletes keep less, behind deletes, with verbs that change one
// document or create a root again, and where trees are stored in other ways: half of them under former names of their types, two of the same ids in two
// cities, in small buckets, without marks of writes, or by processes whose clocks differ by hours.
//
// EXPLORE is the time for each shape, EXPLORE_SHAPE picks one of them, and EXPLORE_KINDS (as refused,late) other faults.
func TestOppositeCallsInOtherShapes(t *testing.T) { //nolint:paralleltest // it sets EXPLORE for each draw
	usual := func(random *rand.Rand) rules {
		return rules{parented.Cascade, []parented.Rule{parented.Cascade, parented.Restrict}[random.IntN(2)]}
	}
	anyKey := func(random *rand.Rand) []string { return [][]string{nil, shared()}[random.IntN(2)] }
	for name, draw := range map[string]func(random *rand.Rand) (rules, [3][]treeVerb, shape){ //nolint:paralleltest // so do these
		"former names": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			return usual(random), drawScripts(random, verbsOfTrees()), shape{former: true}
		},
		"cities": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			return usual(random), drawScripts(random, verbsOfCities()), shape{paths: []string{"/tenantId", "/city"}}
		},
		"moves between cities": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			r := rules{[]parented.Rule{parented.Cascade, parented.Restrict}[random.IntN(2)], parented.Cascade}
			all := append(verbsOfCities(), treeVerb{"move", "c", "A"}, treeVerb{"move", "c", "A"}, treeVerb{"move", "C", "a"}, treeVerb{"move", "c", "A"}, treeVerb{"move", "c", "a"})
			return r, drawScripts(random, all), shape{paths: []string{"/tenantId", "/city"}, apart: true}
		},
		"other rules": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			r := []rules{{parented.Orphan, parented.Cascade}, {parented.Orphan, parented.Restrict}, {parented.Cascade, parented.Orphan}, {parented.Restrict, parented.Cascade}, {parented.Restrict, parented.Orphan}}[random.IntN(5)]
			return r, drawScripts(random, verbsOfTrees()), shape{paths: anyKey(random)}
		},
		"no marks": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			return usual(random), drawScripts(random, verbsOfTrees()), shape{paths: anyKey(random), noMarks: true}
		},
		"buckets": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			return usual(random), drawScripts(random, verbsOfBuckets()), shape{paths: anyKey(random), capacity: 1}
		},
		"clocks": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			return usual(random), drawScripts(random, verbsOfTrees()), shape{paths: anyKey(random), drift: []time.Duration{-5 * time.Hour, 5 * time.Hour}[random.IntN(2)]}
		},
		"roots created again": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			all := append(verbsOfTrees(), treeVerb{"create", "a", "root"}, treeVerb{"create", "a", "root"}, treeVerb{"create", "b", "root"})
			before := append(deletesBefore(), nil, nil)
			return rules{parented.Cascade, parented.Cascade}, drawScripts(random, all), shape{paths: anyKey(random), before: before[random.IntN(len(before))]}
		},
		"keeps less": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			all := append(verbsOfTrees(), treeVerb{"create", "a", "root"}, treeVerb{"create", "r", "c"})
			before := [][]treeVerb{nil, nil, {{"delete", "r", ""}}, {{"delete", "c", ""}}}
			keeps := []string{"nothing", "tombstones", "notes", "comments", "replies"}
			r := []rules{{parented.Cascade, parented.Cascade}, {parented.Cascade, parented.Restrict}, {parented.Restrict, parented.Cascade}, {parented.Orphan, parented.Cascade}}[random.IntN(4)]
			form := shape{paths: anyKey(random), keeps: keeps[random.IntN(len(keeps))]}
			if r.replies == parented.Cascade {
				form.before = before[random.IntN(len(before))]
			}
			return r, drawScripts(random, all), form
		},
		"changes": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			all := verbsOfTrees()
			for _, id := range []string{"a", "c", "c", "r"} {
				all = append(all, treeVerb{"mutate", id, ""}, treeVerb{"patch", id, ""})
			}
			before := append(deletesBefore(), nil, nil)
			form := shape{paths: anyKey(random), former: random.IntN(4) == 0, before: before[random.IntN(len(before))]}
			if form.former {
				form.paths = nil
			}
			return rules{parented.Cascade, parented.Cascade}, drawScripts(random, all), form
		},
		"after deletes": func(random *rand.Rand) (rules, [3][]treeVerb, shape) {
			before := deletesBefore()[random.IntN(len(deletesBefore()))]
			return rules{parented.Cascade, parented.Cascade}, drawAny(random, verbsOfTrees()), shape{paths: anyKey(random), before: before}
		},
	} {
		if only := os.Getenv("EXPLORE_SHAPE"); only == "" || only == name {
			t.Run(name, func(t *testing.T) { drawCalls(t, draw) })
		}
	}
}

// verbsOfCities are those of trees, on a in Rome too. There are no buckets.
func verbsOfCities() []treeVerb {
	all := slices.DeleteFunc(verbsOfTrees(), func(v treeVerb) bool { return v.name == "append" })
	return append(all, treeVerb{"delete", "A", ""}, treeVerb{"delete", "C", ""}, treeVerb{"restore", "A", ""}, treeVerb{"purge", "A", ""}, treeVerb{"upsert", "N", "C"})
}

// verbsOfBuckets are those which buckets meet, and more appends.
func verbsOfBuckets() []treeVerb {
	all := slices.DeleteFunc(verbsOfTrees(), func(v treeVerb) bool { return v.id != "" && v.id != "a" })
	return append(all, treeVerb{"append", "a", ""}, treeVerb{"append", "a", ""}, treeVerb{"append", "a", ""})
}

// deletesBefore are states in which the other calls begin, so that they need not come to a delete first.
func deletesBefore() [][]treeVerb {
	return [][]treeVerb{
		{{"delete", "a", ""}},
		{{"delete", "c", ""}},
		{{"delete", "c", ""}, {"delete", "a", ""}},
		{{"delete", "r", ""}, {"delete", "c", ""}},
		{{"append", "a", ""}, {"delete", "a", ""}},
		{{"delete", "a", ""}, {"restore", "a", ""}, {"delete", "c", ""}},
	}
}
