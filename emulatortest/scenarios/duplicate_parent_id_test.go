package scenarios_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Shop lies in a city, and its id is unique there only.
type Shop struct {
	tenantitem.TenantItem[Shop]
	City string `json:"city"`
}

// Review names its shop by the id and the city.
type Review struct {
	parented.ParentedItem[Review, Shop]
	City string `json:"city"`
}

// shopping is shops and their reviews as a process of its own sees them.
type shopping struct {
	forest  *parented.Forest
	shops   *repository.Repository[Shop]
	reviews *parented.Repository[Review, Shop]
}

func shoppingOf(w *emulatortest.World, rule parented.Rule) shopping {
	s := shopping{forest: parented.NewForest(parented.ForestConfig{PageSize: 1})}
	var err error
	s.shops, err = repository.New[Shop](containerOf(w, "shops"), repository.Config{PartitionKey: []string{"/tenantId", "/city"}})
	must(w, err)
	soft := parented.Policy{Retain: 24 * time.Hour}
	must(w, parented.Register(s.forest, s.shops, soft))
	s.reviews, err = parented.New[Review](s.forest, s.shops, containerOf(w, "main"), parented.Config{Rule: rule, Policy: soft})
	must(w, err)
	return s
}

func (s shopping) remove(w *emulatortest.World, city string) error {
	return s.shops.In("acme", city).Delete(w.Context(), "1", nil)
}

func (s shopping) create(w *emulatortest.World, id, city string) error {
	r := &Review{}
	r.ID = id
	return s.reviews.UnderID("acme", "1", city).Create(w.Context(), r)
}

// setupShopping leaves shop 1 in Bonn, in Rome and in Oslo, which nothing is done to, and each of the reviews under the shop of its city.
func setupShopping(reviews map[string]string) func(w *emulatortest.World) {
	return func(w *emulatortest.World) {
		forever := int32(-1)
		createContainer(w, "main", azcosmos.ContainerProperties{DefaultTimeToLive: &forever}, "/tenantId", "/entityType")
		createContainer(w, "shops", azcosmos.ContainerProperties{DefaultTimeToLive: &forever}, "/tenantId", "/city")
		s := shoppingOf(w, parented.Cascade)
		for _, city := range []string{"Bonn", "Rome", "Oslo"} {
			shop := &Shop{}
			shop.ID = "1"
			must(w, s.shops.In("acme", city).Create(w.Context(), shop))
		}
		must(w, s.create(w, "o", "Oslo"))
		for id, city := range reviews {
			must(w, s.create(w, id, city))
		}
	}
}

// seen is what readers see: cities that have the shop, and reviews with the cities of their parents.
func (s shopping) seen(w *emulatortest.World) (shops map[string]bool, reviews map[string]string, err error) {
	shops, reviews = map[string]bool{}, map[string]string{}
	for shop, err := range s.shops.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, nil, err
		}
		shops[shop.City] = true
	}
	for r, err := range s.reviews.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, nil, err
		}
		reviews[r.ID] = r.City
	}
	return shops, reviews, nil
}

// duplicateVariant is two calls about shop 1, of which one concerns that in Bonn.
type duplicateVariant struct {
	rule          parented.Rule
	before        map[string]string // reviews and their cities
	first, second func(w *emulatortest.World, s shopping) error
	check         func(a answers, shops map[string]bool, reviews map[string]string) error
	// noLag leaves out replicas that are behind, which may not have the shop yet.
	noLag bool
}

