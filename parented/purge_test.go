package parented_test

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A reader of the change feed gets the latest version of a document: what is
// purged has to leave one that says so, or a delete would go unseen.
func TestAPurgeLeavesTheTombstonesThatPoliciesAskFor(t *testing.T) {
	t.Parallel()
	const keep, retain = time.Hour, 24 * time.Hour
	still := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		note, child parented.Policy
		now         func() time.Time
		want        map[string]int64
	}{
		"none":                     {note: parented.Policy{Retain: retain}, want: map[string]int64{}},
		"of the root":              {note: parented.Policy{Retain: retain, Tombstone: keep}, want: map[string]int64{"Note": 1}},
		"of the children":          {note: parented.Policy{Retain: retain}, child: parented.Policy{Tombstone: keep}, want: map[string]int64{"Comment": 3}},
		"of children kept longer":  {note: parented.Policy{Retain: retain}, child: parented.Policy{Tombstone: keep, Retain: 2 * retain}, want: map[string]int64{"Comment": 3}},
		"of both":                  {note: parented.Policy{Retain: retain, Tombstone: keep}, child: parented.Policy{Tombstone: keep}, want: map[string]int64{"Note": 1, "Comment": 3}},
		"by a clock that stands":   {note: parented.Policy{Retain: retain, Tombstone: keep}, child: parented.Policy{Tombstone: keep}, now: func() time.Time { return still }, want: map[string]int64{"Note": 1, "Comment": 3}},
		"longer than what is kept": {note: parented.Policy{Retain: time.Second, Tombstone: keep}, child: parented.Policy{Tombstone: keep}, want: map[string]int64{"Note": 1, "Comment": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			emulator := emulatortest.New(t)
			g := plant(t, planting{client: emulator.Client(nil), note: test.note, child: test.child, config: parented.ForestConfig{PageSize: 2, Now: test.now}})
			acme := g.notes.In("acme")
			note := g.tree(t, "acme", 3, 2)
			comment, err := g.comments.Under(note).First(ctx, repository.All())
			must(t, err)
			must(t, acme.Delete(ctx, note.ID, nil))
			if name == "longer than what is kept" {
				emulator.Clock().Advance(time.Minute)
				if stored := g.stored(t, "acme"); stored["Note"] != 1 || stored["Comment"] != 3 {
					t.Fatalf("a minute after the delete: %v; the feed's readers had no time", stored)
				}
			}
			must(t, acme.Purge(ctx, note.ID))

			if stored := g.stored(t, "acme"); !maps.Equal(stored, test.want) {
				t.Fatalf("stored: %v, want %v", stored, test.want)
			}
			for _, raw := range g.documents(t, "acme") {
				mustBeTombstone(t, raw, keep)
			}
			if n := g.visible(t, "acme"); n != 0 {
				t.Fatalf("%d documents are visible", n)
			}
			_, err = acme.Get(ctx, note.ID)
			mustBe(t, err, repository.ErrNotFound)
			mustBe(t, acme.Restore(ctx, note.ID), repository.ErrNotFound)
			mustBe(t, acme.Purge(ctx, note.ID), repository.ErrNotFound)
			mustBe(t, acme.Delete(ctx, note.ID, nil), repository.ErrNotFound)
			mustBe(t, g.comments.Under(note).Create(ctx, &Comment{}), repository.ErrDanglingRef)

			again := &Note{Title: "again"}
			again.ID = note.ID
			must(t, acme.Create(ctx, again))
			reply := &Comment{Body: "again"}
			reply.ID = comment.ID
			must(t, g.comments.Under(again).Create(ctx, reply))
			emulator.Clock().Advance(keep + time.Second)
			if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 1, "Comment": 1}) {
				t.Fatalf("when the tombstones have expired: %v, want the documents that took the ids", stored)
			}
		})
	}
}

// A leaf is purged like a tree.
func TestAPurgedLeafLeavesItsTombstone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	emulator := emulatortest.New(t)
	g := plant(t, planting{client: emulator.Client(nil), label: parented.Policy{Retain: 24 * time.Hour, Tombstone: time.Hour}})
	note := g.tree(t, "acme", 0, 0)
	label := &Label{}
	must(t, g.labels.Under(note).Create(ctx, label))
	must(t, g.labels.Under(note).Delete(ctx, label.ID, nil))
	must(t, g.labels.In("acme").Purge(ctx, label.ID))
	mustBe(t, g.labels.In("acme").Purge(ctx, label.ID), repository.ErrNotFound)
	mustBe(t, g.labels.In("acme").Restore(ctx, label.ID), repository.ErrNotFound)
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	for _, raw := range g.documents(t, "acme") {
		mustBeTombstone(t, raw, time.Hour)
	}
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Label": 1}) {
		t.Fatalf("stored: %v, want the label's tombstone", stored)
	}
}

func mustBeTombstone(t testing.TB, raw []byte, keep time.Duration) {
	t.Helper()
	var doc struct {
		tenantitem.Meta
		Journal *engine.Journal `json:"_deletion"`
	}
	must(t, json.Unmarshal(raw, &doc))
	if doc.DeletedAt == nil || doc.TTL == nil || *doc.TTL != int(keep/time.Second) || doc.Journal != nil {
		t.Fatalf("%s %s is no tombstone of %v: deletedAt %v, ttl %v, journal %v", doc.EntityType, doc.ID, keep, doc.DeletedAt, doc.TTL, doc.Journal)
	}
}

// A purge that was begun has perhaps removed a part of the tree already, so it
// can't be turned into a restore; it can only be finished.
func TestAPurgeThatWasBegunCannotBeRestored(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	emulator := emulatortest.New(t)
	p := planting{client: emulator.Client(nil), note: parented.Policy{Retain: time.Hour, Tombstone: time.Hour}, config: parented.ForestConfig{PageSize: 1}}
	g := plant(t, p)
	refused := 0
	for n := firstOwnRequest; ; n++ {
		note := g.tree(t, "acme", 2, 1)
		must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
		purge := func(ctx context.Context, g grove) error { return g.notes.In("acme").Purge(ctx, note.ID) }
		ended := dyingAt(t, emulator, p, n, true, purge)
		switch err := g.notes.In("acme").Restore(ctx, note.ID); err {
		case nil:
			if got := g.visible(t, "acme"); got != 5 {
				t.Fatalf("dead at request %d: a part of the tree was restored: %d documents of 5", n, got)
			}
			must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
		default:
			mustBe(t, err, repository.ErrNotFound)
			refused++
		}
		if _, err := g.forest.Resume(ctx, "acme"); err != nil {
			t.Fatal(err)
		}
		if ended {
			break
		}
	}
	if refused < 5 {
		t.Fatalf("only %d deaths left a purge that was begun", refused)
	}
}
