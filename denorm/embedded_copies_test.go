package denorm_test

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Tour has its reference in front of the copies, which stand in structs that may be absent.
type Tour struct {
	tenantitem.TenantItem[Tour]
	TeamID tenantitem.Ref[Team] `json:"teamId,omitempty"`
	*TourNames
	Stops []*TourStop `json:"stops,omitempty"`
}

type TourNames struct {
	Name string `json:"name,omitempty" denorm:"sync,ref=teamId,field=name"`
	*TourThen
}

type TourThen struct {
	Then *string `json:"then,omitempty" denorm:"snapshot,ref=teamId,field=name"`
}

type TourStop struct {
	TeamID tenantitem.Ref[Team] `json:"teamId,omitempty"`
	*TourNames
}

// Copies in an embedded pointer are filled by the write, as those in an embedded struct are.
func TestCopiesInAnEmbeddedPointer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, keeper := openOf(t, emulatortest.New(t), []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Team](registry.In("shop")), registry.EntityOf[Tour](registry.In("shop"))})
	teams, tours := repo[Team](t, db).In(acme), repo[Tour](t, db).In(acme)
	team := &Team{Name: "Red"}
	noError(t, teams.Create(ctx, team))
	tour, bare := &Tour{TeamID: team.Ref(), Stops: []*TourStop{nil, {TeamID: team.Ref()}, {}}}, &Tour{}
	noError(t, tours.Create(ctx, tour))
	noError(t, tours.Create(ctx, bare))
	says := func(when, name string) {
		t.Helper()
		got, err := tours.Get(ctx, tour.ID)
		noError(t, err)
		if len(got.Stops) != 3 || got.Stops[1] == nil {
			t.Fatalf("%s: %+v", when, got)
		}
		for place, names := range map[string]*TourNames{"the tour": got.TourNames, "its stop": got.Stops[1].TourNames} {
			if names == nil || names.Name != name || names.TourThen == nil || names.Then == nil || *names.Then != "Red" {
				t.Errorf("%s: %s: %+v", when, place, names)
			}
		}
		if got.Stops[2].TourNames != nil {
			t.Errorf("%s: without a reference: %+v", when, got.Stops[2].TourNames)
		}
		empty, err := tours.Get(ctx, bare.ID)
		if err != nil || empty.TourNames != nil {
			t.Errorf("%s: without references: %+v, %v", when, empty, err)
		}
	}
	says("created", "Red")
	_, err := teams.Mutate(ctx, team.ID, func(team *Team) error { team.Name = "Blue"; return nil })
	noError(t, err)
	noError(t, keeper.CatchUp(ctx))
	says("followed", "Blue")
	_, err = tours.Mutate(ctx, tour.ID, func(v *Tour) error {
		v.TourNames, v.Stops[1].TourNames = nil, nil
		return nil
	})
	noError(t, err)
	says("written without them", "Blue")
	for drift, err := range keeper.Audit(ctx, acme) {
		t.Errorf("%v %v", drift, err)
	}
}