func duplicateVariants() map[string]duplicateVariant {
	removeIn := func(city string) func(w *emulatortest.World, s shopping) error {
		return func(w *emulatortest.World, s shopping) error { return s.remove(w, city) }
	}
	createIn := func(city string) func(w *emulatortest.World, s shopping) error {
		return func(w *emulatortest.World, s shopping) error { return s.create(w, "new", city) }
	}
	two := map[string]string{"b": "Bonn", "r": "Rome"}
	// untouched says that the shop in Rome is there with its review.
	untouched := func(shops map[string]bool, reviews map[string]string) error {
		if !shops["Rome"] || reviews["r"] != "Rome" {
			return errors.New("the shop in Rome, or its review, was touched")
		}
		return nil
	}
	return map[string]duplicateVariant{
		"a delete of each": {parented.Cascade, two, removeIn("Bonn"), removeIn("Rome"), func(a answers, shops map[string]bool, reviews map[string]string) error {
			return errors.Join(deletedWhole(a.first, "Bonn", "b", shops, reviews), deletedWhole(a.second, "Rome", "r", shops, reviews))
		}, false},
		"a slow delete and one that is undone": {parented.Cascade, two, removeIn("Bonn"), func(w *emulatortest.World, s shopping) error {
			if err := refusalIsFine(s.remove(w, "Bonn")); err != nil {
				return err
			}
			return s.shops.In("acme", "Bonn").Restore(w.Context(), "1")
		}, func(_ answers, shops map[string]bool, reviews map[string]string) error {
			if shops["Bonn"] != (reviews["b"] == "Bonn") {
				return errors.New("of the tree in Bonn one part is there")
			}
			return untouched(shops, reviews)
		}, false},
		"a delete of one and a create under the other": {parented.Cascade, two, removeIn("Bonn"), createIn("Rome"), func(a answers, shops map[string]bool, reviews map[string]string) error {
			return errors.Join(createdAlone(a.second, reviews), untouched(shops, reviews), deletedWhole(a.first, "Bonn", "b", shops, reviews))
		}, true},
		"a delete and a create under the same": {parented.Cascade, two, removeIn("Bonn"), createIn("Bonn"), func(a answers, shops map[string]bool, reviews map[string]string) error {
			if a.second == nil && shops["Bonn"] && reviews["new"] == "" || isDefinite(a.second) && reviews["new"] != "" {
				return fmt.Errorf("the create in Bonn returned %w", a.second)
			}
			return errors.Join(untouched(shops, reviews), deletedWhole(a.first, "Bonn", "b", shops, reviews))
		}, false},
		"a delete of one and a move to it from the other": {parented.Cascade, two, removeIn("Bonn"), func(w *emulatortest.World, s shopping) error {
			return s.reviews.Move(w.Context(), "acme", "r", "1", "Bonn")
		}, func(a answers, shops map[string]bool, reviews map[string]string) error {
			switch {
			case !shops["Rome"]:
				return errors.New("the shop in Rome is gone")
			case a.second == nil && shops["Bonn"] && reviews["r"] != "Bonn", isDefinite(a.second) && reviews["r"] != "Rome", reviews["r"] == "" && isDefinite(a.first):
				return fmt.Errorf("the move returned %w", a.second)
			}
			return deletedWhole(a.first, "Bonn", "b", shops, reviews)
		}, false},
		"a move to the other and a delete of the one that it leaves": {parented.Cascade, two, removeIn("Rome"), func(w *emulatortest.World, s shopping) error {
			return s.reviews.Move(w.Context(), "acme", "r", "1", "Bonn")
		}, func(a answers, shops map[string]bool, reviews map[string]string) error {
			switch {
			case !shops["Bonn"] || reviews["b"] != "Bonn":
				return errors.New("the shop in Bonn, or its review, was touched")
			case a.first == nil && shops["Rome"], isDefinite(a.first) && !shops["Rome"]:
				return fmt.Errorf("the delete in Rome returned %w", a.first)
			case a.second == nil && reviews["r"] != "Bonn", isDefinite(a.second) && reviews["r"] == "Bonn", reviews["r"] == "" && shops["Rome"]:
				return fmt.Errorf("the move returned %w, the delete in Rome %w", a.second, a.first)
			}
			return nil
		}, false},
		"a delete of one and a create under the other that Restrict keeps": {parented.Restrict, map[string]string{"r": "Rome"}, removeIn("Bonn"), createIn("Rome"), func(a answers, shops map[string]bool, reviews map[string]string) error {
			if errors.Is(a.first, repository.ErrHasChildren) {
				return fmt.Errorf("the delete in Bonn returned %w", a.first)
			}
			return errors.Join(createdAlone(a.second, reviews), untouched(shops, reviews), deletedWhole(a.first, "Bonn", "", shops, reviews))
		}, true},
	}
}

