package parented_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

// A child of one parent is not found under the other one, nor deleted there, though it has the same id.
func TestChildrenOfOneIDUnderTwoParents(t *testing.T) {
	t.Parallel()
	for name, key := range map[string][]string{"their parents' partitions": nil, "a field of their own": {"/tenantId", "/text"}, "the parent's id": {"/tenantId", "/parentId", "/city"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			to := openTown(t, townPlan{key: key, review: parented.Cascade, answer: parented.Cascade})
			bonn, rome := to.duplicates(t)
			for _, s := range []*Shop{bonn, rome} {
				r := &Review{Text: "the same in " + s.City}
				r.ID = "same"
				must(t, to.reviews.Under(s).Create(ctx, r))
			}
			for _, s := range []*Shop{bonn, rome} {
				r, err := to.reviews.Under(s).Get(ctx, "same")
				must(t, err)
				if r.City != s.City {
					t.Errorf("under the shop in %s is the review of %s", s.City, r.City)
				}
			}
			must(t, to.reviews.Under(rome).Delete(ctx, "same", nil))
			_, err := to.reviews.Under(rome).Get(ctx, "same")
			mustBe(t, err, repository.ErrNotFound)
			_, err = to.reviews.Under(bonn).Get(ctx, "same")
			must(t, err)
			mustBe(t, to.reviews.Under(rome).Delete(ctx, "same", nil), repository.ErrNotFound)
			_, err = to.reviews.Under(rome).Get(ctx, "r-Bonn0")
			mustBe(t, err, repository.ErrNotFound)
		})
	}
}

// A child that does not say its whole parent, as one that was stored before it had the field, is nobody's: a
// sweep counts it and leaves it, no delete takes it, and a move gives it a parent.
func TestAChildThatDoesNotSayItsWholeParent(t *testing.T) {
	t.Parallel()
	for name, city := range map[string]any{"no city": nil, "a city of another type": 7.0, "an object": map[string]any{"name": "Bonn"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			client := emulatortest.Client(t, emulatortest.Calm()) // it writes around the repositories, without their retries
			to := openTownIn(t, client, townPlan{key: []string{"/tenantId", "/entityType"}, review: parented.Cascade, answer: parented.Cascade})
			bonn, _ := to.duplicates(t)
			odd := map[string]any{"id": "odd", "tenantId": "acme", "entityType": "Review", "parentId": "1", "text": "old"}
			if city != nil {
				odd["city"] = city
			}
			raw, err := engine.EncodeValue(odd)
			must(t, err)
			below, err := to.database.NewContainer("below")
			must(t, err)
			_, err = below.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Review"), raw, nil)
			must(t, err)
			swept, err := to.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
			if err != nil || !maps.Equal(swept, parented.Swept{"Review": 1}) {
				t.Fatalf("a sweep found %v, %v", swept, err)
			}
			must(t, to.shops.In("acme", "Rome").Delete(ctx, "1", nil))
			must(t, to.reviews.Move(ctx, "acme", "odd", bonn.Ref(), "Bonn"))
			want := half("Bonn")
			want["odd"] = "1 Bonn"
			to.mustStand(t, want)
		})
	}
}

// A patch changes neither the parent nor its city; a write that names another parent has to name one that is there.
func TestWritesThatNameAnotherParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	to := openTown(t, townPlan{key: []string{"/tenantId", "/entityType"}, review: parented.Cascade, answer: parented.Cascade})
	to.duplicates(t)
	in := to.reviews.Items().In("acme")
	for _, edits := range []repository.Edits{repository.Edits{}.Set("city", "Rome"), repository.Edits{}.Set("parentId", "2")} {
		_, err := in.Patch(ctx, "r-Bonn0", edits)
		mustBe(t, err, repository.ErrInvalid)
	}
	rename := func(city string) error {
		_, err := in.Mutate(ctx, "r-Bonn0", func(r *Review) error { r.City = city; return nil })
		return err
	}
	mustBe(t, rename("Oslo"), repository.ErrDanglingRef)
	mustBe(t, rename(""), repository.ErrInvalid)
	must(t, rename("Rome"))
	must(t, to.shops.In("acme", "Bonn").Delete(ctx, "1", nil))
	want := half("Rome")
	want["r-Bonn0"], want["a-Bonn0"] = "1 Rome", "r-Bonn0"
	to.mustStand(t, want)
}

// A review is stored, and its shop can't be looked at again. Resume ends the write by that very shop, whatever became of the other one.
func TestASecondLookAtOneOfTwoParents(t *testing.T) {
	t.Parallel()
	for _, deleted := range []string{"Bonn", "Rome"} {
		t.Run("and the shop in "+deleted+" goes", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				plan := townPlan{key: []string{"/tenantId", "/entityType"}, review: parented.Cascade, answer: parented.Cascade}
				first := openTownIn(t, e.Client(nil), plan)
				first.duplicates(t)
				var armed *emulator.ArmedFault
				client := clientOf(e, &aroundWrite{before: func() {
					must(t, first.shops.In("acme", deleted).Delete(ctx, "1", nil))
					armed = e.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadItem, emulator.QueryItems).Keep())
				}, after: func() {}})
				database, err := client.NewDatabase(first.database.ID())
				must(t, err)
				second := townOf(t, database, plan)
				late := &Review{Text: "late"}
				late.ID = "late"
				err = second.reviews.UnderID("acme", "1", "Rome").Create(ctx, late)
				armed.Disarm()
				mustBe(t, err, repository.ErrAmbiguous)
				resumed, err := second.forest.Resume(ctx, "acme")
				must(t, err)
				want, finished := half("Rome"), 0
				want["late"] = "1 Rome"
				if deleted == "Rome" {
					want, finished = half("Bonn"), 1
				}
				if resumed.Finished != finished {
					t.Errorf("%+v", resumed)
				}
				first.mustStand(t, want)
			})
		})
	}
}

