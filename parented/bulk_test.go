package parented_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

func TestBulkLooksAtParentsOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note := g.tree(t, "acme", 0, 0)
	children := make([]*Comment, 301)
	for i := range children {
		children[i] = &Comment{}
		children[i].ParentID = note.Ref()
	}
	children[150].ParentID = "nobody"
	tallied, tally := repository.WithTally(ctx)
	receipt, err := g.comments.In("acme").SaveAll(tallied, slices.Values(children), nil)
	if receipt == nil || receipt.Succeeded != 300 || receipt.Failed != 1 || !errors.Is(receipt.Items[150].Err, repository.ErrDanglingRef) {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if n := g.stored(t, "acme")["Comment"]; n != 300 || tally.Requests() > 40 {
		t.Errorf("%d stored in %d requests", n, tally.Requests())
	}
	ids := make([]string, 0, 300)
	for c, err := range g.comments.Under(note).Query(ctx, repository.All()) {
		must(t, err)
		ids = append(ids, c.ID)
	}
	mustBe(t, g.replies.UnderID("acme", "nobody").Create(ctx, &Reply{}), repository.ErrDanglingRef)
	if _, err := g.comments.In("acme").DeleteAll(ctx, slices.Values(ids), nil); err != nil || len(g.stored(t, "acme")) != 1 {
		t.Errorf("after DeleteAll: %v, %v", g.stored(t, "acme"), err)
	}
}
