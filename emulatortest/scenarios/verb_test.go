package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

// verb is one call; have are the notes as they were read before it.
type verb struct {
	name string
	do   func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error
}

func verbs() []verb {
	return []verb{
		{"Create", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Create(ctx, note("new", "new", 1))
		}},
		{"Create without an id", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Create(ctx, &Note{Title: "new"})
		}},
		{"Replace", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = "changed"
			return notes.Replace(ctx, have["a"])
		}},
		{"Save, new", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Save(ctx, note("new", "new", 1))
		}},
		{"Save, changed", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = "changed"
			return notes.Save(ctx, have["a"])
		}},
		{"Upsert, new", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Upsert(ctx, note("new", "new", 1))
		}},
		{"Upsert, over another", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Upsert(ctx, note("a", "put", 1))
		}},
		{"Mutate", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Mutate(ctx, "a", func(n *Note) error { n.Count++; return nil })
			return err
		}},
		{"Patch, set", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Set("/title", "patched"))
			return err
		}},
		{"Patch, increment", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Increment("/count", 1))
			return err
		}},
		{"Patch, conditional", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Set("/title", "patched").If(repository.Eq("title", "old a")))
			return err
		}},
		{"Patch, append", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Set("/tags", []string{"x"}).Add("/tags/-", "y"))
			return err
		}},
		{"Patch, bound to an etag", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Increment("/count", 1).IfMatch(have["a"].ETag))
			return err
		}},
		{"Patch of ten edits", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			edits := repository.Increment("/count", 1)
			for i := range 9 {
				edits = edits.Set("/title", fmt.Sprint("patched ", i))
			}
			_, err := notes.Patch(ctx, "a", edits)
			return err
		}},
		{"Delete", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Delete(ctx, "a", nil)
		}},
		{"Delete with an etag", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			return notes.Delete(ctx, "a", &repository.DeleteOptions{ETag: have["a"].ETag})
		}},
		{"Batch", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["b"].Title = "changed"
			return notes.Batch().Create(note("new", "new", 1)).Replace(have["b"]).Delete("c", have["c"].ETag).Commit(ctx)
		}},
		{"Batch of patches", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Batch().Patch("a", repository.Increment("/count", 1)).Patch("b", repository.Increment("/count", 1)).Commit(ctx)
		}},
		{"Batch of a patch without a mark", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			edits := repository.Set("/title", "patched")
			for range 9 {
				edits = edits.Set("/title", "patched")
			}
			return notes.Batch().Patch("a", edits).Patch("b", repository.Increment("/count", 1)).Commit(ctx)
		}},
		{"Batch of a patch and a read", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			var read Note
			err := notes.Batch().Patch("a", repository.Increment("/count", 1)).Read("a", &read).Commit(ctx)
			if err == nil && read.Count != 1 {
				return fmt.Errorf("%w: the batch read %d", errUntrue, read.Count)
			}
			return err
		}},
		{"Batch of an upsert", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Batch().Upsert(note("a", "put", 1)).Save(note("new", "new", 1)).Commit(ctx)
		}},
		{"Batch of deletes", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Batch().Delete("a", "").Delete("b", "").Commit(ctx)
		}},
		{"partition.Commit", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["b"].Title = "changed"
			return partition.Commit(ctx, notes.Batch().Create(note("new", "new", 1)).Replace(have["b"]),
				notes.Batch().Patch("a", repository.Increment("/count", 1)))
		}},
		{"partition.Commit of patches without marks", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			edits := repository.Increment("/count", 1)
			for range 9 {
				edits = edits.Set("/title", "patched")
			}
			return partition.Commit(ctx, notes.Batch().Patch("a", edits), notes.Batch().Patch("b", edits))
		}},
	}
}

// errUntrue marks an answer that was wrong on the spot.
var errUntrue = errors.New("untrue answer")

// accounts are the shapes of an account, by which the SDK asks other regions or does not.
func accounts() map[string][]emulatortest.Option {
	return map[string][]emulatortest.Option{
		"one region":        nil,
		"two regions":       {emulatortest.WithRegions("West", "East")},
		"two write regions": {emulatortest.WithMultipleWriteRegions("West", "East")},
	}
}

// TestVerbsAreTrue: an error that is not ErrAmbiguous means that nothing was changed, and success that the change was made
// once, whatever becomes of a verb's requests.
func TestVerbsAreTrue(t *testing.T) {
	t.Parallel()
	for account, options := range accounts() {
		if options != nil && !inFull() {
			continue
		}
		for _, v := range verbs() {
			t.Run(account+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				s := trueVerb(v)
				s.Options = options
				explore(t, s)
			})
		}
	}
}

