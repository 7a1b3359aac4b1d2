package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// simulated is one document of a service that applies writes when it likes.
type simulated struct {
	now    *Marked
	writes int
}

func (s *simulated) store(marks []string, patch string) {
	s.writes++
	s.now = &Marked{ETag: fmt.Sprint("e", s.writes), Marks: marks, Mark: patch}
}

// inFlight is a write whose answer did not come.
type inFlight struct {
	op      Operation
	marks   []string
	applied bool
}

// apply does what the service does when the request arrives.
func (f *inFlight) apply(s *simulated) {
	switch {
	case f.op.Kind == OpCreate && s.now != nil,
		f.op.Kind != OpCreate && f.op.Kind != OpUpsert && s.now == nil,
		f.op.ETag != "" && (s.now == nil || s.now.ETag != f.op.ETag):
		return
	case f.op.Kind == OpDelete:
		s.now = nil
	case f.op.Kind == OpPatch:
		s.store(slices.Clone(s.now.Marks), f.op.Mark)
	default:
		s.store(f.marks, "")
	}
	f.applied = true
}

// What is decided about a lost write is true in every history: of creations,
// replacements, overwrites, patches and deletes, whose requests arrive at once,
// later or never, and whose writers know what they replace or don't.
func TestOutcomesAreTrueInEveryHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &simulated{}
		var none doubts
		number := map[int]int{}
		var open []*inFlight
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			w := rapid.IntRange(0, 120).Draw(t, "writer")
			number[w]++
			mark := fmt.Sprintf("w%d:%d", w, number[w])
			// Another repository's process resolves one write before it begins
			// the next; what one process does about two is in doubts' test.
			open = slices.DeleteFunc(open, func(f *inFlight) bool { return strings.HasPrefix(f.op.Mark, fmt.Sprintf("w%d:", w)) })
			f := &inFlight{op: Operation{Mark: mark}}
			kinds := []OperationKind{OpCreate, OpUpsert}
			if s.now != nil {
				kinds = append(kinds, OpReplace, OpReplace, OpReplace, OpPatch, OpDelete)
			}
			f.op.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
			switch f.op.Kind {
			case OpCreate:
				f.marks = []string{CreatedRoot + mark}
			case OpUpsert:
				f.marks = []string{OverwrittenRoot + mark}
			case OpReplace:
				f.op.ETag, f.marks = s.now.ETag, []string{OverwrittenRoot + mark}
				if rapid.Bool().Draw(t, "knows what it replaces") {
					before := *s.now
					f.op.Before, f.marks = &before, before.MarksOver(mark, &none)
				}
			case OpPatch, OpDelete:
				if rapid.Bool().Draw(t, "bound") {
					f.op.ETag = s.now.ETag
				}
			}
			if f.op.Kind == OpDelete {
				f.op.Mark = ""
			}
			if rapid.Bool().Draw(t, "arrives at once") {
				f.apply(s)
			}
			if f.op.Kind == OpDelete {
				continue
			}
			open = append(open, f)
			if late := rapid.SampledFrom(open).Draw(t, "arrives now"); !late.applied && rapid.IntRange(0, 3).Draw(t, "late") == 0 {
				late.apply(s)
			}
			for _, f := range open {
				now := map[string]*Marked{}
				if s.now != nil {
					now[f.op.ID] = s.now
				}
				switch o := outcomeOf([]Operation{f.op}, now, false); {
				case o == applied && !f.applied, o != applied && o != unknown && f.applied:
					t.Fatalf("outcome %d of %s (%s), applied %t", o, f.op.Mark, f.op.Kind, f.applied)
				case o == refused:
					before := f.applied
					probe := *s
					late := *f
					if late.apply(&probe); late.applied != before {
						t.Fatalf("%s was called refused and can still be applied", f.op.Mark)
					}
				}
			}
			if len(open) > 20 {
				open = open[1:]
			}
		}
	})
}

// A later write of the same process does not take the mark of an earlier one
// away whose answer is missing.
func TestAMarkInDoubtIsCarriedForward(t *testing.T) {
	t.Parallel()
	var open doubts
	lost := []Operation{{Mark: "w1:1"}}
	open.add(lost)
	d := &Marked{Marks: []string{"w1:1", "+w2:1"}}
	if got := d.MarksOver("w1:2", &open); !slices.Equal(got, []string{"w1:2", "w1:1", "+w2:1"}) {
		t.Errorf("with an answer missing: %v", got)
	}
	open.resolve(lost)
	if got := d.MarksOver("w1:2", &open); !slices.Equal(got, []string{"w1:2", "+w2:1"}) {
		t.Errorf("after it: %v", got)
	}
}

// One mark proves all operations of a batch, and nothing unmarked undoes that.
func TestOneMarkProvesTheBatch(t *testing.T) {
	t.Parallel()
	ops := []Operation{{Kind: OpPatch, ID: "a"}, {Kind: OpPatch, ID: "b", Mark: "w:1"}, {Kind: OpDelete, ID: "c"}}
	for name, row := range map[string]struct {
		now  map[string]*Marked
		want outcome
	}{
		"mark found":                       {map[string]*Marked{"a": {ETag: "x"}, "b": {Mark: "w:1"}, "c": {ETag: "new"}}, applied},
		"no mark":                          {map[string]*Marked{"a": {ETag: "x"}, "b": {ETag: "y"}}, unknown},
		"nothing there":                    {map[string]*Marked{}, unknown},
		"mark in the document of another":  {map[string]*Marked{"b": {Marks: []string{"v:9", "w:1"}}}, applied},
		"a mark that begins like this one": {map[string]*Marked{"b": {Mark: "w:11"}}, unknown},
	} {
		if got := outcomeOf(ops, row.now, false); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}
