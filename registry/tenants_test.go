package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

type estate struct {
	db       *registry.Database
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	lookups  *repository.Repository[Lookup]
}

func estatePlan() (*registry.Plan, error) {
	return registry.NewPlan(registry.Config{
		Database: "estate", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}},
	}, []registry.Declaration{
		registry.EntityOf[Note](registry.SoftDelete(time.Hour)),
		registry.ChildOf[Comment, Note](parented.Cascade),
		registry.EntityOf[Lookup](registry.In("lookups")),
	})
}

func openEstate(ctx context.Context, client *azcosmos.Client, prepare bool) (estate, error) {
	plan, err := estatePlan()
	if err != nil {
		return estate{}, err
	}
	var e estate
	if e.db, err = registry.Open(client, plan); err != nil {
		return e, err
	}
	if prepare {
		if err := e.db.Prepare(ctx); err != nil {
			return e, err
		}
	}
	var errs [3]error
	e.notes, errs[0] = registry.RepositoryOf[Note](e.db)
	e.comments, errs[1] = registry.ChildrenOf[Comment, Note](e.db)
	e.lookups, errs[2] = registry.RepositoryOf[Lookup](e.db)
	return e, errors.Join(errs[:]...)
}

func newEstate(t testing.TB, client *azcosmos.Client) estate {
	t.Helper()
	e, err := openEstate(t.Context(), client, true)
	must(t, err)
	return e
}

// fill gives a tenant about n documents: notes with nine comments each, one of
// them deleted softly, and a few lookups in partitions of their own.
func (e estate) fill(t testing.TB, tenant string, n int) {
	t.Helper()
	ctx := t.Context()
	notes := make([]*Note, max(1, n/10))
	for i := range notes {
		notes[i] = &Note{Title: fmt.Sprint(tenant, " note ", i)}
	}
	_, err := e.notes.In(tenant).SaveAll(ctx, slices.Values(notes), nil)
	must(t, err)
	comments := make([]*Comment, n-len(notes)-5)
	for i := range comments {
		comments[i] = &Comment{Body: fmt.Sprint("comment ", i)}
		comments[i].ParentID = notes[i%len(notes)].Ref()
	}
	_, err = e.comments.In(tenant).SaveAll(ctx, slices.Values(comments), nil)
	must(t, err)
	for i := range 5 {
		typ := fmt.Sprint("type", i%2)
		must(t, e.lookups.In(tenant, typ).Create(ctx, &Lookup{LookupType: typ, Rank: i}))
	}
	must(t, e.notes.In(tenant).Delete(ctx, notes[0].ID, nil))
}

func (e estate) export(t testing.TB, tenant string) (string, *registry.Exported) {
	t.Helper()
	var out bytes.Buffer
	exported, err := e.db.Tenants().Export(t.Context(), tenant, &out, nil)
	must(t, err)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(lines)
	if int64(out.Len()) != exported.Bytes {
		t.Errorf("%d bytes written, %d reported", out.Len(), exported.Bytes)
	}
	return strings.Join(lines, "\n"), exported
}

func TestATenantLeavesAndComesBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEstate(t, emulatortest.Client(t, emulatortest.WithPartitions(3), emulatortest.Calm())) // it compares documents as they are stored
	e.fill(t, "acme", 140)
	e.fill(t, "globex", 60)
	before, exported := e.export(t, "acme")
	if want := map[string]int64{"Note": 14, "Comment": 121, "Lookup": 5}; !maps.Equal(exported.Documents, want) {
		t.Fatalf("exported %v, want %v", exported.Documents, want)
	}
	for _, member := range []string{`"_etag"`, `"_ts"`, `"_rid"`, `"globex"`} {
		if strings.Contains(before, member) {
			t.Errorf("the export holds %s", member)
		}
	}
	others, _ := e.export(t, "globex")
	tenants := e.db.Tenants()

	stats, err := tenants.Stats(ctx, "acme", &registry.StatsOptions{Limit: 25_000})
	must(t, err)
	if stats.Documents != 140 || len(stats.EntityTypes) != 3 || stats.Bytes < exported.Bytes || len(stats.Full) != 1 || stats.Full[0].Key[1] != "Comment" {
		t.Errorf("stats: %+v", stats)
	}

	var last registry.TenantProgress
	receipt, err := tenants.Erase(ctx, "acme", &registry.EraseOptions{Progress: func(p registry.TenantProgress) { last = p }})
	must(t, err)
	if !receipt.Complete || !maps.Equal(receipt.Removed, exported.Documents) || receipt.RequestUnits <= 0 || last.Documents != 140 {
		t.Fatalf("receipt: %+v, progress %+v", receipt, last)
	}
	if empty, _ := e.export(t, "acme"); empty != "" {
		t.Fatalf("left behind: %s", empty)
	}
	if after, _ := e.export(t, "globex"); after != others {
		t.Fatal("another tenant was touched")
	}
	again, err := tenants.Erase(ctx, "acme", nil)
	must(t, err)
	if len(again.Removed) != 0 || !again.Complete {
		t.Errorf("erased again: %+v", again)
	}

	imported, err := tenants.Import(ctx, "acme", strings.NewReader(before), nil)
	must(t, err)
	if imported.Created != 140 || imported.Lines != 140 {
		t.Fatalf("imported: %+v", imported)
	}
	if after, _ := e.export(t, "acme"); after != before {
		t.Fatal("the tenant came back changed")
	}
	if n, err := e.notes.In("acme").Count(ctx, repository.All()); err != nil || n != 13 {
		t.Errorf("%d notes visible, %v", n, err)
	}

	imported, err = tenants.Import(ctx, "acme", strings.NewReader(before), &registry.ImportOptions{Skip: 40})
	must(t, err)
	if imported.Created != 0 || imported.Unchanged != 100 || imported.Lines != 140 {
		t.Errorf("imported again: %+v", imported)
	}
}

func TestAnImportKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEstate(t, emulatortest.Client(t))
	e.fill(t, "acme", 40)
	before, _ := e.export(t, "acme")
	note, err := e.notes.In("acme").First(ctx, repository.All())
	must(t, err)
	_, err = e.notes.In("acme").Mutate(ctx, note.ID, func(n *Note) error { n.Title = "newer"; return nil })
	must(t, err)

	imported, err := e.db.Tenants().Import(ctx, "acme", strings.NewReader(before), nil)
	if !errors.Is(err, repository.ErrConflict) || imported.ConflictCount != 1 || !slices.Equal(imported.Conflicts["Note"], []string{note.ID}) || imported.Unchanged != 39 {
		t.Fatalf("%+v, %v", imported, err)
	}
	if got, err := e.notes.In("acme").Get(ctx, note.ID); err != nil || got.Title != "newer" {
		t.Fatalf("%+v, %v", got, err)
	}
	imported, err = e.db.Tenants().Import(ctx, "acme", strings.NewReader(before), &registry.ImportOptions{Overwrite: true})
	must(t, err)
	if imported.Overwritten != 1 || imported.Unchanged != 39 {
		t.Fatalf("%+v", imported)
	}
	if after, _ := e.export(t, "acme"); after != before {
		t.Fatal("not as it was exported")
	}
}

func TestAnImportRefusesWhatDoesNotBelong(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEstate(t, emulatortest.Client(t))
	const good = `{"id":"1","tenantId":"acme","entityType":"Note","title":"t"}`
	for name, test := range map[string]struct {
		line string
		want error
	}{
		"another tenant":    {`{"id":"1","tenantId":"globex","entityType":"Note"}`, repository.ErrTenantMismatch},
		"no tenant":         {`{"id":"1","entityType":"Note"}`, repository.ErrTenantMismatch},
		"an unknown type":   {`{"id":"1","tenantId":"acme","entityType":"Nothing"}`, repository.ErrInvalid},
		"no id":             {`{"tenantId":"acme","entityType":"Note"}`, repository.ErrInvalid},
		"a bad id":          {`{"id":"a/b","tenantId":"acme","entityType":"Note"}`, repository.ErrInvalid},
		"no key":            {`{"id":"1","tenantId":"acme","entityType":"Lookup"}`, repository.ErrInvalid},
		"not JSON":          {`{"id":`, repository.ErrInvalid},
		"not an object":     {`[1]`, repository.ErrInvalid},
		"two values":        {good + good, repository.ErrInvalid},
		"a name that twice": {`{"id":"1","id":"2","tenantId":"acme","entityType":"Note"}`, repository.ErrInvalid},
		"too large":         {`{"id":"1","tenantId":"acme","entityType":"Note","title":"` + strings.Repeat("x", 2<<20) + `"}`, repository.ErrTooLarge},
	} {
		imported, err := e.db.Tenants().Import(ctx, "acme", strings.NewReader("\n"+good+"\n"+test.line+"\n"+good+"\n"), nil)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), "line 3") || imported.Lines != 4 || imported.Refused != 1 || imported.NotStored[0].Line != 3 {
			t.Errorf("%s: %+v, %v", name, imported, err)
		}
	}
	tenants := e.db.Tenants()
	other := repository.WithTenant(ctx, "globex")
	calls := map[string]func(ctx context.Context, tenant string) error{
		"Export": func(ctx context.Context, tenant string) error {
			_, err := tenants.Export(ctx, tenant, &bytes.Buffer{}, nil)
			return err
		},
		"Import": func(ctx context.Context, tenant string) error {
			_, err := tenants.Import(ctx, tenant, strings.NewReader(good), nil)
			return err
		},
		"Erase": func(ctx context.Context, tenant string) error { _, err := tenants.Erase(ctx, tenant, nil); return err },
		"Stats": func(ctx context.Context, tenant string) error { _, err := tenants.Stats(ctx, tenant, nil); return err },
	}
	for name, call := range calls {
		if err := call(other, "acme"); !errors.Is(err, repository.ErrTenantMismatch) {
			t.Errorf("%s of another tenant than the context's: %v", name, err)
		}
		for _, bad := range []string{"", "a/b", "end "} {
			if err := call(ctx, bad); !errors.Is(err, repository.ErrInvalid) {
				t.Errorf("%s of tenant %q: %v", name, bad, err)
			}
		}
	}
}
