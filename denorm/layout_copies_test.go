package denorm_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	layouts "github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Shop and Shelf are kept in documents of other shapes than Grove's own.
type Shop struct {
	tenantitem.TenantItem[Shop]
	Name    *string     `json:"name"`
	Shelves int         `json:"shelves"`
	Newest  []ShelfCard `json:"newest,omitempty"`
}

type ShelfCard struct {
	ID    tenantitem.Ref[Shelf] `json:"id"`
	Label string                `json:"label"`
}

type Shelf struct {
	tenantitem.TenantItem[Shelf]
	Label    string               `json:"label"`
	ShopID   tenantitem.Ref[Shop] `json:"shopId,omitempty"`
	ShopName *string              `json:"shopName" denorm:"sync,ref=shopId,field=name"`
	Then     *string              `json:"then,omitempty" denorm:"snapshot,ref=shopId,field=name"`
	Rows     []ShelfRow           `json:"rows,omitempty"`
}

type ShelfRow struct {
	ShopID   tenantitem.Ref[Shop] `json:"shopId,omitempty"`
	ShopName *string              `json:"shopName,omitempty" denorm:"sync,ref=shopId,field=name"`
}

// Copies, counts and lists are the same in documents of every layout.
func TestCopiesInOtherLayouts(t *testing.T) {
	t.Parallel()
	for name, l := range map[string][2]layouts.Layout{
		"Grove's own": {},
		"other names": {
			{Names: map[string]string{"name": "title", "shelves": "n", "newest": "latest"}},
			{Names: map[string]string{"shopId": "shop_id", "shopName": "shop_name", "rows": "lines", "label": "text"}},
		},
		"id prefixes":    {{IDPrefix: "Shop|"}, {IDPrefix: "Shelf|"}},
		"in an envelope": {{Envelope: "value"}, {Envelope: "value"}},
		"partly outside": {{Envelope: "properties", Outside: []string{"name"}}, {Envelope: "properties", Outside: []string{"shopId"}}},
		"without marks":  {{NoMarks: true}, {NoMarks: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, in := t.Context(), registry.In("shop")
			for _, key := range [][]string{{"/tenantId"}, {"/tenantId", "/entityType"}} {
				db, keeper := openOf(t, emulatortest.New(t), key, []registry.Declaration{registry.EntityOf[Shop](in, registry.WithLayout(l[0])), registry.EntityOf[Shelf](in, registry.WithLayout(l[1]))},
					denorm.OnDeleteOf[Shelf, Shop]("shopId", denorm.Clear), denorm.OnDeleteOf[Shelf, Shop]("rows[].shopId", denorm.Clear),
					denorm.CountOf[Shop, Shelf]("shelves", "shopId"), denorm.RecentOf[Shop, Shelf]("newest", 2, "shopId"))
				shops, shelves := repo[Shop](t, db).In(acme), repo[Shelf](t, db).In(acme)
				shop := &Shop{Name: pointer("Red")}
				noError(t, shops.Create(ctx, shop))
				shelf := &Shelf{Label: "a", ShopID: shop.Ref(), Rows: []ShelfRow{{}, {ShopID: shop.Ref()}}}
				noError(t, shelves.Create(ctx, shelf))
				text := func(s *string) string {
					if s == nil {
						return "nothing"
					}
					return *s
				}
				says := func(when, want string, ref tenantitem.Ref[Shop]) {
					t.Helper()
					noError(t, keeper.CatchUp(ctx))
					got, err := shelves.Get(ctx, shelf.ID)
					noError(t, err)
					if text(got.ShopName) != want || text(got.Rows[1].ShopName) != want || text(got.Then) != "Red" || got.ShopID != ref || got.Rows[1].ShopID != ref || got.Rows[0].ShopName != nil {
						t.Errorf("%v %s: %s, %+v, %s", key, when, text(got.ShopName), got, text(got.Rows[1].ShopName))
					}
					for drift, err := range keeper.Audit(ctx, acme) {
						t.Errorf("%v %s: %+v %v", key, when, drift, err)
					}
				}
				says("created", "Red", shop.Ref())
				rename := func(to *string) {
					_, err := shops.Mutate(ctx, shop.ID, func(s *Shop) error { s.Name = to; return nil })
					noError(t, err)
				}
				_, err := shelves.Mutate(ctx, shelf.ID, func(s *Shelf) error { s.Label = "b"; return nil })
				noError(t, err)
				rename(nil)
				says("became nothing", "nothing", shop.Ref())
				rename(pointer("Blue"))
				says("renamed", "Blue", shop.Ref())
				if got, err := shops.Get(ctx, shop.ID); err != nil || got.Shelves != 1 || len(got.Newest) != 1 || got.Newest[0] != (ShelfCard{shelf.Ref(), "b"}) {
					t.Errorf("%v: %+v %v", key, got, err)
				}
				noError(t, shops.Delete(ctx, shop.ID, nil))
				says("deleted", "nothing", "")
			}
		})
	}
}

// What a quarantine holds of documents of other layouts goes with their tenant.
func TestAnErasureReachesTheQuarantineOfOtherLayouts(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]struct {
		layout layouts.Layout
		body   string
	}{
		"other names":    {layouts.Layout{Names: map[string]string{"tenantId": "tenant_id"}}, `{"id":"s","tenant_id":"acme","entityType":"Shop","shelves":"many"}`},
		"an id prefix":   {layouts.Layout{IDPrefix: "Doc|"}, `{"id":"Doc|s","tenantId":"acme","entityType":"Shop","shelves":"many"}`},
		"in an envelope": {layouts.Layout{Envelope: "value"}, `{"id":"s","tenantId":"acme","entityType":"Shop","value":{"shelves":"many"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, in := t.Context(), registry.In("shop")
			path := "/tenantId"
			if strings.Contains(l.body, "tenant_id") {
				path = "/tenant_id"
			}
			db, keeper := openOf(t, emulatortest.New(t, emulatortest.Calm()), []string{path}, []registry.Declaration{registry.EntityOf[Shop](in, registry.WithLayout(l.layout)), registry.EntityOf[Shelf](in, registry.WithLayout(l.layout))},
				denorm.CountOf[Shop, Shelf]("shelves", "shopId"))
			container, _ := db.Container("shop")
			_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString(acme), []byte(l.body), nil)
			noError(t, err)
			noError(t, keeper.CatchUp(ctx))
			held := func() (n int64) {
				p, _ := keeper.Processor("shop")
				for _, err := range p.Quarantined(ctx) {
					noError(t, err)
					n++
				}
				return n
			}
			before := held()
			got, err := db.Tenants().Erase(ctx, acme, &registry.EraseOptions{Where: registry.RefersTo("s")})
			if err != nil || before != 1 || got.Quarantined != 1 || held() != 0 {
				t.Errorf("%d in quarantine, %d erased, %d left, %v", before, got.Quarantined, held(), err)
			}
		})
	}
}
