package denorm_test

import (
	"reflect"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Seal holds copies in every kind of Go type that they can stand in.
type Seal struct {
	tenantitem.TenantItem[Seal]
	SealedBy
	*WitnessedBy
	Plain    Signature       `json:"plain"`
	Pointer  *Signature      `json:"pointer,omitempty"`
	Slice    []Signature     `json:"slice,omitempty"`
	Pointers []*Signature    `json:"pointers,omitempty"`
	OfSlice  *[]Signature    `json:"ofSlice,omitempty"`
	Array    [2]Signature    `json:"array"`
	Generic  Boxed[Optional] `json:"generic"`
}

type SealedBy struct {
	SealerID   tenantitem.Ref[Team] `json:"sealerId,omitempty"`
	SealerName string               `json:"sealerName,omitempty" denorm:"sync,ref=sealerId,field=name"`
}

type WitnessedBy struct {
	WitnessID   *tenantitem.Ref[Team] `json:"witnessId,omitempty"`
	WitnessName *string               `json:"witnessName,omitempty" denorm:"sync,ref=witnessId,field=name"`
}

type Signature struct {
	TeamID tenantitem.Ref[Team] `json:"teamId,omitempty"`
	Name   string               `json:"name,omitempty" denorm:"sync,ref=teamId,field=name"`
	Then   string               `json:"then,omitempty" denorm:"snapshot,ref=teamId,field=name"`
}

type Boxed[T any] struct {
	Value T `json:"value"`
}

type Optional = *[]*Boxed[Signature]

func TestCopiesInEveryKindOfGoType(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, keeper := openOf(t, emulatortest.New(t), []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Team](registry.In("shop")), registry.EntityOf[Seal](registry.In("shop"))})
	teams, seals := repo[Team](t, db).In(acme), repo[Seal](t, db).In(acme)
	team := &Team{Name: "Red"}
	noError(t, teams.Create(ctx, team))
	ref := team.Ref()
	// full has a reference in every place, with these copies.
	full := func(name, then string) *Seal {
		s := Signature{TeamID: ref, Name: name, Then: then}
		seal := &Seal{
			SealedBy: SealedBy{SealerID: ref, SealerName: name}, WitnessedBy: &WitnessedBy{WitnessID: &ref},
			Plain: s, Pointer: &s, Slice: []Signature{s, {}, s}, Pointers: []*Signature{&s, nil}, OfSlice: &[]Signature{s}, Array: [2]Signature{{}, s},
			Generic: Boxed[Optional]{Value: &[]*Boxed[Signature]{nil, {Value: s}}},
		}
		if name != "" {
			seal.WitnessName = &name
		}
		return seal
	}
	seal, bare := full("", ""), &Seal{}
	noError(t, seals.Create(ctx, seal))
	noError(t, seals.Create(ctx, bare))
	same := func(when, id string, want *Seal) {
		t.Helper()
		got, err := seals.Get(ctx, id)
		noError(t, err)
		want.TenantItem = got.TenantItem
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", when, got, want)
		}
	}
	same("created", seal.ID, full("Red", "Red"))
	_, err := teams.Mutate(ctx, team.ID, func(team *Team) error { team.Name = "Blue"; return nil })
	noError(t, err)
	noError(t, keeper.CatchUp(ctx))
	same("followed", seal.ID, full("Blue", "Red"))
	same("without references", bare.ID, &Seal{})
	for drift, err := range keeper.Audit(ctx, acme) {
		t.Errorf("%v %v", drift, err)
	}
}
