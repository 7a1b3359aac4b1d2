package denorm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// The chain of these types is declared against the order of their names.
type Aisle struct {
	tenantitem.TenantItem[Aisle]
	ZoneID tenantitem.Ref[Zone] `json:"zoneId"`
	City   string               `json:"city,omitempty" denorm:"sync,ref=zoneId,field=city"`
	Bins   int                  `json:"bins"`
}

type Zone struct {
	tenantitem.TenantItem[Zone]
	TownID tenantitem.Ref[Zoo] `json:"townId"`
	City   string              `json:"city,omitempty" denorm:"sync,ref=townId,field=name"`
	Aisles []AisleCard         `json:"aisles"`
}

type AisleCard struct {
	ID   tenantitem.Ref[Aisle] `json:"id"`
	Bins int                   `json:"bins"`
}

type Zoo struct {
	tenantitem.TenantItem[Zoo]
	Name string `json:"name"`
}

type Bin struct {
	tenantitem.TenantItem[Bin]
	AisleID tenantitem.Ref[Aisle] `json:"aisleId"`
}

// One run of Repair leaves nothing to do, however many copies are copied on, and although each type holds something of the other.
func TestRepairOfAChainTakesOneRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := registry.Config{Database: "chain", Provision: true, Containers: []registry.Container{{ID: "all", PartitionKey: []string{"/tenantId"}}}}
	cfg.Logger = layout().Logger
	db, keeper := openLayout(t, b.client, "", cfg, []registry.Declaration{
		registry.EntityOf[Aisle](registry.In("all")), registry.EntityOf[Zone](registry.In("all")), registry.EntityOf[Zoo](registry.In("all")), registry.EntityOf[Bin](registry.In("all")),
	}, []denorm.Declaration{denorm.CountOf[Aisle, Bin]("bins", "aisleId"), denorm.RecentOf[Zone, Aisle]("aisles", 3)})
	b.must(db.Prepare(b.ctx))
	b.keeper = keeper
	all, _ := db.Container("all")
	for _, doc := range []string{
		`{"id":"zoo","tenantId":"acme","entityType":"Zoo","name":"Bonn"}`,
		`{"id":"zone","tenantId":"acme","entityType":"Zone","townId":"zoo","city":"x"}`,
		`{"id":"aisle","tenantId":"acme","entityType":"Aisle","zoneId":"zone","city":"x","bins":9}`,
		`{"id":"bin","tenantId":"acme","entityType":"Bin","aisleId":"aisle"}`,
	} {
		b.must(patiently(func() error {
			_, err := all.CreateItem(b.ctx, azcosmos.NewPartitionKeyString(acme), []byte(doc), nil)
			return err
		}))
	}
	progress, err := keeper.Repair(b.ctx, acme, nil)
	b.must(err)
	if progress.Repaired < 3 {
		t.Errorf("progress: %+v", progress)
	}
	b.noDrift()
	aisle, err := repo[Aisle](t, db).In(acme).Get(b.ctx, "aisle")
	b.must(err)
	zone, err := repo[Zone](t, db).In(acme).Get(b.ctx, "zone")
	b.must(err)
	if aisle.City != "Bonn" || aisle.Bins != 1 || len(zone.Aisles) != 1 || zone.Aisles[0].Bins != 1 {
		t.Errorf("after one run: %+v, %+v", aisle, zone)
	}
}

// A repair that is stopped whenever it tells its progress comes to its end in as many runs, and needs no second one: it goes on with the next
// entity type when one is done.
func TestARepairThatIsStoppedAtEveryStepEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := registry.Config{Database: "chain", Provision: true, Logger: layout().Logger, Containers: []registry.Container{{ID: "all", PartitionKey: []string{"/tenantId"}}}}
	types := []registry.Declaration{registry.EntityOf[Aisle](registry.In("all")), registry.EntityOf[Zone](registry.In("all")), registry.EntityOf[Zoo](registry.In("all"))}
	db, _ := openLayout(t, b.client, "", cfg, types, nil)
	b.must(db.Prepare(b.ctx))
	all, _ := db.Container("all")
	docs := []string{`{"id":"zoo","tenantId":"acme","entityType":"Zoo","name":"Bonn"}`}
	const n = 700
	for i := range n {
		docs = append(docs,
			fmt.Sprintf(`{"id":"z%d","tenantId":"acme","entityType":"Zone","townId":"zoo","city":"x"}`, i),
			fmt.Sprintf(`{"id":"a%d","tenantId":"acme","entityType":"Aisle","zoneId":"z%d","city":"x"}`, i, n-1-i))
	}
	for chunk := range slices.Chunk(docs, 100) {
		b.must(patiently(func() error {
			batch := all.NewTransactionalBatch(azcosmos.NewPartitionKeyString(acme))
			for _, doc := range chunk {
				batch.CreateItem([]byte(doc), nil)
			}
			_, err := all.ExecuteTransactionalBatch(b.ctx, batch, nil)
			return err
		}))
	}
	resume, ended := "", false
	var repaired int64
	for range 6 {
		_, b.keeper = openLayout(t, b.client, "", cfg, types, nil)
		ctx, stop := context.WithCancel(b.ctx)
		progress, err := b.keeper.Repair(ctx, acme, &denorm.RepairOptions{Resume: resume, Progress: func(p denorm.RepairProgress) { resume = p.Resume; stop() }})
		stop()
		repaired += progress.Repaired
		ended = err == nil
	}
	if !ended || repaired != 2*n {
		t.Errorf("ended %v, %d repaired", ended, repaired)
	}
	b.noDrift()
}