// TestARetryIsTrue: a caller that repeats a call for as long as [repository.IsRetryable] says so applies it once, or not at all. Its own answer
// is the last one.
func TestARetryIsTrue(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			explore(t, trueVerb(repeated(v)))
		})
	}
}

// repeated is a verb whose caller repeats it for as long as it may.
func repeated(v verb) verb {
	once := v.do
	v.do = func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
		for {
			if err := once(ctx, notes, have); !repository.IsRetryable(err) {
				return err
			}
		}
	}
	return v
}

// trueVerb compares what is there with what was there before the verb and with what an undisturbed run left.
func trueVerb(v verb) emulatortest.Scenario {
	var before, after []string
	return emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupNotes(w)
			var err error
			before, err = contents(w)
			must(w, err)
		},
		Actors: []emulatortest.Actor{{Name: "caller", Do: func(w *emulatortest.World) error {
			notes, have := notesOf(w), map[string]*Note{}
			w.Undisturbed(func() {
				for n, err := range notes.Query(w.Context(), repository.All()) {
					must(w, err)
					have[n.ID] = n
				}
			})
			err := v.do(w.Context(), notes, have)
			if errors.Is(err, errUntrue) {
				w.Error(err)
			}
			emulatortest.State[etags](w).held = map[string]string{}
			for id, n := range have {
				emulatortest.State[etags](w).held[id] = n.ETag
			}
			return err
		}}},
		Check: func(w *emulatortest.World) error {
			if err := heldEtags(w, v.name); err != nil {
				return err
			}
			now, err := contents(w)
			if err != nil {
				return err
			}
			now = withoutRandomIDs(now)
			if after == nil { // undisturbed
				after = now
			}
			told := w.Outcome("caller")
			unchanged, changed := slices.Equal(now, before), slices.Equal(now, after)
			switch {
			case told == nil && !changed:
				return fmt.Errorf("%s succeeded, and left\n  %s\ninstead of\n  %s", v.name, strings.Join(now, "\n  "), strings.Join(after, "\n  "))
			case !unchanged && !changed:
				return fmt.Errorf("%s returned %w, and left\n  %s\nwhich is neither what was there nor\n  %s", v.name, told, strings.Join(now, "\n  "), strings.Join(after, "\n  "))
			case told != nil && !errors.Is(told, emulatortest.ErrKilled) && !errors.Is(told, repository.ErrAmbiguous) && !unchanged:
				return fmt.Errorf("%s failed definitely (%w), and the change is there", v.name, told)
			}
			return nil
		},
	}
}

// etags are those of the caller's entities after its call.
type etags struct{ held map[string]string }

// heldEtags says whether an etag that the caller's entities carry is one of a document that looks otherwise: it would let the caller overwrite
// what it has not seen.
func heldEtags(w *emulatortest.World, name string) error {
	if w.Outcome("caller") != nil {
		return nil //nolint:nilerr // a call that failed holds no etag to compare
	}
	for id, etag := range emulatortest.State[etags](w).held {
		n, err := notesOf(w).Get(w.Context(), id)
		if errors.Is(err, repository.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		changed := etag != n.ETag
		if wasWritten := strings.HasPrefix(name, "Replace") || name == "Save, changed"; wasWritten && changed {
			return fmt.Errorf("%s succeeded, and its entity %s has etag %s where the document has %s", name, id, etag, n.ETag)
		}
	}
	return nil
}

// withoutRandomIDs takes the ids that Grove made out of the lines.
func withoutRandomIDs(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		id, rest, _ := strings.Cut(line, " ")
		if len(id) > 30 {
			id = "id"
		}
		out[i] = id + " " + rest
	}
	slices.Sort(out)
	return out
}

// TestALostAnswerIsFoundOut: a write that took effect, whose answer was lost, and which nobody wrote over, is reported as done: its mark, or that what it
// deletes was seen and is gone, proves it. What leaves no mark is ambiguous.
func TestALostAnswerIsFoundOut(t *testing.T) {
	t.Parallel()
	unmarked := []string{"Patch of ten edits", "partition.Commit of patches without marks", "Delete", "Delete with an etag", "Batch of deletes"}
	for _, v := range verbs() {
		if slices.Contains(unmarked, v.name) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s := trueVerb(v)
			check := s.Check
			s.Check = func(w *emulatortest.World) error {
				if err := w.Outcome("caller"); err != nil {
					return fmt.Errorf("%s took effect, and returned %w", v.name, err)
				}
				return check(w)
			}
			emulatortest.Explore(t, s, emulatortest.ExploreOptions{
				Budget: time.Nanosecond, Faults: kindsOf("cut-after", "refused-after", "timed-out-after"),
			})
		})
	}
}
