package repository_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Visit lies in the partition of its city, in a container whose key knows no tenant.
type Visit struct {
	tenantitem.TenantItem[Visit]
	Place Place  `json:"place"`
	Note  string `json:"note"`
}

type Place struct {
	City   string `json:"city"`
	Street string `json:"street"`
}

func setupVisits(t *testing.T, key layout.KeySource) *repository.Repository[Visit] {
	t.Helper()
	client := emulatortest.Client(t)
	id := emulatortest.DatabaseID(t, client, "visits")
	_, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	database, err := client.NewDatabase(id)
	must(t, err)
	_, err = database.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "visits", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}}}, nil)
	must(t, err)
	container, err := database.NewContainer("visits")
	must(t, err)
	visits, err := repository.New[Visit](container, repository.Config{PartitionKey: []string{"/pk"}, Layout: &layout.Layout{Key: []layout.KeySource{key}}})
	must(t, err)
	return visits
}

// A token of one tenant is no token of another one, also where both share a logical partition: its items would be passed over.
func TestResumeTokensAreBoundToTheirTenant(t *testing.T) {
	t.Parallel()
	visits, token := setupVisits(t, layout.Constant("all")), ""
	_, err := visits.In("acme").SaveAll(t.Context(), slices.Values([]*Visit{{Note: "acme's"}}), &repository.BulkOptions{Progress: func(p repository.Receipt) { token = p.Resume }})
	must(t, err)
	if _, err := visits.In("globex").SaveAll(t.Context(), slices.Values([]*Visit{{Note: "globex's"}}), &repository.BulkOptions{Resume: token}); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a token of another tenant: %v", err)
	}
}

// A transaction is one tenant's, also where several share a logical partition.
func TestATransactionIsOfOneTenant(t *testing.T) {
	t.Parallel()
	visits := setupVisits(t, layout.Constant("all"))
	err := repository.CommitTogether(t.Context(), visits.In("acme").Batch().Create(&Visit{}), visits.In("globex").Batch().Create(&Visit{}))
	if !errors.Is(err, repository.ErrTenantMismatch) {
		t.Errorf("two tenants: %v", err)
	}
	must(t, repository.CommitTogether(t.Context(), visits.In("acme").Batch().Create(&Visit{}), visits.In("acme").Batch().Create(&Visit{})))
}

// What the key is made of can't be patched, nor can an object that holds it, or a list or a member in whose place it stands.
func TestAPatchLeavesWhatTheKeyIsMadeOf(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]layout.KeySource{
		"a field":        layout.FromField("place.city"),
		"several fields": layout.Format("%s-%s", "tenantId", "place.city"),
	} {
		visits := setupVisits(t, key)
		v := &Visit{Place: Place{City: "Bonn"}}
		acme := visits.In("acme")
		if name == "a field" {
			acme = visits.In("acme", "Bonn")
		}
		must(t, acme.Create(t.Context(), v))
		for path, value := range map[string]any{"/place/city": "Rome", "/place": Place{City: "Rome"}} {
			for _, edits := range []repository.Edits{repository.Set(path, value), repository.Edits{}.Remove(path)} {
				if _, err := acme.Patch(t.Context(), v.ID, edits); !errors.Is(err, repository.ErrInvalid) {
					t.Errorf("%s, %s: %v", name, path, err)
				}
			}
		}
		got, err := acme.Patch(t.Context(), v.ID, repository.Set("/place/street", "Markt"))
		if err != nil || got.Place.City != "Bonn" || got.Place.Street != "Markt" {
			t.Errorf("%s: another member: %+v, %v", name, got, err)
		}
	}
}
