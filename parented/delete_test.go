package parented_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

func TestCreateUnderAParent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note := g.tree(t, "acme", 0, 0)

	c := &Comment{Body: "first"}
	must(t, g.comments.Under(note).Create(ctx, c))
	if c.ParentID != note.Ref() || c.ParentEntityType != "Note" || c.TenantID != "acme" || c.ETag == "" {
		t.Fatalf("after Create: %+v", c)
	}
	got, err := g.comments.Under(note).Get(ctx, c.ID)
	must(t, err)
	if got.Body != "first" || got.ParentID != note.Ref() {
		t.Fatalf("read back: %+v", got)
	}
	got.Body = "changed"
	must(t, g.comments.In("acme").Save(ctx, got))

	other := g.tree(t, "acme", 1, 0)
	_, err = g.comments.Under(other).Get(ctx, c.ID)
	mustBe(t, err, repository.ErrNotFound)
	mustBe(t, g.comments.Under(other).Delete(ctx, c.ID, nil), repository.ErrNotFound)
	mustBe(t, g.comments.Under(other).Create(ctx, c), repository.ErrInvalid)

	err = g.comments.UnderID("acme", "nobody").Create(ctx, &Comment{})
	mustBe(t, err, repository.ErrDanglingRef)
	var dangling *parented.DanglingError
	if !errors.As(err, &dangling) || dangling.Field != "parentId" || dangling.ID != "nobody" || dangling.EntityType != "Note" {
		t.Fatalf("the error names %+v", dangling)
	}
	mustBe(t, g.comments.UnderID("globex", note.Ref()).Create(ctx, &Comment{}), repository.ErrDanglingRef)
	mustBe(t, g.comments.In("acme").Create(ctx, &Comment{Body: "no parent"}), repository.ErrDanglingRef)
	mustBe(t, g.comments.UnderID("acme", "a/b").Create(ctx, &Comment{}), repository.ErrInvalid)
	mustBe(t, g.comments.Under(nil).Create(ctx, &Comment{}), repository.ErrInvalid)
	mustBe(t, g.comments.Under(note).Create(ctx, nil), repository.ErrInvalid)
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 2, "Comment": 2}) {
		t.Fatalf("stored: %v", stored)
	}
}

func TestReadUnderAParent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note, other := g.tree(t, "acme", 7, 0), g.tree(t, "acme", 3, 0)
	if n, err := g.comments.Under(note).Count(ctx, repository.All()); err != nil || n != 7 {
		t.Fatalf("count: %d, %v", n, err)
	}
	var bodies []string
	for c, err := range g.comments.Under(note).Query(ctx, repository.Where(repository.Gt("body", "c3")).OrderBy("body")) {
		must(t, err)
		bodies = append(bodies, c.Body)
	}
	if len(bodies) != 3 || bodies[0] != "c4" || bodies[2] != "c6" {
		t.Fatalf("query: %v", bodies)
	}
	page, err := g.comments.Under(note).Page(ctx, repository.All().OrderBy("body"), repository.PageOptions{Size: 5})
	must(t, err)
	if len(page.Items) != 5 || page.Cursor == "" {
		t.Fatalf("page: %d items, cursor %q", len(page.Items), page.Cursor)
	}
	_, err = g.comments.Under(other).Page(ctx, repository.All().OrderBy("body"), repository.PageOptions{Size: 5, Cursor: page.Cursor})
	mustBe(t, err, repository.ErrInvalid)
	rest, err := g.comments.Under(note).Page(ctx, repository.All().OrderBy("body"), repository.PageOptions{Size: 5, Cursor: page.Cursor})
	must(t, err)
	if len(rest.Items) != 2 || rest.Cursor != "" {
		t.Fatalf("last page: %d items, cursor %q", len(rest.Items), rest.Cursor)
	}
	first, err := g.comments.Under(other).First(ctx, repository.All().OrderByDesc("body"))
	must(t, err)
	if first.Body != "c2" {
		t.Fatalf("first: %q", first.Body)
	}
}

