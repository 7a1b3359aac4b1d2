package parented_test

import (
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

// A patch does not look at parents, so it can't name another one: alone and in a batch.
func TestAPatchNamesNoOtherParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := setup(t)
	note, other := g.tree(t, "acme", 1, 0), g.tree(t, "acme", 0, 0)
	comment, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	label := &Label{Text: "x"}
	must(t, g.labels.Under(note).Create(ctx, label))
	for name, edits := range map[string]repository.Edits{ //nolint:paralleltest // the comment is looked at after them
		"a parent that is not there":    repository.Edits{}.Set("/parentId", "nosuch"),
		"one that is there":             repository.Edits{}.Set("/parentId", other.ID),
		"none":                          repository.Edits{}.Set("/parentId", ""),
		"an added one":                  repository.Edits{}.Add("/parentId", other.ID),
		"without the field":             repository.Edits{}.Remove("/parentId"),
		"a parent of another type":      repository.Edits{}.Set("/parentEntityType", "Label"),
		"behind another edit of a body": repository.Edits{}.Set("/body", "x").Set("/parentId", other.ID),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := g.comments.Items().In("acme").Patch(ctx, comment.ID, edits)
			mustBe(t, err, repository.ErrInvalid)
			mustBe(t, g.comments.In("acme").Batch().Patch(comment.ID, edits).Commit(ctx), repository.ErrInvalid)
			_, err = g.labels.In("acme").Patch(ctx, label.ID, edits)
			mustBe(t, err, repository.ErrInvalid)
		})
	}
	now, err := g.comments.In("acme").Get(ctx, comment.ID)
	must(t, err)
	if now.ParentID != note.Ref() || now.ETag != comment.ETag {
		t.Errorf("the comment changed: %+v", now)
	}
}
