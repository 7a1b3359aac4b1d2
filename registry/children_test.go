package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// A delete of the parent takes its children with it, in an application that
// did no more than register both.
func TestChildrenGoWithTheirParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var (
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
		tenants  *registry.Tenants
	)
	app := fxtest.New(t,
		supply(emulatortest.Client(t)),
		registry.Module(sharedConfig("children")),
		registry.Entity[Note](),
		registry.Child[Comment, Note](parented.Cascade),
		fx.Populate(&notes, &comments, &tenants),
	)
	app.RequireStart()
	defer app.RequireStop()

	note := &Note{Title: "with comments"}
	must(t, notes.In("acme").Create(ctx, note))
	for i := range 7 {
		c := &Comment{Body: fmt.Sprint("c", i)}
		must(t, comments.Under(note).Create(ctx, c))
		if c.ParentID != note.Ref() || c.ParentEntityType != "Note" {
			t.Fatalf("comment: %+v", c)
		}
	}
	must(t, notes.In("acme").Delete(ctx, note.ID, nil))
	if n, err := comments.In("acme").Count(ctx, repository.All()); err != nil || n != 0 {
		t.Fatalf("comments left behind: %d, %v", n, err)
	}
	if err := comments.UnderID("acme", note.Ref()).Create(ctx, &Comment{Body: "orphan"}); !errors.Is(err, repository.ErrDanglingRef) {
		t.Fatalf("a comment on a deleted note: %v", err)
	}
	stats, err := tenants.Stats(ctx, "acme", nil)
	must(t, err)
	if stats.Documents != 0 {
		t.Fatalf("still stored: %+v", stats)
	}
}

// Where a key lets one id stand in several partitions of a tenant, children of such parents are
// refused at start, whichever way they are kept, with the registration that has to be changed.
func TestParentsUnderAKeyOfTheirOwn(t *testing.T) {
	t.Parallel()
	cfg := registry.Config{Database: "d", Containers: []registry.Container{{ID: "titled", PartitionKey: []string{"/tenantId", "/title"}}}}
	titled := registry.In("titled")
	for name, child := range map[string]registry.Declaration{
		"registry.Child[Comment, Note]": registry.ChildOf[Comment, Note](parented.Cascade),
		"registry.Buckets[Mark, Note]":  registry.BucketOf[Mark, Note](parented.Restrict),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.Open(newClient(t), newPlan(t, cfg, registry.EntityOf[Note](titled), child))
			if !errors.Is(err, repository.ErrInvalid) {
				t.Fatalf("want an error that is ErrInvalid, got %v", err)
			}
			for _, part := range []string{name, "Note", "registry.UniqueIDs"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			_, err = registry.Open(newClient(t), newPlan(t, cfg, registry.EntityOf[Note](titled, registry.UniqueIDs()), child))
			must(t, err)
		})
	}
}
