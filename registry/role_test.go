package registry_test

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

const (
	estateDocuments = "/dbs/estate/colls/documents"
	estateLookups   = "/dbs/estate/colls/lookups"
)

// readAndQuery is a role made by hand: no throughput, no writes.
func readAndQuery(scope string) emulator.Role {
	return emulator.Role{Scope: scope, Actions: []string{
		emulator.ActionReadMetadata, emulator.ActionReadItem, emulator.ActionExecuteQuery, emulator.ActionReadChangeFeed,
	}}
}

// estateBy is an account whose containers were made with the key, and a
// client that signs in with roles.
func estateBy(t *testing.T, roles ...emulator.Role) (*emulatortest.Emulator, registry.ClientConfig) {
	t.Helper()
	account := emulatortest.New(t, emulatortest.WithIdentity(roles...))
	newEstate(t, account.KeyClient(nil))
	token := account.Service().EntraToken("11111111-2222-3333-4444-555555555555")
	account.Service().AssignRoles("11111111-2222-3333-4444-555555555555", roles...)
	return account, registry.ClientConfig{Endpoint: account.Endpoint(), Credential: fixedToken(token), Options: through(account)}
}

func TestAnApplicationStartsWithANarrowRole(t *testing.T) {
	t.Parallel()
	for name, roles := range map[string][]emulator.Role{
		"of each container": {emulator.DataContributor(estateDocuments), emulator.DataContributor(estateLookups)},
		"of the database":   {emulator.DataContributor("/dbs/estate")},
		"of the account":    {emulator.DataContributor("/")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, cfg := estateBy(t, roles...)
				begun := time.Now()
				client, err := registry.NewClient(t.Context(), cfg)
				must(t, err)
				defer client.Close()
				if took := time.Since(begun); took > time.Second {
					t.Errorf("the probe took %v", took)
				}
				var (
					notes *repository.Repository[Note]
					db    *registry.Database
				)
				app := fxtest.New(t, supply(client),
					registry.Module(registry.Config{
						Database: "estate", Provision: true, Logger: slog.New(slog.DiscardHandler),
						Containers: []registry.Container{{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}},
					}),
					registry.Entity[Note](registry.SoftDelete(time.Hour)), registry.Child[Comment, Note](parented.Cascade), registry.Entity[Lookup](registry.In("lookups")),
					fx.Populate(&notes, &db),
				)
				app.RequireStart()
				defer app.RequireStop()
				must(t, db.Health(t.Context()))
				note := &Note{Title: "allowed"}
				must(t, notes.In("acme").Create(t.Context(), note))
				_, err = notes.In("acme").Mutate(t.Context(), note.ID, func(n *Note) error { n.Title = "changed"; return nil })
				must(t, err)
				must(t, notes.In("acme").Delete(t.Context(), note.ID, nil))
				erased, err := db.Tenants().Erase(t.Context(), "acme", nil)
				must(t, err)
				if !erased.Complete {
					t.Errorf("%+v", erased)
				}
			})
		})
	}
}

// What an identity may not do is refused in words that name the action and the command that grants it.
func TestADeniedActionIsNamed(t *testing.T) {
	t.Parallel()
	const secret = "a title that no error repeats"
	_, cfg := estateBy(t, readAndQuery(estateDocuments), emulator.Role{Scope: estateLookups, Actions: []string{emulator.ActionReadMetadata}})
	client, err := registry.NewClient(t.Context(), cfg)
	must(t, err)
	defer client.Close()
	e, err := openEstate(t.Context(), client, true)
	must(t, err)
	ctx := t.Context()
	const reader, contributor = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
	plan, err := registry.NewPlan(registry.Config{Database: "estate", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{registry.EntityOf[Note](registry.In("documents"))})
	must(t, err)
	newContainer, err := registry.NewPlan(registry.Config{Database: "estate", DefaultContainer: "absent", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{registry.EntityOf[Note]()})
	must(t, err)
	_, err = registry.Check(ctx, client, plan)
	must(t, err)
	tests := map[string]struct {
		do   func() error
		want []string
	}{
		"Create": {func() error { return e.notes.In("acme").Create(ctx, &Note{Title: secret}) },
			[]string{emulator.ActionCreateItem, estateDocuments, "az cosmosdb sql role assignment create", contributor}},
		"Upsert": {func() error { return e.notes.In("acme").Upsert(ctx, &Note{Title: secret}) },
			[]string{emulator.ActionUpsertItem, estateDocuments, contributor}},
		"SaveAll": {func() error {
			_, err := e.notes.In("acme").SaveAll(ctx, slices.Values([]*Note{{Title: secret}, {Title: secret}}), nil)
			return err
		}, []string{emulator.ActionCreateItem, contributor}},
		"Get": {func() error { _, err := e.lookups.In("acme", "color").Get(ctx, "a"); return err },
			[]string{emulator.ActionReadItem, estateLookups, reader}},
		"Count": {func() error { _, err := e.lookups.In("acme", "color").Count(ctx, repository.All()); return err },
			[]string{emulator.ActionExecuteQuery, estateLookups, reader}},
		"Export": {func() error {
			return func() error { _, err := e.db.Tenants().Export(ctx, "acme", io.Discard, nil); return err }()
		}, []string{"sqlDatabases/containers/", estateLookups, reader}},
		"a container that is missing": {func() error { _, err := registry.Provision(ctx, client, newContainer); return err },
			[]string{"absent", emulator.ActionReadMetadata, "az cosmosdb sql role assignment create", `--scope "/dbs/estate/colls/absent"`}},
	}
	for name, tc := range tests {
		err := tc.do()
		if err == nil {
			t.Errorf("%s was allowed", name)
			continue
		}
		for _, part := range tc.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
		if strings.Contains(err.Error(), secret) || errors.Is(err, repository.ErrAmbiguous) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Making a container is in no role of the data plane.
func TestWhatNoRoleAllowsIsNamed(t *testing.T) {
	t.Parallel()
	_, cfg := estateBy(t, emulator.DataContributor("/dbs/estate"))
	client, err := registry.NewClient(t.Context(), cfg)
	must(t, err)
	defer client.Close()
	plan, err := registry.NewPlan(registry.Config{Database: "estate", DefaultContainer: "absent", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{registry.EntityOf[Note]()})
	must(t, err)
	_, err = registry.Provision(t.Context(), client, plan)
	if err == nil || !strings.Contains(err.Error(), `az cosmosdb sql container create --account-name $ACCOUNT --resource-group $GROUP --database-name "estate"`) {
		t.Errorf("got %v", err)
	}
}
