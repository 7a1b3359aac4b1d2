package repository_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/repository/partition"
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
	container := newVisitsContainer(t, emulatortest.Client(t))
	visits, err := repository.New[Visit](container, repository.Config{PartitionKey: []string{"/pk"}, Layout: &layout.Layout{Key: []layout.KeySource{key}}})
	must(t, err)
	return visits
}

func newVisitsContainer(t *testing.T, client *azcosmos.Client) *azcosmos.ContainerClient {
	t.Helper()
	id := emulatortest.DatabaseID(t, client, "visits")
	_, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	database, err := client.NewDatabase(id)
	must(t, err)
	_, err = database.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "visits", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}}}, nil)
	must(t, err)
	container, err := database.NewContainer("visits")
	must(t, err)
	return container
}

// Guest lies with the visits; its list of marks has its own name.
type Guest struct {
	tenantitem.TenantItem[Guest]
	Name string `json:"name"`
}

// What became of a write whose answer was lost is read in the write's own form, also where the transaction begins with another entity type.
func TestALostAnswerIsReadInTheFormOfItsWrites(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	container := newVisitsContainer(t, e.Client(nil))
	key := []layout.KeySource{layout.Constant("all")}
	visits, err := repository.New[Visit](container, repository.Config{PartitionKey: []string{"/pk"}, Layout: &layout.Layout{Key: key}})
	must(t, err)
	guests, err := repository.New[Guest](container, repository.Config{PartitionKey: []string{"/pk"}, Layout: &layout.Layout{Key: key, Names: map[string]string{"_ops": "marks"}}})
	must(t, err)
	visit := &Visit{}
	must(t, visits.In("acme").Create(t.Context(), visit))
	var read Visit
	for name, batch := range map[string]*repository.Batch[Guest]{
		"one write":  guests.In("acme").Batch().Create(&Guest{Name: "Ada"}),
		"two writes": guests.In("acme").Batch().Create(&Guest{Name: "Bob"}).Create(&Guest{Name: "Cid"}),
	} {
		e.Fault(emulator.Answer(503, 0).AfterEffect().On(emulator.TransactionalBatch))
		e.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
		if err := partition.Commit(t.Context(), visits.In("acme").Batch().Read(visit.ID, &read), batch); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
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
	err := partition.Commit(t.Context(), visits.In("acme").Batch().Create(&Visit{}), visits.In("globex").Batch().Create(&Visit{}))
	if !errors.Is(err, repository.ErrTenantMismatch) {
		t.Errorf("two tenants: %v", err)
	}
	must(t, partition.Commit(t.Context(), visits.In("acme").Batch().Create(&Visit{}), visits.In("acme").Batch().Create(&Visit{})))
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
