package registry_test

import (
	"bytes"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Notes without a type are notes for export, statistics, erasure and import too:
// they come before their comments, and back into their container, whatever is
// registered first and whatever other containers would take them for.
func TestDocumentsWithoutATypeAreTheirEntitys(t *testing.T) {
	t.Parallel()
	byOrganisation := map[string]string{"tenantId": "orgId", "entityType": "entity_type"}
	comments := registry.ChildOf[Comment, Note](parented.Cascade, registry.In("App"), registry.WithLayout(layout.Layout{Names: byOrganisation}))
	some := registry.EntityOf[Note](registry.In("App"), registry.SoftDelete(time.Hour), registry.WithLayout(layout.Layout{Names: byOrganisation, Untyped: layout.SomeUntyped}))
	all := registry.EntityOf[Note](registry.In("notes"), registry.SoftDelete(time.Hour), registry.WithLayout(layout.Layout{Names: map[string]string{"tenantId": "orgId"}, Untyped: layout.AllUntyped}))
	lookups := registry.EntityOf[Lookup](registry.In("lookups"), registry.WithLayout(layout.Layout{Names: map[string]string{"tenantId": "orgId", "entityType": "kind"}}))
	for name, declared := range map[string][]registry.Declaration{
		"some, the note first":    {some, comments, lookups},
		"some, the comment first": {comments, some, lookups},
		"all":                     {comments, all, lookups},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form := storedForm{untyped: true, others: formWriter{names: byOrganisation}, declared: declared, containers: []registry.Container{
				{ID: "App", PartitionKey: []string{"/orgId"}}, {ID: "notes", PartitionKey: []string{"/orgId"}}, {ID: "lookups", PartitionKey: []string{"/orgId"}},
			}}
			e := form.open(t, emulatortest.New(t, emulatortest.Calm()).Client(nil))
			ctx, tenants := t.Context(), e.db.Tenants()
			typed := &Note{Title: "typed"}
			must(t, e.notes.In("acme").Create(ctx, typed))
			form.notes = formWriter{names: byOrganisation, complete: byTenant}
			old := form.put(t, e, "acme", "old", `"title":"from before there were types"`)
			for _, parent := range []string{typed.ID, old.id} {
				c := &Comment{}
				c.ParentID = tenantitem.Ref[Note](parent)
				must(t, e.comments.Items().In("acme").Create(ctx, c))
			}
			must(t, e.lookups.In("acme").Create(ctx, &Lookup{LookupType: "color"}))

			want := map[string]int64{"Note": 2, "Comment": 2, "Lookup": 1}
			var file bytes.Buffer
			exported, err := tenants.Export(ctx, "acme", &file, nil)
			must(t, err)
			if !maps.Equal(exported.Documents, want) {
				t.Errorf("exported %v", exported.Documents)
			}
			if comment := strings.Index(file.String(), `"Comment"`); strings.Index(file.String(), `"id":"old"`) > comment || strings.Index(file.String(), `"id":"`+typed.ID) > comment {
				t.Errorf("a comment stands before a note:\n%s", file.String())
			}
			counted := map[string]int64{}
			stats, err := tenants.Stats(ctx, "acme", nil)
			must(t, err)
			for _, s := range stats.EntityTypes {
				counted[s.EntityType] += s.Documents
			}
			if !maps.Equal(counted, want) {
				t.Errorf("counted %v", counted)
			}
			erased, err := tenants.Erase(ctx, "acme", nil)
			must(t, err)
			if !maps.Equal(erased.Removed, want) {
				t.Errorf("erased %v", erased.Removed)
			}
			imported, err := tenants.Import(ctx, "acme", bytes.NewReader(file.Bytes()), nil)
			if err != nil || imported.Created != 5 {
				t.Errorf("imported %+v, %v", imported, err)
			}
			for _, id := range []string{typed.ID, old.id} {
				note, err := e.notes.In("acme").Get(ctx, id)
				if err != nil {
					t.Errorf("note %s did not come back: %v", id, err)
					continue
				}
				if n, err := e.comments.Under(note).Count(ctx, repository.All()); err != nil || n != 1 {
					t.Errorf("note %s has %d comments, %v", id, n, err)
				}
			}
			if n, err := e.lookups.In("acme").Count(ctx, repository.All()); err != nil || n != 1 {
				t.Errorf("%d lookups came back, %v", n, err)
			}
		})
	}
}

// One person's data is chosen by the id that the application has for it, under
// whatever names and prefixes it is stored.
func TestOnePersonIsErasedInEveryForm(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]layout.Layout{
		"EF Core":  {Names: map[string]string{"tenantId": "TenantId", "entityType": "$type"}, IDPrefix: "Note|"},
		"envelope": {Names: map[string]string{"tenantId": "TenantId"}, Envelope: "value", IDPrefix: "n|"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			children := l
			children.IDPrefix = ""
			plan, err := registry.NewPlan(registry.Config{
				Database: "forms", Provision: true, Logger: slog.New(slog.DiscardHandler), Containers: []registry.Container{{ID: "App", PartitionKey: []string{"/TenantId"}}},
			}, []registry.Declaration{
				registry.EntityOf[Note](registry.In("App"), registry.WithLayout(l)),
				registry.ChildOf[Comment, Note](parented.Cascade, registry.In("App"), registry.WithLayout(children)),
			})
			must(t, err)
			db, err := registry.Open(emulatortest.New(t).Client(nil), plan)
			must(t, err)
			ctx := t.Context()
			must(t, db.Prepare(ctx))
			notes, err := registry.RepositoryOf[Note](db)
			must(t, err)
			comments, err := registry.ChildrenOf[Comment, Note](db)
			must(t, err)
			ada := &Note{}
			must(t, notes.In("ada").Create(ctx, ada))
			must(t, notes.In("ada").Create(ctx, &Note{Title: "another"}))
			must(t, comments.Under(ada).Create(ctx, &Comment{Body: "hers"}))
			where := registry.RefersTo(ada.ID)
			plans, err := db.Tenants().PlanErase(ctx, "ada", where)
			must(t, err)
			if want := map[string]int64{"Note": 1, "Comment": 1}; !maps.Equal(plans.Removed, want) {
				t.Errorf("planned %v", plans.Removed)
			}
			erased, err := db.Tenants().Erase(ctx, "ada", &registry.EraseOptions{Where: where})
			must(t, err)
			if !maps.Equal(erased.Removed, plans.Removed) {
				t.Errorf("erased %v", erased.Removed)
			}
			// The tenant's own id is no reference, whatever it is called there.
			if plans, err = db.Tenants().PlanErase(ctx, "ada", registry.RefersTo("ada", "Note")); err != nil || len(plans.Removed) != 0 {
				t.Errorf("planned %v, %v", plans.Removed, err)
			}
		})
	}
}
