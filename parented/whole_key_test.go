package parented_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Review names its shop by the id and the city: the whole key of its parent.
type Review struct {
	parented.ParentedItem[Review, Shop]
	City string `json:"city"`
	Text string `json:"text"`
}

// Answer is a child of a review.
type Answer struct {
	parented.ParentedItem[Answer, Review]
	City string `json:"city"`
	Text string `json:"text"`
}

// town is shops under /tenantId,/city, their reviews, and the answers to these.
type town struct {
	forest   *parented.Forest
	database *azcosmos.DatabaseClient
	shops    *repository.Repository[Shop]
	reviews  *parented.Repository[Review, Shop]
	answers  *parented.Repository[Answer, Review] // in a container of Grove's own key
}

// townPlan says how a town is stored.
type townPlan struct {
	key    []string // of the reviews' container; nil is the shops' own
	review parented.Rule
	answer parented.Rule
	softly bool
	sizes  int // PageSize
}

// keysOfReviews are those under which children of shops can lie: in the shops' own partitions, all together, under
// the parent's id, and under a field of their own.
func keysOfReviews() map[string][]string {
	return map[string][]string{
		"their parents' partitions": {"/tenantId", "/city"},
		"Grove's own key":           {"/tenantId", "/entityType"},
		"the parent's id":           {"/tenantId", "/parentId"},
		"city and parent":           {"/tenantId", "/city", "/parentId"},
		"parent and city":           {"/tenantId", "/parentId", "/city"},
		"a field of their own":      {"/tenantId", "/text"},
	}
}

func openTown(t *testing.T, p townPlan) town {
	t.Helper()
	return openTownIn(t, emulatortest.Client(t), p)
}

func openTownIn(t *testing.T, client *azcosmos.Client, p townPlan) town {
	t.Helper()
	g := plant(t, planting{client: client})
	forever := int32(-1)
	for id, key := range map[string][]string{"shops": shopKey(), "below": p.key} {
		if key == nil {
			continue
		}
		_, err := g.database.CreateContainer(t.Context(), azcosmos.ContainerProperties{
			ID: id, DefaultTimeToLive: &forever,
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: key, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
		}, nil)
		must(t, err)
	}
	return townOf(t, g.database, p)
}

func shopKey() []string { return []string{"/tenantId", "/city"} }

// townOf is the town as another process sees it.
func townOf(t *testing.T, database *azcosmos.DatabaseClient, p townPlan) town {
	t.Helper()
	to := town{forest: parented.NewForest(parented.ForestConfig{PageSize: p.sizes}), database: database}
	place, err := database.NewContainer("shops")
	must(t, err)
	below, key := place, shopKey()
	if p.key != nil {
		key = p.key
		below, err = database.NewContainer("below")
		must(t, err)
	}
	items, err := database.NewContainer("items")
	must(t, err)
	to.shops, err = repository.New[Shop](place, repository.Config{PartitionKey: shopKey()})
	must(t, err)
	policy := parented.Policy{}
	if p.softly {
		policy.Retain = time.Hour
	}
	must(t, parented.Register(to.forest, to.shops, policy))
	to.reviews, err = parented.New[Review](to.forest, to.shops, below, parented.Config{Config: repository.Config{PartitionKey: key}, Rule: p.review, Policy: policy})
	must(t, err)
	// An answer has a city, and nothing else of a review's key.
	byID := slices.Contains(key, "/parentId") || slices.Contains(key, "/text")
	to.answers, err = parented.New[Answer](to.forest, to.reviews.Items(), items, parented.Config{Rule: p.answer, Policy: policy, UniqueParentIDs: byID})
	must(t, err)
	return to
}

// duplicates makes shop 1 in Bonn and in Rome, each with two reviews and an answer to each.
func (to town) duplicates(t *testing.T) (bonn, rome *Shop) {
	t.Helper()
	ctx := t.Context()
	one := func(city string) *Shop {
		s := &Shop{City: city}
		s.ID = "1"
		must(t, to.shops.In("acme", city).Create(ctx, s))
		for i := range 2 {
			r := &Review{Text: fmt.Sprint(city, i)}
			r.ID = fmt.Sprint("r-", city, i)
			must(t, to.reviews.Under(s).Create(ctx, r))
			a := &Answer{Text: fmt.Sprint("to ", city, i)}
			a.ID = fmt.Sprint("a-", city, i)
			must(t, to.answers.Under(r).Create(ctx, a))
		}
		return s
	}
	return one("Bonn"), one("Rome")
}

// standing is what readers see: ids with the parents and their cities.
func (to town) standing(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	for s, err := range to.shops.In("acme").Query(t.Context(), repository.All()) {
		must(t, err)
		seen[s.ID+" "+s.City] = "shop"
	}
	for r, err := range to.reviews.In("acme").Query(t.Context(), repository.All()) {
		must(t, err)
		seen[r.ID] = string(r.ParentID) + " " + r.City
	}
	for a, err := range to.answers.In("acme").Query(t.Context(), repository.All()) {
		must(t, err)
		seen[a.ID] = string(a.ParentID)
	}
	return seen
}