func TestCascadeTakesTheWholeTree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note, other := g.tree(t, "acme", 12, 3), g.tree(t, "acme", 2, 2)
	label := &Label{Text: "kept"}
	must(t, g.labels.Under(note).Create(ctx, label))

	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 1, "Comment": 2, "Reply": 4, "Label": 1}) {
		t.Fatalf("stored: %v", stored)
	}
	kept, err := g.labels.In("acme").Get(ctx, label.ID)
	must(t, err)
	if kept.ParentID != "" || kept.ParentEntityType != "Note" || kept.Text != "kept" {
		t.Fatalf("orphan: %+v", kept)
	}
	kept.Text = "edited"
	must(t, g.labels.In("acme").Save(ctx, kept))
	must(t, g.labels.Move(ctx, "acme", label.ID, other.Ref()))
	if n, err := g.labels.Under(other).Count(ctx, repository.All()); err != nil || n != 1 {
		t.Fatalf("after Move: %d, %v", n, err)
	}

	mustBe(t, g.notes.In("acme").Delete(ctx, note.ID, nil), repository.ErrNotFound)
	mustBe(t, g.comments.UnderID("acme", note.Ref()).Create(ctx, &Comment{}), repository.ErrDanglingRef)
	mustBe(t, g.notes.In("acme").Delete(ctx, other.ID, &repository.DeleteOptions{ETag: `"stale"`}), repository.ErrPreconditionFailed)
	_, err = g.notes.In("acme").Get(ctx, other.ID)
	must(t, err)
}

func TestDeleteOfAChildTakesItsChildren(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note := g.tree(t, "acme", 2, 3)
	c, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	must(t, g.comments.Under(note).Delete(ctx, c.ID, nil))
	if stored := g.stored(t, "acme"); !maps.Equal(stored, map[string]int64{"Note": 1, "Comment": 1, "Reply": 3}) {
		t.Fatalf("stored: %v", stored)
	}
}

func TestRestrictForbidsFromFarBelow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note := g.tree(t, "acme", 3, 2)
	c, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	for range 2 {
		must(t, g.votes.Under(c).Create(ctx, &Vote{Up: true}))
	}
	before := g.stored(t, "acme")

	for _, del := range []func() error{
		func() error { return g.notes.In("acme").Delete(ctx, note.ID, nil) },
		func() error { return g.comments.In("acme").Delete(ctx, c.ID, nil) },
	} {
		err := del()
		mustBe(t, err, repository.ErrHasChildren)
		var children *parented.ChildrenError
		if !errors.As(err, &children) || !maps.Equal(children.Counts, map[string]int64{"Vote": 2}) {
			t.Fatalf("counts: %v", children)
		}
	}
	if after := g.stored(t, "acme"); !maps.Equal(before, after) {
		t.Fatalf("before %v, after %v", before, after)
	}
	plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
	must(t, err)
	if !maps.Equal(plan.Removed, map[string]int64{"Note": 1, "Comment": 3, "Reply": 6}) || plan.Restricting["Vote"] != 2 || plan.RequestUnits < 100 {
		t.Fatalf("plan: %+v", plan)
	}

	votes, err := g.votes.Under(c).Page(ctx, repository.All(), repository.PageOptions{})
	must(t, err)
	for _, v := range votes.Items {
		must(t, g.votes.Under(c).Delete(ctx, v.ID, nil))
	}
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	if stored := g.stored(t, "acme"); len(stored) != 0 {
		t.Fatalf("stored: %v", stored)
	}
}

func TestPlanDeletePromisesWhatDeleteDoes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	note := g.tree(t, "acme", 4, 5)
	must(t, g.labels.Under(note).Create(ctx, &Label{}))
	plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
	must(t, err)
	if !maps.Equal(plan.Removed, g.without(t, "acme", "Label")) || plan.Orphaned["Label"] != 1 || len(plan.Restricting) != 0 {
		t.Fatalf("plan: %+v", plan)
	}
	tallied, tally := repository.WithTally(ctx)
	must(t, g.notes.In("acme").Delete(tallied, note.ID, nil))
	if spent := tally.RequestUnits(); spent > 3*plan.RequestUnits || spent < plan.RequestUnits/3 {
		t.Errorf("the plan says %.0f RU, the delete cost %.0f", plan.RequestUnits, spent)
	}
	_, err = g.notes.In("acme").PlanDelete(ctx, note.ID)
	mustBe(t, err, repository.ErrNotFound)
}