// Whatever writes many reviews at once tells the shops apart.
func TestManyChildrenOfTwoParents(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	to := openTown(t, townPlan{key: []string{"/tenantId", "/entityType"}, review: parented.Cascade, answer: parented.Cascade})
	to.duplicates(t)
	must(t, to.shops.In("acme", "Bonn").Delete(ctx, "1", nil))
	reviewIn := func(id, city string) *Review {
		r := &Review{City: city}
		r.ID, r.ParentID = id, "1"
		return r
	}
	receipt, err := to.reviews.In("acme").SaveAll(ctx, slices.Values([]*Review{reviewIn("n1", "Rome"), reviewIn("n2", "Bonn"), reviewIn("n3", "Rome")}), nil)
	if err == nil || receipt.Failed != 1 {
		t.Errorf("%+v, %v", receipt, err)
	}
	mustBe(t, to.reviews.In("acme").Batch().Create(reviewIn("n4", "Rome")).Create(reviewIn("n5", "Bonn")).Commit(ctx), repository.ErrDanglingRef)
	want := half("Rome")
	want["n1"], want["n3"] = "1 Rome", "1 Rome"
	to.mustStand(t, want)
}

// A transaction that creates or deletes a shop counts for reviews of that shop alone.
func TestATransactionWithOneOfTwoParents(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	to := openTown(t, townPlan{review: parented.Cascade, answer: parented.Cascade})
	oslo := &Shop{City: "Oslo"}
	oslo.ID = "1"
	review := &Review{}
	review.ParentID = "1"
	must(t, partition.Commit(ctx, to.shops.In("acme", "Oslo").Batch().Create(oslo), to.reviews.In("acme", "Oslo").Batch().Create(review)))
	if review.City != "Oslo" {
		t.Errorf("the review is in %q", review.City)
	}
	lost := &Review{}
	lost.ParentID = "1"
	mustBe(t, to.reviews.In("acme", "Rome").Batch().Create(lost).Commit(ctx), repository.ErrDanglingRef)
}

// Load reads the children of the one parent.
func TestLoadOneOfTwoParents(t *testing.T) {
	t.Parallel()
	for name, key := range keysOfReviews() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := openTown(t, townPlan{key: key, review: parented.Cascade, answer: parented.Cascade})
			to.duplicates(t)
			reviews := to.reviews.Part(repository.All(), 10)
			shop, err := parented.Load(t.Context(), to.shops.In("acme", "Rome"), "1", reviews)
			must(t, err)
			if shop.City != "Rome" || len(reviews.Items) != 2 || reviews.Items[0].City != "Rome" || reviews.Items[1].City != "Rome" {
				t.Errorf("%+v with %d reviews", shop, len(reviews.Items))
			}
		})
	}
}

// The city of a review is part of its key, behind another field, and no move changes it.
func TestAMoveLeavesTheKeyOfTheChild(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	to := openTown(t, townPlan{key: []string{"/tenantId", "/text", "/city"}, review: parented.Cascade, answer: parented.Cascade, softly: true})
	to.duplicates(t)
	two := &Shop{City: "Bonn"}
	two.ID = "2"
	must(t, to.shops.In("acme", "Bonn").Create(ctx, two))
	mustBe(t, to.reviews.Move(ctx, "acme", "r-Bonn0", "1", "Rome"), repository.ErrNotFound)
	must(t, to.reviews.Move(ctx, "acme", "r-Bonn0", "2", "Bonn"))
	want := both()
	want["2 Bonn"], want["r-Bonn0"] = "shop", "2 Bonn"
	to.mustStand(t, want)
}

// A child whose second look failed, and which another writer made nobody's meanwhile, is left alone by Resume.
func TestALaterSecondLookAtAChildOfNobody(t *testing.T) {
	t.Parallel()
	for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
		t.Run(rule.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				plan := townPlan{key: []string{"/tenantId", "/entityType"}, review: rule, answer: parented.Cascade}
				first := openTownIn(t, e.Client(nil), plan)
				first.duplicates(t)
				var armed *emulator.ArmedFault
				client := clientOf(e, &aroundWrite{before: func() {
					armed = e.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadItem, emulator.QueryItems).Keep())
				}, after: func() {}})
				database, err := client.NewDatabase(first.database.ID())
				must(t, err)
				second := townOf(t, database, plan)
				late := &Review{Text: "late"}
				late.ID = "late"
				err = second.reviews.UnderID("acme", "1", "Rome").Create(ctx, late)
				armed.Disarm()
				mustBe(t, err, repository.ErrAmbiguous)
				below, err := first.database.NewContainer("below")
				must(t, err)
				var patch azcosmos.PatchOperations
				patch.AppendRemove("/city")
				_, err = below.PatchItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Review"), "late", patch, nil)
				must(t, err)
				resumed, err := second.forest.Resume(ctx)
				if err != nil || resumed != (parented.Resumed{}) {
					t.Errorf("%+v, %v", resumed, err)
				}
				there, err := first.reviews.In("acme").Exists(ctx, "late")
				if must(t, err); !there {
					t.Error("the review is gone")
				}
			})
		})
	}
}
