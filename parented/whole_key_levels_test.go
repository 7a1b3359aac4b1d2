package parented_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Stall is a parent whose key holds a number and a boolean, of which 0 and false are values.
type Stall struct {
	tenantitem.TenantItem[Stall]
	Floor int  `json:"floor"`
	Open  bool `json:"open"`
}

type Visit struct {
	parented.ParentedItem[Visit, Stall]
	Floor int  `json:"floor"`
	Open  bool `json:"open"`
}

// Sketch may lack the floor where it is 0.
type Sketch struct {
	parented.ParentedItem[Sketch, Stall]
	Floor int  `json:"floor,omitempty"`
	Open  bool `json:"open"`
}

func TestLevelsThatAreNumbers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := plant(t, planting{client: emulatortest.Client(t)})
	key := []string{"/tenantId", "/floor", "/open"}
	_, err := g.database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "stalls",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: key, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	container, err := g.database.NewContainer("stalls")
	must(t, err)
	items, err := g.database.NewContainer("items")
	must(t, err)
	stalls, err := repository.New[Stall](container, repository.Config{PartitionKey: key})
	must(t, err)
	visits, err := parented.New[Visit](parented.NewForest(parented.ForestConfig{}), stalls, items, parented.Config{Rule: parented.Cascade})
	must(t, err)
	_, err = parented.New[Sketch](parented.NewForest(parented.ForestConfig{}), stalls, items, parented.Config{Rule: parented.Cascade})
	mustBe(t, err, repository.ErrInvalid)
	for _, at := range [][]any{{0, false}, {0, true}, {3, false}} {
		s := &Stall{}
		s.ID = "1"
		must(t, stalls.In("acme", at...).Create(ctx, s))
		must(t, visits.Under(s).Create(ctx, &Visit{}))
		must(t, visits.UnderID("acme", "1", at...).Create(ctx, &Visit{}))
	}
	must(t, stalls.In("acme", 0, false).Delete(ctx, "1", nil))
	for want, at := range map[int64][]any{0: {0, false}, 2: {3, false}} {
		if n, err := visits.UnderID("acme", "1", at...).Count(ctx, repository.All()); err != nil || n != want {
			t.Errorf("%d visits under %v, %v", n, at, err)
		}
	}
	if n, err := visits.In("acme").Count(ctx, repository.All()); err != nil || n != 4 {
		t.Errorf("%d visits, %v", n, err)
	}
}

// The id in the parents' key is a level as any other, and one that nobody has to name.
func TestParentsWhoseKeyHoldsTheID(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key  []string
		city []any
	}{
		"alone":         {[]string{"/tenantId", "/id"}, nil},
		"behind a city": {[]string{"/tenantId", "/city", "/id"}, []any{"Bonn"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			shops, items := openShops(t, tt.key, nil)
			forest := parented.NewForest(parented.ForestConfig{})
			must(t, parented.Register(forest, shops, parented.Policy{Retain: time.Hour}))
			reviews, err := parented.New[Review](forest, shops, items, parented.Config{Rule: parented.Cascade})
			must(t, err)
			for _, id := range []string{"1", "2"} {
				s := &Shop{City: "Bonn"}
				s.ID = id
				must(t, shops.In("acme", tt.city...).Create(ctx, s))
				for range 3 {
					must(t, reviews.Under(s).Create(ctx, &Review{Text: id}))
				}
				_, err := reviews.In("acme").SaveAll(ctx, slices.Values([]*Review{reviewOf(s), reviewOf(s)}), nil)
				must(t, err)
			}
			left := func() int64 {
				n, err := reviews.In("acme").Count(ctx, repository.All())
				must(t, err)
				return n
			}
			must(t, shops.In("acme", tt.city...).Delete(ctx, "1", nil))
			if n := left(); n != 5 {
				t.Errorf("%d reviews after the delete of one shop", n)
			}
			must(t, shops.In("acme", tt.city...).Restore(ctx, "1"))
			if n := left(); n != 10 {
				t.Errorf("%d reviews after its restore", n)
			}
			swept, err := forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
			if err != nil || len(swept) != 0 {
				t.Errorf("a sweep found %v, %v", swept, err)
			}
		})
	}
}

func reviewOf(s *Shop) *Review {
	r := &Review{City: s.City}
	r.ParentID = s.Ref()
	return r
}

type Pit struct {
	tenantitem.TenantItem[Pit]
	Depth float64 `json:"depth"`
}

type Stone struct {
	parented.ParentedItem[Stone, Pit]
	Depth float64 `json:"depth"`
}

// A batch of children of a hundred parents of one id, one of which has the level 0 and a child that says -0, which the service takes for the same.
func TestAHundredParentsOfOneID(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := plant(t, planting{client: emulatortest.Client(t)})
	key := []string{"/tenantId", "/depth"}
	pits, err := repository.New[Pit](containerIn(t, g.database, "pits", key...), repository.Config{PartitionKey: key})
	must(t, err)
	items, err := g.database.NewContainer("items")
	must(t, err)
	stones, err := parented.New[Stone](parented.NewForest(parented.ForestConfig{}), pits, items, parented.Config{Rule: parented.Cascade})
	must(t, err)
	batch := stones.In("acme").Batch()
	for i := range 100 {
		p, s := &Pit{}, &Stone{Depth: float64(i)}
		p.ID, s.ParentID = "1", "1"
		must(t, pits.In("acme", i).Create(ctx, p))
		if i == 0 {
			s.Depth = math.Copysign(0, -1)
		}
		batch = batch.Create(s)
	}
	must(t, batch.Commit(ctx))
	must(t, pits.In("acme", 0).Delete(ctx, "1", nil))
	if n, err := stones.In("acme").Count(ctx, repository.All()); err != nil || n != 99 {
		t.Errorf("%d stones, %v", n, err)
	}
}
