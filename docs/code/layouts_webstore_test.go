package code

import (
	"log/slog"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Customer is {"id": "c1", "customerId": "c1", "type": "customer", ...}; its
// orders are {"id", "customerId": "c1", "type": "salesOrder", ...} beside it.
type Customer struct {
	tenantitem.TenantItem[Customer]
	Name            string `json:"name"`
	SalesOrderCount int    `json:"salesOrderCount"`
}

type SalesOrder struct {
	parented.ParentedItem[SalesOrder, Customer]
	Total float64 `json:"total"`
}

func customerWithOrders() []registry.Declaration {
	return []registry.Declaration{
		registry.EntityOf[Customer](registry.In("customer"), registry.Named("customer"), registry.WithLayout(layout.Layout{
			Key:    []layout.KeySource{layout.FromField("id")},
			Names:  map[string]string{"entityType": "type"},
			Global: true,
		})),
		registry.ChildOf[SalesOrder, Customer](parented.Cascade, registry.In("customer"), registry.Named("salesOrder"), registry.WithLayout(layout.Layout{
			Key:    []layout.KeySource{layout.FromField("parentId")},
			Names:  map[string]string{"entityType": "type", "parentId": "customerId"},
			Global: true,
		})),
	}
}

// Children in their parent's logical partition, without any tenant.
func TestChildrenInTheirParentsPartition(t *testing.T) {
	t.Parallel()
	for kind, options := range map[string][]emulatortest.Option{"kind": {emulatortest.Calm()}, "unkind": {emulatortest.Unkind(5)}} { // whatever GROVE_UNKIND says
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			plan, err := registry.NewPlan(registry.Config{
				Database: "webstore", Provision: true, Logger: slog.New(slog.DiscardHandler),
				Containers: []registry.Container{{ID: "customer", PartitionKey: []string{"/customerId"}}},
			}, customerWithOrders())
			check(t, err)
			db, err := registry.Open(emulatortest.New(t, options...).Client(nil), plan)
			check(t, err)
			check(t, db.Prepare(ctx))
			customers, err := registry.RepositoryOf[Customer](db)
			check(t, err)
			orders, err := registry.ChildrenOf[SalesOrder, Customer](db)
			check(t, err)

			ada := &Customer{Name: "Ada"}
			if err := customers.Global().Create(ctx, ada); err != nil {
				t.Fatal(err)
			}
			order := &SalesOrder{Total: 12}
			order.ParentID = ada.Ref()
			err = partition.Commit(ctx, // one transaction
				orders.Items().Global(ada.ID).Batch().Create(order),
				customers.Global().Batch().Patch(ada.ID, repository.Increment("/salesOrderCount", 1)),
			)
			if err != nil {
				t.Fatal(err)
			}
			withOrders := orders.Part(repository.All(), 100)
			counted, tally := repository.WithTally(ctx)
			ada, err = parented.Load(counted, customers.Global(), ada.ID, withOrders) // one query of one partition
			check(t, err)
			if ada.SalesOrderCount != 1 || len(withOrders.Items) != 1 || withOrders.Items[0].Total != 12 {
				t.Errorf("read a count of %d with %d orders", ada.SalesOrderCount, len(withOrders.Items))
			}
			if kind == "kind" && tally.Requests() != 1 {
				t.Errorf("it took %d requests", tally.Requests())
			}
			t.Logf("a customer with all orders: %.2f RU", tally.RequestUnits())
			counted, tally = repository.WithTally(ctx)
			_, err = customers.Global().Get(counted, ada.ID)
			check(t, err)
			if kind == "kind" && tally.Requests() != 1 {
				t.Errorf("a customer by its id took %d requests", tally.Requests())
			}
			// One side that fails leaves the other as it was.
			err = partition.Commit(ctx,
				orders.Items().Global(ada.ID).Batch().Create(&SalesOrder{ParentedItem: withOrders.Items[0].ParentedItem}),
				customers.Global().Batch().Patch(ada.ID, repository.Increment("/salesOrderCount", 1)),
			)
			if err == nil {
				t.Error("an order was created twice")
			}
			again, err := customers.Global().Get(ctx, ada.ID)
			check(t, err)
			if again.SalesOrderCount != 1 {
				t.Error("the count is", again.SalesOrderCount)
			}
		})
	}
}
