package denorm_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Vessel has one field, and VesselOf one copy of it: nothing else tells the keeper that a copy is stale.
type Vessel[S any] struct {
	tenantitem.TenantItem[Vessel[S]]
	Value S `json:"value"`
}

type VesselOf[S, C any] struct {
	tenantitem.TenantItem[VesselOf[S, C]]
	VesselID tenantitem.Ref[Vessel[S]] `json:"vesselId,omitempty"`
	Value    C                         `json:"value" denorm:"sync,ref=vesselId,field=value"`
}

// followsAll changes the field from each value to each other one.
func followsAll[S, C any](values []S, copied func(S) C) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		for i, from := range values {
			for j, to := range values {
				t.Run(fmt.Sprint(i, " to ", j), func(t *testing.T) {
					t.Parallel()
					ctx, in := t.Context(), registry.In("shop")
					db, keeper := openOf(t, emulatortest.New(t, emulatortest.Calm()), []string{"/tenantId"}, []registry.Declaration{
						registry.EntityOf[Vessel[S]](in, registry.Named("Vessel")), registry.EntityOf[VesselOf[S, C]](in, registry.Named("VesselOf")),
					})
					vessels, copies := repo[Vessel[S]](t, db).In(acme), repo[VesselOf[S, C]](t, db).In(acme)
					vessel := &Vessel[S]{Value: from}
					noError(t, vessels.Create(ctx, vessel))
					of := &VesselOf[S, C]{VesselID: vessel.Ref()}
					noError(t, copies.Create(ctx, of))
					noError(t, keeper.CatchUp(ctx))
					_, err := vessels.Mutate(ctx, vessel.ID, func(v *Vessel[S]) error { v.Value = to; return nil })
					noError(t, err)
					noError(t, keeper.CatchUp(ctx))
					got, err := copies.Get(ctx, of.ID)
					noError(t, err)
					if want := copied(to); !reflect.DeepEqual(got.Value, want) {
						t.Errorf("%#v, want %#v", got.Value, want)
					}
				})
			}
		}
	}
}

// A change of one field is followed whatever it becomes, nothing too.
func TestACopyBecomesNothing(t *testing.T) {
	t.Parallel()
	plain := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	t.Run("a pointer", followsAll([]*string{nil, pointer(""), pointer("x")}, func(s *string) *string { return s }))
	t.Run("a text of a pointer", followsAll([]*string{nil, pointer(""), pointer("x")}, plain))
	t.Run("a pointer to a number", followsAll([]*int{nil, pointer(0), pointer(7)}, func(n *int) *int { return n }))
	t.Run("a list", followsAll([][]string{nil, {"a"}, {"b", "c"}}, func(l []string) []string { return l }))
	t.Run("a map", followsAll([]map[string]int{nil, {"a": 1}}, func(m map[string]int) map[string]int { return m }))
	t.Run("a pointer to a struct", followsAll([]*Place{nil, {}, {City: "Ulm"}}, func(p *Place) *Place { return p }))
	t.Run("anything", followsAll([]any{nil, "", "x", true, []any{}, map[string]any{"a": "b"}}, func(v any) any { return v }))
}
