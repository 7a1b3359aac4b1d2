package parented_test

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// keptLines are lines whose buckets are kept for a while when they are deleted.
func (g grove) keptLines(t testing.TB, capacity int, policy parented.Policy) *parented.Buckets[Line, Note] {
	t.Helper()
	container, err := g.database.NewContainer("items")
	must(t, err)
	cfg := parented.BucketConfig{Capacity: capacity}
	cfg.EntityType, cfg.Rule, cfg.Policy = "LineBucket", parented.Cascade, policy
	buckets, err := parented.NewBuckets[Line](g.forest, g.notes, container, cfg)
	must(t, err)
	return buckets
}

func appendLines(t testing.TB, under *parented.Entries[Line, Note], n int) {
	t.Helper()
	for i := range n {
		_, err := under.Append(context.Background(), Line{Number: i})
		must(t, err)
	}
}

func countLines(t testing.TB, under *parented.Entries[Line, Note], want int64) {
	t.Helper()
	n, err := under.Count(context.Background())
	must(t, err)
	if n != want {
		t.Errorf("%d lines, want %d", n, want)
	}
}

// A delete of the tree that has begun refuses appends, also before it has come to the buckets; nothing is acknowledged that it then takes.
func TestAppendsUnderATreeWhoseDeleteHasBegun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	lines := g.lines(t, 2)
	note := g.tree(t, "acme", 0, 0)
	under := lines.Under(note)
	appendLines(t, under, 1)
	// The process that deletes has written its mark, and died.
	container, err := g.database.NewContainer("items")
	must(t, err)
	var ops azcosmos.PatchOperations
	ops.AppendSet("/deletedAt", "2026-01-02T03:04:05Z")
	ops.AppendSet("/ttl", -1)
	ops.AppendSet("/_deletion", map[string]any{"phase": "removing", "run": "r"})
	_, err = container.PatchItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Note"), note.ID, ops, nil)
	must(t, err)
	_, err = under.Append(ctx, Line{Number: 1})
	mustBe(t, err, repository.ErrDanglingRef)
	_, err = g.forest.Resume(ctx, "acme")
	must(t, err)
	countLines(t, under, 0)
}

// Appends go on after the newest bucket, or each bucket, was deleted, softly or with a tombstone, in this process and another.
func TestAppendsAfterTheNewestBucketWasDeleted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, policy := range map[string]parented.Policy{
		"at once": {}, "softly": {Retain: time.Hour}, "with a tombstone": {Tombstone: time.Hour},
	} {
		for _, all := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := setup(t)
				lines := g.keptLines(t, 2, policy)
				note := g.tree(t, "acme", 0, 0)
				under := lines.Under(note)
				appendLines(t, under, 6)
				elsewhere := open(t, g.database, planting{}).keptLines(t, 2, policy).Under(note)
				left := int64(0)
				for b, err := range lines.Documents().Under(note).Query(ctx, repository.All()) {
					must(t, err)
					if !all && b.Seq < 2 {
						left += 2
						continue
					}
					must(t, lines.Documents().Under(note).Delete(ctx, b.ID, nil))
				}
				appendLines(t, under, 3)
				appendLines(t, elsewhere, 3)
				countLines(t, under, left+6)
				next := -1
				for b, err := range lines.Documents().Under(note).Query(ctx, repository.All().OrderBy("seq")) {
					must(t, err)
					if b.Seq <= next || len(b.Entries) > 2 {
						t.Errorf("bucket %d with %d lines behind %d", b.Seq, len(b.Entries), next)
					}
					next = b.Seq
				}
			})
		}
	}
}

// A new tree that takes the id of one that was deleted begins with no lines, and appends work.
func TestAppendsUnderANewTreeWithAFormerID(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, policy := range map[string]parented.Policy{
		"at once": {}, "softly": {Retain: time.Hour}, "with a tombstone": {Tombstone: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := plant(t, planting{client: emulatortest.Client(t), note: policy})
			lines := g.keptLines(t, 2, policy)
			note := g.tree(t, "acme", 0, 0)
			under := lines.Under(note)
			appendLines(t, under, 5)
			must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
			again := &Note{Title: "again"}
			again.ID = note.ID
			must(t, g.notes.In("acme").Create(ctx, again))
			elsewhere := open(t, g.database, planting{note: policy}).keptLines(t, 2, policy).Under(again)
			appendLines(t, under, 3)
			appendLines(t, elsewhere, 3)
			countLines(t, under, 6)
		})
	}
}