func (to town) mustStand(t *testing.T, want map[string]string) {
	t.Helper()
	if seen := to.standing(t); !maps.Equal(seen, want) {
		t.Fatalf("standing\n%v, want\n%v", seen, want)
	}
}

// half is the tree of one city.
func half(city string) map[string]string {
	return map[string]string{
		"1 " + city:       "shop",
		"r-" + city + "0": "1 " + city, "r-" + city + "1": "1 " + city,
		"a-" + city + "0": "r-" + city + "0", "a-" + city + "1": "r-" + city + "1",
	}
}

func both() map[string]string {
	all := half("Bonn")
	maps.Copy(all, half("Rome"))
	return all
}

// Two shops of one number in two cities are two parents: what is done to one leaves all of the other.
func TestTwoParentsOfOneIDAreTwoParents(t *testing.T) {
	t.Parallel()
	for name, key := range keysOfReviews() {
		for _, pages := range []int{1, 500} {
			t.Run(fmt.Sprintf("%s, pages of %d", name, pages), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				to := openTown(t, townPlan{key: key, review: parented.Cascade, answer: parented.Cascade, softly: true, sizes: pages})
				bonn, rome := to.duplicates(t)
				to.mustStand(t, both())

				plan, err := to.shops.In("acme", "Bonn").PlanDelete(ctx, "1")
				must(t, err)
				if want := map[string]int64{"Shop": 1, "Review": 2, "Answer": 2}; !maps.Equal(plan.Removed, want) {
					t.Errorf("the plan removes %v, want %v", plan.Removed, want)
				}
				for _, s := range []*Shop{bonn, rome} {
					if n, err := to.reviews.Under(s).Count(ctx, repository.All()); err != nil || n != 2 {
						t.Errorf("%d reviews in %s, %v", n, s.City, err)
					}
				}

				mustBe(t, to.shops.In("acme", "Rome").Delete(ctx, "1", &repository.DeleteOptions{Plan: plan.Token}), repository.ErrInvalid)
				must(t, to.shops.In("acme", "Bonn").Delete(ctx, "1", &repository.DeleteOptions{Plan: plan.Token}))
				to.mustStand(t, half("Rome"))
				must(t, to.shops.In("acme", "Rome").Delete(ctx, "1", nil))
				to.mustStand(t, map[string]string{})
				must(t, to.shops.In("acme", "Bonn").Restore(ctx, "1"))
				to.mustStand(t, half("Bonn"))
				must(t, to.shops.In("acme", "Rome").Restore(ctx, "1"))
				to.mustStand(t, both())

				must(t, to.shops.In("acme", "Rome").Delete(ctx, "1", nil))
				must(t, to.shops.In("acme", "Rome").Purge(ctx, "1"))
				to.mustStand(t, half("Bonn"))
				mustBe(t, to.reviews.Under(rome).Create(ctx, &Review{Text: "late"}), repository.ErrDanglingRef)

				swept, err := to.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
				if err != nil || len(swept) != 0 {
					t.Errorf("a sweep found %v, %v", swept, err)
				}
				resumed, err := to.forest.Resume(ctx, "acme")
				if err != nil || resumed != (parented.Resumed{}) {
					t.Errorf("resumed %v, %v", resumed, err)
				}
				to.mustStand(t, half("Bonn"))
			})
		}
	}
}

// Restrict keeps the parent that has children, and not the other one of the same id.
func TestRestrictKeepsTheParentWithTheChildren(t *testing.T) {
	t.Parallel()
	for name, key := range keysOfReviews() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			to := openTown(t, townPlan{key: key, review: parented.Cascade, answer: parented.Restrict})
			to.duplicates(t)
			for _, id := range []string{"r-Rome0", "r-Rome1"} {
				for a, err := range to.answers.In("acme").Query(ctx, repository.Where(repository.Eq("parentId", id))) {
					must(t, err)
					must(t, to.answers.In("acme").Delete(ctx, a.ID, nil))
				}
			}
			err := to.shops.In("acme", "Bonn").Delete(ctx, "1", nil)
			var refused *parented.ChildrenError
			if !errors.As(err, &refused) || refused.Counts["Answer"] != 2 {
				t.Fatalf("the delete in Bonn: %v", err)
			}
			must(t, to.shops.In("acme", "Rome").Delete(ctx, "1", nil))
			to.mustStand(t, half("Bonn"))
		})
	}
}

