package denorm_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
)

// What differs is told of once, and a document is compared once, where a delete clears a reference and the copies through it.
func TestADriftIsToldOfOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, keeper := openOf(t, emulatortest.New(t), []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Depot](registry.In("shop")), registry.EntityOf[Van](registry.In("shop"))},
		denorm.OnDeleteOf[Van, Depot]("depotId", denorm.Clear))
	depot := &Depot{Name: "North"}
	noError(t, repo[Depot](t, db).In(acme).Create(ctx, depot))
	container, _ := db.Container("shop")
	_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString(acme), []byte(`{"id":"v","tenantId":"acme","entityType":"Van","depotId":"`+depot.ID+`","depotName":"South"}`), nil)
	noError(t, err)
	drifts := 0
	for drift, err := range keeper.Audit(ctx, acme) {
		noError(t, err)
		drifts++
		if drift.Field != "depotName" {
			t.Errorf("%+v", drift)
		}
	}
	progress, err := keeper.Repair(ctx, acme, nil)
	if err != nil || drifts != 1 || progress.Compared != 1 || progress.Repaired != 1 {
		t.Errorf("%d drifts; Repair: %+v, %v", drifts, progress, err)
	}
}
