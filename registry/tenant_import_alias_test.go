package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Sign is stored as "Plate" by former versions.
type Sign struct {
	tenantitem.TenantItem[Sign]
	Text string `json:"text"`
}

// signs opens the database with the names of one version.
func signs(t *testing.T, client *azcosmos.Client, name string, former ...string) (*registry.Database, *repository.Scope[Sign]) {
	t.Helper()
	id := emulatortest.DatabaseID(t, client, "signs")
	plan, err := registry.NewPlan(registry.Config{Database: id, Provision: true}, []registry.Declaration{registry.EntityOf[Sign](registry.Named(name, former...), registry.SoftDelete(time.Hour))})
	must(t, err)
	_, err = registry.Provision(t.Context(), client, plan)
	must(t, err)
	db, err := registry.Open(client, plan)
	must(t, err)
	repo, err := registry.RepositoryOf[Sign](db)
	must(t, err)
	return db, repo.In("acme")
}

// An import makes no second document of an id that is stored under another name of its entity type, a former or a later one,
// whatever it is told to do with conflicts.
func TestAnImportMeetsDocumentsUnderFormerNames(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t)
	_, former := signs(t, client, "Plate")
	db, now := signs(t, client, "Sign", "Plate")
	ctx := t.Context()
	sign := func(id string) *Sign {
		s := &Sign{Text: "stored"}
		s.ID = id
		return s
	}
	must(t, former.Create(ctx, sign("a")))
	must(t, now.Create(ctx, sign("b")))
	var file strings.Builder
	for _, l := range [][2]string{{"Sign", "a"}, {"Plate", "b"}, {"Sign", "new"}, {"Plate", "new"}, {"Plate", "twice"}, {"Sign", "twice"}} {
		file.WriteString(`{"id":"` + l[1] + `","tenantId":"acme","entityType":"` + l[0] + `","text":"imported"}` + "\n")
	}
	file.WriteString(`{"id":"same","tenantId":"acme","entityType":"Plate","text":"stored"}` + "\n")
	for _, opts := range []*registry.ImportOptions{nil, {Overwrite: true}, {AsStored: true}} {
		out, err := db.Tenants().Import(ctx, "acme", strings.NewReader(file.String()), opts)
		if err == nil || out.ConflictCount != 4 || out.Lines != 7 {
			t.Errorf("%+v: %v", out, err)
		}
	}
	for id, text := range map[string]string{"a": "stored", "b": "stored", "new": "imported", "twice": "imported", "same": "stored"} { // created under its former name by the first import, unchanged by the others
		got, err := now.Get(ctx, id)
		if n, countErr := now.Count(ctx, repository.Where(repository.Eq("id", id))); n != 1 || countErr != nil || err != nil || got.Text != text {
			t.Errorf("%s: %d documents, %+v: %v, %v", id, n, got, err, countErr)
		}
	}
}
