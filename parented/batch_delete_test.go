package parented_test

import (
	"context"
	"maps"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

func TestBatchDeleteAppliesTheRules(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := plant(t, planting{client: emulatortest.Client(t), vote: parented.Cascade})
	note, other := g.tree(t, "acme", 5, 2), g.tree(t, "acme", 1, 1)
	acme := g.notes.In("acme")

	mustBe(t, acme.Batch().Replace(other).Delete(note.ID, `"stale"`).Commit(ctx), repository.ErrPreconditionFailed)
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 2, "Comment": 6, "Reply": 11}) {
		t.Fatalf("after a batch that failed: %v", stored)
	}
	other.Title = "changed with the delete"
	must(t, acme.Batch().Replace(other).Delete(note.ID, note.ETag).Commit(ctx))
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 1, "Comment": 1, "Reply": 1}) {
		t.Fatalf("after the batch: %v", stored)
	}
	got, err := acme.Get(ctx, other.ID)
	must(t, err)
	if got.Title != "changed with the delete" {
		t.Fatalf("the other half of the batch: %+v", got)
	}
	mustBe(t, acme.Batch().Delete(note.ID, "").Commit(ctx), repository.ErrNotFound)
}

func TestBatchDeleteRefusesWhereChildrenMayRestrict(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note := g.tree(t, "acme", 1, 1)
	mustBe(t, g.notes.In("acme").Batch().Delete(note.ID, "").Commit(ctx), repository.ErrInvalid)
	if stored := g.stored(t, "acme"); stored["Note"] != 1 {
		t.Fatalf("stored: %v", stored)
	}
}
