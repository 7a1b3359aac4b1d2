package parented_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

func TestTombstonesAreHiddenAndExpire(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	emulator := emulatortest.New(t)
	g := plant(t, planting{client: emulator.Client(nil), child: parented.Policy{Tombstone: time.Hour}})
	note := g.tree(t, "acme", 3, 1)
	c, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	must(t, g.comments.Under(note).Delete(ctx, c.ID, nil))
	if n, err := g.comments.In("acme").Count(ctx, repository.All()); err != nil || n != 2 {
		t.Fatalf("visible: %d, %v", n, err)
	}
	_, err = g.comments.In("acme").Get(ctx, c.ID)
	mustBe(t, err, repository.ErrNotFound)
	mustBe(t, g.comments.In("acme").Delete(ctx, c.ID, nil), repository.ErrNotFound)
	_, err = g.comments.In("acme").Patch(ctx, c.ID, repository.Set("/body", "back"))
	mustBe(t, err, repository.ErrNotFound)
	mustBe(t, g.comments.In("acme").Save(ctx, c), repository.ErrPreconditionFailed)

	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Comment": 3}) {
		t.Fatalf("stored: %v, want the tombstones of three comments", stored)
	}
	emulator.Clock().Advance(time.Hour + time.Second)
	if stored := g.stored(t, "acme"); len(stored) != 0 {
		t.Fatalf("after an hour: %v", stored)
	}
}

func TestSoftDeletesKeepTheWholeTree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	emulator := emulatortest.New(t)
	g := plant(t, planting{client: emulator.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}})
	acme := g.notes.In("acme")
	note, other := g.tree(t, "acme", 3, 2), g.tree(t, "acme", 1, 1)
	ttl := 7 * 24 * 3600
	note.TTL = &ttl
	must(t, acme.Save(ctx, note))
	comments, err := g.comments.Under(note).Page(ctx, repository.All(), repository.PageOptions{})
	must(t, err)
	gone := comments.Items[0]
	must(t, g.comments.Under(note).Delete(ctx, gone.ID, nil)) // for good: only notes are soft
	before := g.visible(t, "acme")

	mustBe(t, acme.Restore(ctx, note.ID), repository.ErrConflict)
	mustBe(t, acme.Purge(ctx, note.ID), repository.ErrConflict)
	must(t, acme.Delete(ctx, note.ID, nil))
	if n := g.visible(t, "acme"); n != 3 {
		t.Fatalf("%d visible, want the other note's tree", n)
	}
	mustBe(t, acme.Delete(ctx, note.ID, nil), repository.ErrNotFound)
	mustBe(t, g.comments.Under(note).Create(ctx, &Comment{}), repository.ErrDanglingRef)

	must(t, acme.Restore(ctx, note.ID))
	if n := g.visible(t, "acme"); n != before {
		t.Fatalf("%d visible after Restore, want %d", n, before)
	}
	back, err := acme.Get(ctx, note.ID)
	must(t, err)
	if back.TTL == nil || *back.TTL != ttl || back.Deleted() || back.Title != "root" {
		t.Fatalf("restored: %+v", back)
	}
	if n, err := g.comments.Under(note).Count(ctx, repository.All()); err != nil || n != 2 {
		t.Fatalf("comments: %d, %v", n, err)
	}

	must(t, acme.Delete(ctx, note.ID, nil))
	must(t, acme.Purge(ctx, note.ID))
	mustBe(t, acme.Restore(ctx, note.ID), repository.ErrNotFound)
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 1, "Comment": 1, "Reply": 1}) {
		t.Fatalf("after Purge: %v", stored)
	}

	must(t, acme.Delete(ctx, other.ID, nil))
	emulator.Clock().Advance(24*time.Hour + time.Second)
	mustBe(t, acme.Restore(ctx, other.ID), repository.ErrNotFound)
	emulator.Clock().Advance(time.Hour)
	if stored := g.stored(t, "acme"); len(stored) != 0 {
		t.Fatalf("after a day and an hour: %v", stored)
	}
}

func TestAnIDCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	emulator := emulatortest.New(t)
	p := planting{client: emulator.Client(nil), note: parented.Policy{Retain: time.Hour}}
	g := plant(t, p)
	acme := g.notes.In("acme")
	note := g.tree(t, "acme", 2, 1)
	mustBe(t, acme.Create(ctx, &Note{TenantItem: note.TenantItem, Title: "taken"}), repository.ErrConflict)
	must(t, acme.Delete(ctx, note.ID, nil))

	again := &Note{Title: "again"}
	again.ID = note.ID
	must(t, acme.Create(ctx, again))
	got, err := acme.Get(ctx, note.ID)
	must(t, err)
	if got.Title != "again" || got.ETag != again.ETag || got.TTL != nil {
		t.Fatalf("created again: %+v", got)
	}
	if n, err := g.comments.Under(again).Count(ctx, repository.All()); err != nil || n != 0 {
		t.Fatalf("the new note has %d of the old one's comments, %v", n, err)
	}
	mustBe(t, acme.Restore(ctx, note.ID), repository.ErrConflict)

	// A delete that died half-way is finished before its id is used again.
	plain := planting{client: p.client}
	h := open(t, g.database, plain)
	half := h.tree(t, "acme", 2, 1)
	dyingAt(t, emulator, plain, 8, false, func(ctx context.Context, g grove) error { return g.notes.In("acme").Delete(ctx, half.ID, nil) })
	fresh := &Note{Title: "fresh"}
	fresh.ID = half.ID
	must(t, h.notes.In("acme").Create(ctx, fresh))
	if n, err := h.comments.Under(fresh).Count(ctx, repository.All()); err != nil || n != 0 {
		t.Fatalf("comments under the new note: %d, %v", n, err)
	}
}