func (g grove) without(t testing.TB, tenant, entityType string) map[string]int64 {
	out := g.stored(t, tenant)
	delete(out, entityType)
	return out
}

// A delete with a plan does what the plan showed, or less. What came since, at any depth and under any
// rule, is a refusal that names it and changes nothing.
func TestADeleteWithAPlanTakesNoMoreThanItShowed(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		name string
		grow func(ctx context.Context, g grove, n *Note, c *Comment) error
		want map[string]int64 // what is found too many
	}{
		{"a child", func(ctx context.Context, g grove, n *Note, _ *Comment) error {
			return g.comments.Under(n).Create(ctx, &Comment{})
		}, map[string]int64{"Comment": 3}},
		{"a grandchild", func(ctx context.Context, g grove, _ *Note, c *Comment) error {
			return g.replies.Under(c).Create(ctx, &Reply{})
		}, map[string]int64{"Reply": 3}},
		{"one that loses its parent", func(ctx context.Context, g grove, n *Note, _ *Comment) error {
			return g.labels.Under(n).Create(ctx, &Label{})
		}, map[string]int64{"Label": 1}},
		{"nothing", func(context.Context, grove, *Note, *Comment) error { return nil }, nil},
		{"less", func(ctx context.Context, g grove, _ *Note, c *Comment) error {
			return g.comments.In("acme").Delete(ctx, c.ID, nil)
		}, nil},
		{"as many, and others", func(ctx context.Context, g grove, n *Note, c *Comment) error {
			return errors.Join(g.comments.In("acme").Delete(ctx, c.ID, nil), g.comments.Under(n).Create(ctx, &Comment{}))
		}, nil},
	} {
		for _, policy := range []parented.Policy{{}, {Retain: time.Hour}} {
			t.Run(fmt.Sprint(v.name, ", retain ", policy.Retain), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				g := plant(t, planting{client: emulatortest.Client(t), note: policy, vote: parented.Cascade})
				note := g.tree(t, "acme", 2, 1)
				c, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
				must(t, err)
				must(t, v.grow(ctx, g, note, c))
				before := g.visible(t, "acme")

				err = g.notes.In("acme").Delete(ctx, note.ID, &repository.DeleteOptions{Plan: plan.Token})
				if v.want == nil {
					must(t, err)
					if left := g.visible(t, "acme"); left != 0 {
						t.Errorf("%d documents are left", left)
					}
					return
				}
				mustBe(t, err, repository.ErrPreconditionFailed)
				var grown *parented.PlanChangedError
				if !errors.As(err, &grown) || !maps.Equal(grown.Found, v.want) {
					t.Errorf("%v, want %v to be found", err, v.want)
				}
				if after := g.visible(t, "acme"); after != before {
					t.Errorf("%d documents are visible, %d were", after, before)
				}
			})
		}
	}
}

func TestAPlansTokenIsForItsDocument(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := setup(t)
	one, other := g.tree(t, "acme", 1, 0), g.tree(t, "acme", 0, 0)
	plan, err := g.notes.In("acme").PlanDelete(ctx, one.ID)
	must(t, err)
	for _, token := range []string{plan.Token, "?", "e30", plan.Token[:10]} {
		mustBe(t, g.notes.In("acme").Delete(ctx, other.ID, &repository.DeleteOptions{Plan: token}), repository.ErrInvalid)
	}
	mustBe(t, g.notes.In("globex").Delete(ctx, one.ID, &repository.DeleteOptions{Plan: plan.Token}), repository.ErrInvalid)
}
