package registry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// formed is an application over containers that others made: notes as EF Core
// writes them, comments under a key made of the tenant and the parent, in an
// envelope, and lookups in Grove's own form.
func formed(t *testing.T) estate {
	t.Helper()
	plan, err := registry.NewPlan(registry.Config{
		Database: "formed", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: "App", PartitionKey: []string{"/TenantId"}}, {ID: "comments", PartitionKey: []string{"/pk"}}},
	}, []registry.Declaration{
		registry.EntityOf[Note](registry.In("App"), registry.SoftDelete(time.Hour), registry.WithLayout(layout.Layout{
			Names: map[string]string{"tenantId": "TenantId", "entityType": "$type", "title": "Title"}, IDPrefix: "Note|",
		})),
		registry.ChildOf[Comment, Note](parented.Cascade, registry.In("comments"), registry.WithLayout(layout.Layout{
			Key:      []layout.KeySource{layout.Format("%s/%s", "tenantId", "parentId")},
			Names:    map[string]string{"tenantId": "org", "entityType": "kind"},
			Envelope: "value",
		})),
		registry.EntityOf[Lookup](),
	})
	must(t, err)
	var e estate
	e.db, err = registry.Open(emulatortest.New(t).Client(nil), plan)
	must(t, err)
	must(t, e.db.Prepare(t.Context()))
	e.notes, err = registry.RepositoryOf[Note](e.db)
	must(t, err)
	e.comments, err = registry.ChildrenOf[Comment, Note](e.db)
	must(t, err)
	e.lookups, err = registry.RepositoryOf[Lookup](e.db)
	must(t, err)
	return e
}

// A tenant leaves and comes back, and is cloned, by the names of each layout.
func TestATenantOfLayoutsLeavesAndComesBack(t *testing.T) {
	t.Parallel()
	e := formed(t)
	ctx, tenants := t.Context(), e.db.Tenants()
	for _, title := range []string{"first", "second"} {
		note := &Note{Title: title}
		must(t, e.notes.In("acme").Create(ctx, note))
		must(t, e.comments.Under(note).Create(ctx, &Comment{Body: "about " + title}))
	}
	must(t, e.lookups.In("acme").Create(ctx, &Lookup{LookupType: "color"}))
	gone := &Note{Title: "gone"}
	must(t, e.notes.In("acme").Create(ctx, gone))
	must(t, e.notes.In("acme").Delete(ctx, gone.ID, nil))

	before, exported := e.export(t, "acme")
	if exported.Documents["Note"] != 3 || exported.Documents["Comment"] != 2 || exported.Documents["Lookup"] != 1 || len(exported.Documents) != 3 {
		t.Fatalf("exported %v", exported.Documents)
	}
	if first := strings.Index(before, `"kind":"Comment"`); first < 0 || !strings.Contains(before, `"$type":"Note"`) {
		t.Errorf("the export is not as stored")
	}
	if lines := strings.Split(before, "\n"); len(lines) != 6 {
		t.Errorf("%d lines", len(lines))
	}
	stats, err := tenants.Stats(ctx, "acme", nil)
	must(t, err)
	for _, s := range stats.EntityTypes {
		if s.Documents != exported.Documents[s.EntityType] || (s.Deleted == 1) != (s.EntityType == "Note") {
			t.Errorf("statistics of %q: %d documents, %d deleted", s.EntityType, s.Documents, s.Deleted)
		}
	}
	plan, err := tenants.PlanErase(ctx, "acme", func(d registry.ErasedDocument) bool { return d.EntityType == "Note" })
	must(t, err)
	if plan.Removed["Note"] != 3 || plan.Kept["Comment"] != 2 || !strings.HasPrefix(plan.IDs["Note"][0], "Note|") {
		t.Errorf("planned: %+v", plan)
	}
	erased, err := tenants.Erase(ctx, "acme", &registry.EraseOptions{Where: func(d registry.ErasedDocument) bool { return d.EntityType == "Note" }})
	must(t, err)
	if erased.Removed["Note"] != 3 || len(erased.Removed) != 1 {
		t.Errorf("erased %v", erased.Removed)
	}
	_, err = tenants.Erase(ctx, "acme", nil)
	must(t, err)

	imported, err := tenants.Import(ctx, "acme", strings.NewReader(before), nil)
	must(t, err)
	if imported.Created != 6 {
		t.Errorf("imported %+v", imported)
	}
	if after, _ := e.export(t, "acme"); after != before {
		t.Errorf("it came back as\n%s\nand was\n%s", after, before)
	}
	again, err := tenants.Import(ctx, "acme", strings.NewReader(before), nil)
	must(t, err)
	if again.Unchanged != 6 {
		t.Errorf("imported again: %+v", again)
	}

	clone, err := tenants.Import(ctx, "globex", strings.NewReader(before), &registry.ImportOptions{From: "acme"})
	must(t, err)
	if clone.Created != 6 {
		t.Errorf("cloned %+v", clone)
	}
	titles := map[string]bool{}
	for note, err := range e.notes.In("globex").Query(ctx, repository.All()) {
		must(t, err)
		titles[note.Title] = true
		n, err := e.comments.Under(note).Count(ctx, repository.All())
		must(t, err)
		if n != 1 || note.TenantID != "globex" {
			t.Errorf("note %q of %q has %d comments", note.Title, note.TenantID, n)
		}
	}
	if !titles["first"] || !titles["second"] || len(titles) != 2 {
		t.Errorf("the clone has %v", titles)
	}
	must(t, e.notes.In("globex").Restore(ctx, gone.ID))
	var file bytes.Buffer
	_, err = tenants.Export(ctx, "acme", &file, nil)
	must(t, err)
	if strings.Contains(file.String(), "globex") {
		t.Error("the clone changed the tenant it was made of")
	}
	_, err = tenants.Import(ctx, "globex", strings.NewReader(before), nil)
	if err == nil {
		t.Error("another tenant's documents were imported")
	}
}