// createdAlone says that a create in Rome, where nothing else happens, was not refused for its parent, and what it returned is true.
func createdAlone(told error, reviews map[string]string) error {
	if created := reviews["new"] == "Rome"; errors.Is(told, repository.ErrDanglingRef) || told == nil && !created || isDefinite(told) && created {
		return fmt.Errorf("the create in Rome returned %w, and the review is in %q", told, reviews["new"])
	}
	return nil
}

// deletedWhole says that a delete which succeeded took the shop of a city with its review, and one that was refused neither.
func deletedWhole(told error, city, review string, shops map[string]bool, reviews map[string]string) error {
	there := review == "" || reviews[review] == city
	switch {
	case told == nil && (shops[city] || review != "" && there):
		return fmt.Errorf("the shop in %s was deleted, and is there, or its review is", city)
	case isDefinite(told) && !(shops[city] && there):
		return fmt.Errorf("the delete in %s was refused (%w), and the shop or its review is gone", city, told)
	case shops[city] && !there:
		return fmt.Errorf("the shop in %s is there without its review", city)
	}
	return nil
}

// TestParentsOfOneIDInTwoPartitions: shop 1 in Bonn and shop 1 in Rome are two parents. Whatever becomes of one, in any order and with any process
// dying or being late, leaves the other with its children, and no child without its own parent.
func TestParentsOfOneIDInTwoPartitions(t *testing.T) {
	t.Parallel()
	for name, v := range duplicateVariants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds := someKinds(t)
			if v.noLag {
				if kinds == nil {
					kinds = emulatortest.FaultKinds()
				}
				kinds = slices.DeleteFunc(kinds, func(k emulatortest.FaultKind) bool { return strings.HasPrefix(k.Name, "behind") })
			}
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup: setupShopping(v.before),
				Actors: []emulatortest.Actor{
					{Name: "first", Do: func(w *emulatortest.World) error {
						err := v.first(w, shoppingOf(w, v.rule))
						emulatortest.State[answers](w).first = err
						return refused(err)
					}},
					{Name: "second", Do: func(w *emulatortest.World) error {
						err := v.second(w, shoppingOf(w, v.rule))
						emulatortest.State[answers](w).second = err
						return refused(err)
					}},
				},
				Then: func(w *emulatortest.World) {
					s := shoppingOf(w, v.rule)
					var err error
					for range 3 { // a tree that others hold up is left to the next one
						if _, err = s.forest.Resume(w.Context()); err == nil {
							break
						}
					}
					must(w, err)
					time.Sleep(2 * time.Minute)
					_, err = s.forest.Sweep(w.Context(), "acme", nil)
					must(w, err)
				},
				Check: func(w *emulatortest.World) error {
					shops, reviews, err := shoppingOf(w, v.rule).seen(w)
					if err != nil {
						return err
					}
					told := emulatortest.State[answers](w)
					a := answers{outcomeOf(w, "first", told.first), outcomeOf(w, "second", told.second)}
					err = v.check(a, shops, reviews)
					if !shops["Oslo"] || reviews["o"] != "Oslo" {
						err = errors.Join(err, errors.New("the shop in Oslo, or its review, was touched"))
					}
					for id, city := range reviews {
						if !shops[city] {
							err = errors.Join(err, fmt.Errorf("%s stands without its shop in %s", id, city))
						}
					}
					if err != nil {
						err = fmt.Errorf("shops %v, reviews %v: %w", shops, reviews, err)
					}
					return err
				},
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: map[string]func(w *emulatortest.World){"a review is lost": func(w *emulatortest.World) {
				must(w, shoppingOf(w, v.rule).reviews.In("acme").Delete(w.Context(), "o", nil))
			}}})
		})
	}
}
