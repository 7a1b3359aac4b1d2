package denorm_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
)

const globex = "globex"

// spoil puts a person into quarantine, whose count is no number.
func (b *testBundle) spoil(tenant, id, name string) {
	b.t.Helper()
	people, _ := b.db.Container(registry.DefaultContainer)
	_, err := people.CreateItem(b.ctx, azcosmos.NewPartitionKeyString(tenant).AppendString("Person"),
		[]byte(`{"id":"`+id+`","tenantId":"`+tenant+`","entityType":"Person","name":"`+name+`","taskCount":"many"}`), nil)
	b.must(err)
}

// inQuarantine are the ids of the documents in the keeper's quarantine.
func (b *testBundle) inQuarantine() (ids []string) {
	b.t.Helper()
	for _, container := range b.keeper.Containers() {
		p, _ := b.keeper.Processor(container)
		for q, err := range p.Quarantined(b.ctx) {
			b.must(err)
			ids = append(ids, q.DocumentID)
		}
	}
	slices.Sort(ids)
	return ids
}

// What an erased tenant, or person, had in quarantine goes with it, and nothing of others does.
func TestAnErasureReachesTheQuarantine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		where func(registry.ErasedDocument) bool
		left  []string
	}{
		"a tenant":             {nil, []string{"there"}},
		"a person":             {registry.RefersTo("grace"), []string{"alan", "there"}},
		"whose text is chosen": {func(d registry.ErasedDocument) bool { return bytes.Contains(d.Document, []byte("Turing")) }, []string{"grace", "there"}},
		"of another type":      {func(d registry.ErasedDocument) bool { return d.EntityType != "Person" }, []string{"alan", "grace", "there"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, emulatortest.Calm()) // the erasure reads the quarantine by no session
			b.spoil(acme, "grace", "Grace Hopper")
			b.spoil(acme, "alan", "Alan Turing")
			b.spoil(globex, "there", "Grace Hopper, Alan Turing")
			b.catchUp()
			if got := b.inQuarantine(); !slices.Equal(got, []string{"alan", "grace", "there"}) {
				t.Fatalf("in quarantine: %v", got)
			}
			gone := int64(3 - len(tt.left))
			plan, err := b.db.Tenants().PlanErase(b.ctx, acme, tt.where)
			if err != nil || plan.Quarantined != gone || len(b.inQuarantine()) != 3 {
				t.Errorf("planned: %+v, %v", plan, err)
			}
			certificate, err := b.db.Tenants().Erase(b.ctx, acme, &registry.EraseOptions{Where: tt.where})
			if err != nil || certificate.Quarantined != gone || !certificate.Complete || !certificate.Verify() {
				t.Errorf("the certificate: %+v, %v", certificate, err)
			}
			certificate.Quarantined += 4
			if certificate.Verify() {
				t.Error("another number in quarantine is verified")
			}
			b.catchUp()
			if got := b.inQuarantine(); !slices.Equal(got, tt.left) {
				t.Errorf("left in quarantine: %v, want %v", got, tt.left)
			}
			again, err := b.db.Tenants().Erase(b.ctx, acme, &registry.EraseOptions{Where: tt.where})
			if err != nil || again.Quarantined != 0 {
				t.Errorf("once more: %+v, %v", again, err)
			}
		})
	}
}

// A change that is in quarantine without its document is known by its key.
func TestAnErasureReachesAChangeWithoutItsDocument(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm())
	b.spoil(acme, "grace", "Grace Hopper")
	b.spoil(globex, "there", "Grace Hopper")
	b.catchUp()
	leases, _ := b.db.Container("grove-leases")
	for _, container := range b.keeper.Containers() {
		p, _ := b.keeper.Processor(container)
		for q, err := range p.Quarantined(b.ctx) {
			b.must(err)
			patch := azcosmos.PatchOperations{}
			patch.AppendRemove("/document")
			_, err := leases.PatchItem(b.ctx, azcosmos.NewPartitionKeyString(q.ID), q.ID, patch, nil)
			b.must(err)
		}
	}
	person, err := b.db.Tenants().Erase(b.ctx, acme, &registry.EraseOptions{Where: registry.RefersTo("there")})
	if err != nil || person.Quarantined != 0 {
		t.Errorf("another tenant's: %+v, %v", person, err)
	}
	certificate, err := b.db.Tenants().Erase(b.ctx, acme, &registry.EraseOptions{Where: registry.RefersTo("grace")})
	if got := b.inQuarantine(); err != nil || certificate.Quarantined != 1 || !slices.Equal(got, []string{"there"}) {
		t.Errorf("%+v, %v; left: %v", certificate, err, got)
	}
}
