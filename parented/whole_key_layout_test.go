package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// containerIn creates a container whose documents may expire.
func containerIn(t *testing.T, database *azcosmos.DatabaseClient, id string, key ...string) *azcosmos.ContainerClient {
	t.Helper()
	kind, forever := azcosmos.PartitionKeyKindMultiHash, int32(-1)
	if len(key) == 1 {
		kind = azcosmos.PartitionKeyKindHash
	}
	_, err := database.CreateContainer(t.Context(), azcosmos.ContainerProperties{
		ID: id, DefaultTimeToLive: &forever,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: key, Kind: kind, Version: 2},
	}, nil)
	must(t, err)
	container, err := database.NewContainer(id)
	must(t, err)
	return container
}

// Place holds what tells two houses of one number apart.
type Place struct {
	City   string `json:"city"`
	Street string `json:"street"`
}

type House struct {
	tenantitem.TenantItem[House]
	Address Place `json:"address"`
}

type Room struct {
	parented.ParentedItem[Room, House]
	Address Place  `json:"address"`
	Name    string `json:"name"`
}

// openHouses is houses under a key that stands in a nested object, and their rooms.
func openHouses(t *testing.T, rule parented.Rule, roomKey []string, l *layout.Layout, options ...emulatortest.Option) (*parented.Forest, *repository.Repository[House], *parented.Repository[Room, House], *azcosmos.ContainerClient) {
	t.Helper()
	g := plant(t, planting{client: emulatortest.Client(t, options...)})
	key, soft := []string{"/tenantId", "/address/city"}, parented.Policy{Retain: time.Hour}
	houses, err := repository.New[House](containerIn(t, g.database, "houses", key...), repository.Config{PartitionKey: key})
	must(t, err)
	forest := parented.NewForest(parented.ForestConfig{})
	must(t, parented.Register(forest, houses, soft))
	below := containerIn(t, g.database, "rooms", roomKey...)
	rooms, err := parented.New[Room](forest, houses, below, parented.Config{Config: repository.Config{PartitionKey: roomKey, Layout: l}, Rule: rule, Policy: soft})
	must(t, err)
	for _, city := range []string{"Bonn", "Rome", "Oslo"} {
		h := &House{Address: Place{City: city}}
		h.ID = "1"
		must(t, houses.In("acme", city).Create(t.Context(), h))
		r := &Room{Name: city, Address: Place{Street: "Main Street"}}
		r.ID = city
		must(t, rooms.Under(h).Create(t.Context(), r))
	}
	return forest, houses, rooms, below
}

// Children may have their whole parent in a nested object, and be stored in any layout.
func TestNestedFieldsInLayouts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key    []string
		layout *layout.Layout
	}{
		"none":     {[]string{"/tenantId", "/entityType"}, nil},
		"names":    {[]string{"/org"}, &layout.Layout{Names: map[string]string{"address": "where", "parentId": "house", "tenantId": "org", "deletedAt": "gone"}}},
		"envelope": {[]string{"/org"}, &layout.Layout{Envelope: "value", Names: map[string]string{"tenantId": "org"}}},
		"prefix":   {[]string{"/tenantId"}, &layout.Layout{IDPrefix: "Room|"}},
	} {
		for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
			t.Run(fmt.Sprint(name, ", ", rule), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				forest, houses, rooms, _ := openHouses(t, rule, tt.key, tt.layout)
				standing := func(want string) {
					t.Helper()
					seen := ""
					for r, err := range rooms.In("acme").Query(ctx, repository.All().OrderBy("id")) {
						must(t, err)
						seen += fmt.Sprintf("%s:%s %s;", r.ID, r.ParentID, r.Address.City)
						if r.Address.Street != "Main Street" {
							t.Errorf("the street of %s is %q", r.ID, r.Address.Street)
						}
					}
					if seen != want {
						t.Fatalf("rooms %s want %s", seen, want)
					}
				}
				must(t, rooms.Move(ctx, "acme", "Bonn", "1", "Rome"))
				must(t, houses.In("acme", "Bonn").Delete(ctx, "1", nil))
				all := "Bonn:1 Rome;Oslo:1 Oslo;Rome:1 Rome;"
				standing(all)
				err := houses.In("acme", "Oslo").Delete(ctx, "1", nil)
				switch rule {
				case parented.Cascade:
					must(t, err)
					standing("Bonn:1 Rome;Rome:1 Rome;")
					must(t, houses.In("acme", "Oslo").Restore(ctx, "1"))
					standing(all)
				case parented.Restrict:
					mustBe(t, err, repository.ErrHasChildren)
					standing(all)
				case parented.Orphan:
					must(t, err)
					standing("Bonn:1 Rome;Oslo: Oslo;Rome:1 Rome;")
				}
				for _, edits := range []repository.Edits{repository.Edits{}.Set("address.city", "Bonn"), repository.Edits{}.Set("address", Place{City: "Bonn"})} {
					_, err := rooms.In("acme").Patch(ctx, "Rome", edits)
					mustBe(t, err, repository.ErrInvalid)
				}
				swept, err := forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
				if err != nil || len(swept) != 0 {
					t.Errorf("a sweep found %v, %v", swept, err)
				}
			})
		}
	}
}

// A child without the object that would name its parent gets one by a write of the whole child; a patch, which is
// what a move is, could not put a field into it.
func TestAChildWithoutTheObjectThatNamesItsParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// It writes around the repositories, without their retries.
	_, _, rooms, below := openHouses(t, parented.Cascade, []string{"/tenantId", "/entityType"}, nil, emulatortest.Calm())
	raw, err := engine.EncodeValue(map[string]any{"id": "odd", "tenantId": "acme", "entityType": "Room", "parentId": "1", "name": "old"})
	must(t, err)
	_, err = below.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Room"), raw, nil)
	must(t, err)
	mustBe(t, rooms.Move(ctx, "acme", "odd", "1", "Rome"), repository.ErrInvalid)
	_, err = rooms.In("acme").Mutate(ctx, "odd", func(r *Room) error { r.Address.City = "Rome"; return nil })
	must(t, err)
	must(t, rooms.Move(ctx, "acme", "odd", "1", "Bonn"))
	if n, err := rooms.UnderID("acme", "1", "Bonn").Count(ctx, repository.All()); err != nil || n != 2 {
		t.Errorf("%d rooms in Bonn, %v", n, err)
	}
}
