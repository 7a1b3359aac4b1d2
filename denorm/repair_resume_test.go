package denorm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Depot counts what stands in it.
type Depot struct {
	tenantitem.TenantItem[Depot]
	Name   string `json:"name"`
	Vans   int    `json:"vans"`
	Trucks int    `json:"trucks"`
}

type Van struct {
	tenantitem.TenantItem[Van]
	DepotID   tenantitem.Ref[Depot] `json:"depotId,omitempty"`
	DepotName string                `json:"depotName,omitempty" denorm:"sync,ref=depotId,field=name"`
}

type Truck struct {
	tenantitem.TenantItem[Truck]
	DepotID tenantitem.Ref[Depot] `json:"depotId,omitempty"`
}

// A repair that goes on under other declarations begins again: those that are new hold for what was compared as well.
func TestARepairGoesOnUnderOtherDeclarations(t *testing.T) {
	t.Parallel()
	vans, trucks := denorm.CountOf[Depot, Van]("vans", "depotId"), denorm.CountOf[Depot, Truck]("trucks", "depotId")
	for name, c := range map[string]struct {
		before, after []denorm.Declaration
		trucks        bool // are counted after it
		compared      int64
	}{
		"the same":  {[]denorm.Declaration{vans}, []denorm.Declaration{vans}, false, 102},
		"one more":  {[]denorm.Declaration{vans}, []denorm.Declaration{vans, trucks}, true, 602},
		"one less":  {[]denorm.Declaration{vans, trucks}, []denorm.Declaration{trucks}, true, 602},
		"another":   {[]denorm.Declaration{vans}, []denorm.Declaration{trucks}, true, 602},
		"the order": {[]denorm.Declaration{vans, trucks}, []denorm.Declaration{trucks, vans}, true, 102},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, emu := t.Context(), emulatortest.New(t)
			entities := []registry.Declaration{registry.EntityOf[Depot](registry.In("shop")), registry.EntityOf[Van](registry.In("shop")), registry.EntityOf[Truck](registry.In("shop"))}
			plain, _ := openOf(t, emu, []string{"/tenantId"}, entities)
			depots := make([]*Depot, 600)
			for i := range depots {
				depots[i] = &Depot{Name: "d"}
			}
			_, err := repo[Depot](t, plain).In(acme).SaveAll(ctx, slices.Values(depots), nil)
			noError(t, err)
			first := slices.MinFunc(depots, func(a, b *Depot) int { return strings.Compare(a.ID, b.ID) })
			noError(t, repo[Truck](t, plain).In(acme).Create(ctx, &Truck{DepotID: first.Ref()}))

			_, keeper := openOf(t, emu, []string{"/tenantId"}, entities, c.before...)
			var resume []string
			_, err = keeper.Repair(ctx, acme, &denorm.RepairOptions{Progress: func(p denorm.RepairProgress) { resume = append(resume, p.Resume) }})
			noError(t, err)
			db, keeper := openOf(t, emu, []string{"/tenantId"}, entities, c.after...)
			progress, err := keeper.Repair(ctx, acme, &denorm.RepairOptions{Resume: resume[0]})
			if err != nil || progress.Compared > c.compared || progress.Compared < c.compared-2 {
				t.Errorf("Repair: %+v, %v, want about %d compared", progress, err, c.compared)
			}
			for drift, err := range keeper.Audit(ctx, acme) {
				t.Errorf("%v %v", drift, err)
			}
			if got, err := repo[Depot](t, db).In(acme).Get(ctx, first.ID); err != nil || c.trucks && got.Trucks != 1 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestAPositionThatIsNone(t *testing.T) {
	t.Parallel()
	_, keeper := openOf(t, emulatortest.New(t), []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Depot](registry.In("shop")), registry.EntityOf[Van](registry.In("shop"))})
	for _, text := range []string{"x", "{}", "[]", "null", `{"stage":-1,"entityType":"Van"}`, `{"stage":"0"}`} {
		if _, err := keeper.Repair(t.Context(), acme, &denorm.RepairOptions{Resume: text}); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// One of a version before, or of declarations that are gone.
	for _, text := range []string{`{"stage":0,"entityType":"Van","id":"a"}`, `{"stage":9,"entityType":"Tram","id":"a"}`} {
		if _, err := keeper.Repair(t.Context(), acme, &denorm.RepairOptions{Resume: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
