package parented_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A restore and a purge die at every single request, and are finished by being
// repeated or by Resume. To die after one request is to die before the next. What dies before its first write has left the soft
// delete as it was.
func TestARestoreOrPurgeThatDiesAnywhereCanBeFinished(t *testing.T) {
	t.Parallel()
	const keep = time.Hour
	whole := map[string]int64{"Note": 1, "Comment": 3, "Reply": 3}
	restore := func(ctx context.Context, g grove, id string) error { return g.notes.In("acme").Restore(ctx, id) }
	purge := func(ctx context.Context, g grove, id string) error { return g.notes.In("acme").Purge(ctx, id) }
	for name, test := range map[string]struct {
		verb        func(context.Context, grove, string) error
		note, child time.Duration // tombstones
		done        error         // what the verb says where it was carried out before
		visible     int64
		stored      map[string]int64
	}{
		"restore":                         {verb: restore, done: repository.ErrConflict, visible: 7, stored: whole},
		"purge":                           {verb: purge, done: repository.ErrNotFound, stored: map[string]int64{}},
		"purge, with the children's":      {verb: purge, child: keep, done: repository.ErrNotFound, stored: map[string]int64{"Comment": 3}},
		"purge, with tombstones all over": {verb: purge, note: keep, child: keep, done: repository.ErrNotFound, stored: map[string]int64{"Note": 1, "Comment": 3}},
	} {
		for _, resume := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resumed: %t", name, resume), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				emulator := processes(t)
				p := planting{
					client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 2},
					note:  parented.Policy{Retain: time.Hour, Tombstone: test.note},
					child: parented.Policy{Tombstone: test.child},
				}
				g := plant(t, p)
				finished := 0
				for n := firstOwnRequest; ; n++ {
					note := g.tree(t, "acme", 3, 1)
					must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
					ended := dyingAt(t, emulator, p, n, true, func(ctx context.Context, g grove) error { return test.verb(ctx, g, note.ID) })
					if resume {
						resumed, err := g.forest.Resume(ctx, "acme")
						must(t, err)
						finished += resumed.Finished
						if again, err := g.forest.Resume(ctx); err != nil || again != (parented.Resumed{}) {
							t.Fatalf("dead at request %d: a second Resume found %+v, %v", n, again, err)
						}
					}
					if err := test.verb(ctx, g, note.ID); !errors.Is(err, test.done) && (err != nil || ended) {
						t.Fatalf("dead at request %d: repeated, it says %v", n, err)
					}
					if got := g.visible(t, "acme"); got != test.visible {
						t.Fatalf("dead at request %d: %d documents are visible, want %d", n, got, test.visible)
					}
					if got := g.stored(t, "acme"); !maps.Equal(got, test.stored) {
						t.Fatalf("dead at request %d: stored %v, want %v", n, got, test.stored)
					}
					if test.visible == 0 {
						for _, raw := range g.documents(t, "acme") {
							mustBeTombstone(t, raw, keep)
						}
					} else {
						must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
					}
					emulator.Clock().Advance(3 * time.Hour) // the way is clear for the next round
					if got := g.stored(t, "acme"); len(got) != 0 {
						t.Fatalf("dead at request %d: three hours later there is %v", n, got)
					}
					if ended {
						break
					}
				}
				if resume && finished < 5 {
					t.Fatalf("Resume finished %d only", finished)
				}
			})
		}
	}
}

// What a restore leaves in a document tells late steps of the delete that they are over, and
// how far other processes had come. Every write that knows the version it replaces keeps it.
func TestAReplacementKeepsWhatTheRestoreLeft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := plant(t, planting{client: emulatortest.Client(t), note: parented.Policy{Retain: time.Hour}})
	note := g.tree(t, "acme", 1, 0)
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	must(t, g.notes.In("acme").Restore(ctx, note.ID))
	left := func() *engine.Journal {
		outline, err := engine.CollectionOf(g.notes).Outline(ctx, "acme", nil, note.ID)
		must(t, err)
		return outline.Journal
	}
	want := left()
	if want == nil || want.RolledBack == "" || len(want.Sessions) == 0 {
		t.Fatalf("the restore left %+v", want)
	}
	for name, write := range map[string]func(*Note) error{
		"Replace": func(n *Note) error { return g.notes.In("acme").Replace(ctx, n) },
		"Save":    func(n *Note) error { return g.notes.In("acme").Save(ctx, n) },
		"Mutate": func(n *Note) error {
			_, err := g.notes.In("acme").Mutate(ctx, n.ID, func(n *Note) error { n.Title += "!"; return nil })
			return err
		},
		"Patch": func(n *Note) error {
			_, err := g.notes.In("acme").Patch(ctx, n.ID, repository.Set("/title", "patched"))
			return err
		},
		"Batch": func(n *Note) error { return g.notes.In("acme").Batch().Replace(n).Commit(ctx) },
		"SaveAll": func(n *Note) error {
			_, err := g.notes.In("acme").SaveAll(ctx, slices.Values([]*Note{n}), nil)
			return err
		},
	} {
		n, err := g.notes.In("acme").Get(ctx, note.ID)
		must(t, err)
		n.Title = name
		must(t, write(n))
		if got := left(); !reflect.DeepEqual(got, want) {
			t.Errorf("after %s the document has %+v, want %+v", name, got, want)
		}
		if name == "Replace" {
			n.Title = "twice" // what was written just now knows it too
			must(t, g.notes.In("acme").Replace(ctx, n))
			if got := left(); !reflect.DeepEqual(got, want) {
				t.Errorf("after a second Replace the document has %+v, want %+v", got, want)
			}
		}
	}
}
