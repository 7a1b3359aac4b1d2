package denorm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Mast has cranes, some of which it lists.
type Mast struct {
	tenantitem.TenantItem[Mast]
	Place  Place       `json:"place"`
	Newest []CraneCard `json:"newest,omitempty"`
	Cranes int         `json:"cranes"`
}

type Place struct {
	City, Street string
}

type CraneCard struct {
	ID tenantitem.Ref[Crane] `json:"id"`
}

type Crane struct {
	tenantitem.TenantItem[Crane]
	At CraneAt `json:"at"`
}

type CraneAt struct {
	MastID tenantitem.Ref[Mast] `json:"mastId,omitempty"`
	HomeID tenantitem.Ref[Mast] `json:"homeId,omitempty"`
}

// What a declaration says more than which members it keeps, and of which ones: a repair begins anew for that too.
func TestARepairGoesOnUnderChangedDeclarations(t *testing.T) {
	t.Parallel()
	of := func(n int, ref string) []denorm.Declaration {
		return []denorm.Declaration{denorm.RecentOf[Mast, Crane]("newest", n, "at.mastId"), denorm.CountOf[Mast, Crane]("cranes", ref)}
	}
	for name, after := range map[string][]denorm.Declaration{"a longer list": of(2, "at.mastId"), "another reference": of(1, "at.homeId")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, emu := t.Context(), emulatortest.New(t)
			entities := []registry.Declaration{registry.EntityOf[Mast](registry.In("shop")), registry.EntityOf[Crane](registry.In("shop"))}
			db, keeper := openOf(t, emu, []string{"/tenantId"}, entities, of(1, "at.mastId")...)
			masts := make([]*Mast, 501)
			for i := range masts {
				masts[i] = &Mast{}
			}
			_, err := repo[Mast](t, db).In(acme).SaveAll(ctx, slices.Values(masts), nil)
			noError(t, err)
			first := slices.MinFunc(masts, func(a, b *Mast) int { return strings.Compare(a.ID, b.ID) })
			for range 2 {
				noError(t, repo[Crane](t, db).In(acme).Create(ctx, &Crane{At: CraneAt{MastID: first.Ref()}}))
			}
			var resume []string
			_, err = keeper.Repair(ctx, acme, &denorm.RepairOptions{Progress: func(p denorm.RepairProgress) { resume = append(resume, p.Resume) }})
			noError(t, err)
			_, keeper = openOf(t, emu, []string{"/tenantId"}, entities, after...)
			_, err = keeper.Repair(ctx, acme, &denorm.RepairOptions{Resume: resume[0]})
			noError(t, err)
			for drift, err := range keeper.Audit(ctx, acme) {
				t.Errorf("%+v %v", drift, err)
			}
		})
	}
}

// Badge copies a part of a mast's place; NextBadge, stored as the same, another part.
type Badge struct {
	tenantitem.TenantItem[Badge]
	MastID tenantitem.Ref[Mast] `json:"mastId,omitempty"`
	Shown  string               `json:"shown" denorm:"sync,ref=mastId,field=place.City"`
}

type NextBadge struct {
	tenantitem.TenantItem[NextBadge]
	MastID tenantitem.Ref[Mast] `json:"mastId,omitempty"`
	Shown  string               `json:"shown" denorm:"sync,ref=mastId,field=place.Street"`
}

func TestARepairGoesOnWithAnotherPartOfItsSource(t *testing.T) {
	t.Parallel()
	ctx, emu := t.Context(), emulatortest.New(t)
	mast, in := registry.EntityOf[Mast](registry.In("shop")), registry.In("shop")
	db, keeper := openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{mast, registry.EntityOf[Badge](in)})
	source := &Mast{Place: Place{City: "Ulm", Street: "Hafen"}}
	noError(t, repo[Mast](t, db).In(acme).Create(ctx, source))
	badges := make([]*Badge, 501)
	for i := range badges {
		badges[i] = &Badge{MastID: source.Ref()}
	}
	_, err := repo[Badge](t, db).In(acme).SaveAll(ctx, slices.Values(badges), nil)
	noError(t, err)
	var resume []string
	_, err = keeper.Repair(ctx, acme, &denorm.RepairOptions{Progress: func(p denorm.RepairProgress) { resume = append(resume, p.Resume) }})
	noError(t, err)

	_, keeper = openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{mast, registry.EntityOf[NextBadge](in, registry.Named("Badge"))})
	_, err = keeper.Repair(ctx, acme, &denorm.RepairOptions{Resume: resume[0]})
	noError(t, err)
	for drift, err := range keeper.Audit(ctx, acme) {
		t.Fatalf("%+v %v", drift, err)
	}
}