// Orphan lets the children of one parent go.
func TestOrphansOfOneParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	to := openTown(t, townPlan{review: parented.Orphan, answer: parented.Cascade})
	bonn, rome := to.duplicates(t)
	must(t, to.shops.In("acme", "Bonn").Delete(ctx, "1", nil))
	want := both()
	delete(want, "1 Bonn")
	want["r-Bonn0"], want["r-Bonn1"] = " Bonn", " Bonn"
	to.mustStand(t, want)
	if n, err := to.reviews.Under(rome).Count(ctx, repository.All()); err != nil || n != 2 {
		t.Errorf("%d reviews in Rome, %v", n, err)
	}
	// They get another parent of their city.
	again := &Shop{City: "Bonn"}
	again.ID = bonn.ID
	must(t, to.shops.In("acme", "Bonn").Create(ctx, again))
	must(t, to.reviews.Move(ctx, "acme", "r-Bonn0", again.Ref(), "Bonn"))
	must(t, to.reviews.Move(ctx, "acme", "r-Bonn1", again.Ref(), "Bonn"))
	to.mustStand(t, both())
}

// A move names the new parent by its whole key.
func TestAMoveNamesTheWholeParent(t *testing.T) {
	t.Parallel()
	for name, key := range keysOfReviews() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			to := openTown(t, townPlan{key: key, review: parented.Cascade, answer: parented.Cascade, softly: true})
			_, rome := to.duplicates(t)
			mustBe(t, to.reviews.Move(ctx, "acme", "r-Bonn0", rome.Ref()), repository.ErrInvalid)
			mustBe(t, to.reviews.Move(ctx, "acme", "r-Bonn0", rome.Ref(), 7), repository.ErrInvalid)
			err := to.reviews.Move(ctx, "acme", "r-Bonn0", rome.Ref(), "Rome")
			want := both()
			switch {
			case slices.Contains(key, "/parentId"):
				mustBe(t, err, repository.ErrInvalid)
			case slices.Contains(key, "/city"):
				mustBe(t, err, repository.ErrNotFound)
			default:
				must(t, err)
				want["r-Bonn0"] = "1 Rome"
			}
			to.mustStand(t, want)
			mustBe(t, to.reviews.Move(ctx, "acme", "r-Bonn1", "2", "Bonn"), map[bool]error{true: repository.ErrInvalid, false: repository.ErrDanglingRef}[slices.Contains(key, "/parentId")])
			must(t, to.shops.In("acme", "Bonn").Delete(ctx, "1", nil))
			for _, gone := range []string{"1 Bonn", "r-Bonn1", "a-Bonn1"} {
				delete(want, gone)
			}
			if want["r-Bonn0"] != "1 Rome" {
				delete(want, "r-Bonn0")
				delete(want, "a-Bonn0")
			}
			to.mustStand(t, want)
		})
	}
}

// What names a parent by its id alone is refused before any request, but for the create of a child that says
// the rest.
func TestAnIDAloneNamesNoParent(t *testing.T) {
	t.Parallel()
	to := openTown(t, townPlan{review: parented.Cascade, answer: parented.Cascade})
	to.duplicates(t)
	byID := to.reviews.UnderID("acme", "1")
	ctx, tally := repository.WithTally(context.Background())
	for name, do := range map[string]func() error{
		"Get":    func() error { _, err := byID.Get(ctx, "r-Bonn0"); return err },
		"First":  func() error { _, err := byID.First(ctx, repository.All()); return err },
		"Count":  func() error { _, err := byID.Count(ctx, repository.All()); return err },
		"Page":   func() error { _, err := byID.Page(ctx, repository.All(), repository.PageOptions{}); return err },
		"Delete": func() error { return byID.Delete(ctx, "r-Bonn0", nil) },
		"Query": func() error {
			for _, err := range byID.Query(ctx, repository.All()) {
				return err
			}
			return nil
		},
		"Create":            func() error { return byID.Create(ctx, &Review{}) },
		"Create, In":        func() error { return to.reviews.In("acme", "Bonn").Create(ctx, &Review{}) },
		"a city of no sort": func() error { return to.reviews.UnderID("acme", "1", 5).Create(ctx, &Review{}) },
		"too many values":   func() error { return to.reviews.UnderID("acme", "1", "Bonn", "x").Create(ctx, &Review{}) },
		"another city": func() error {
			return to.reviews.UnderID("acme", "1", "Bonn").Create(ctx, &Review{City: "Rome"})
		},
	} {
		err := do()
		if !errors.Is(err, repository.ErrInvalid) && !errors.Is(err, repository.ErrDanglingRef) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := tally.Requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
	must(t, byID.Create(ctx, &Review{City: "Rome", Text: "new"}))
	must(t, to.reviews.UnderID("acme", "1", "Rome").Create(ctx, &Review{Text: "newer"}))
	if n, err := to.reviews.UnderID("acme", "1", "Rome").Count(ctx, repository.All()); err != nil || n != 4 {
		t.Errorf("%d reviews in Rome, %v", n, err)
	}
	mustBe(t, byID.Create(ctx, &Review{City: "Oslo"}), repository.ErrDanglingRef)
	// A parent that its id names takes no key.
	g := setup(t)
	mustBe(t, g.comments.UnderID("acme", "1", "Bonn").Create(ctx, &Comment{}), repository.ErrInvalid)
}
