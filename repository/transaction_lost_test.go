package repository_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A lost answer, a refused companion and a look that fails, all of one batch.
func TestAnAmbiguousBatchNamesNoCompanion(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	ctx := t.Context()
	must(t, b.sales.Create(ctx, sale("a", "tea")))
	sales, err := repository.New[Sale](b.container, repository.Config{PartitionKey: []string{"/tenantId", "/shop"}})
	must(t, err)
	must(t, engine.CollectionOf(sales).SetTransactionHook(b.ledger))
	collection := engine.CollectionOf(sales)
	outline, err := collection.Outline(ctx, "acme", []any{"s1"}, "a")
	must(t, err)
	b.ledger.companions = func(tx engine.Transaction) []engine.Companion {
		c := b.add("total", tx.Key, -1)
		c.ETag = `"of another version"`
		return []engine.Companion{c}
	}
	b.emulator.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	b.emulator.Fault(emulator.Answer(403, 0).On(emulator.QueryItems).Nth(2))
	_, err = collection.Remove(ctx, []engine.Document{outline})
	var named *repository.BatchError
	if !errors.Is(err, repository.ErrAmbiguous) || errors.As(err, &named) {
		t.Errorf("Remove: %v", err)
	}
	b.emulator.Faults().Clear()
	b.emulator.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	b.emulator.Fault(emulator.Answer(403, 0).On(emulator.QueryItems).Nth(2))
	if err := b.sales.Batch().Create(sale("x", "y")).Commit(ctx); !errors.Is(err, repository.ErrAmbiguous) || errors.As(err, &named) {
		t.Errorf("Commit: %v", err)
	}
}

// Where a budget ends, a patch is applied and said to be, or it is not.
func TestABudgetDoesNotHideAPatchThatWasApplied(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	must(t, b.sales.Create(t.Context(), sale("a", "tea")))
	for ru := 1.0; ru < 40; ru++ {
		before, err := b.sales.Get(t.Context(), "a")
		must(t, err)
		limited, _ := repository.WithBudget(t.Context(), ru)
		_, err = b.sales.Patch(limited, "a", repository.Set("/item", "coffee").Increment("/price", 1))
		got, e := b.sales.Get(t.Context(), "a")
		must(t, e)
		if err != nil && got.Price != before.Price {
			t.Fatalf("with %v RU: applied, but the error is %v", ru, err)
		}
	}
}

func TestVerbsWithCompanionsKeepTheResponse(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	must(t, b.sales.Create(t.Context(), sale("a", "tea")))
	err := b.sales.Create(t.Context(), sale("a", "tea"))
	var r *azcore.ResponseError
	if !errors.As(err, &r) {
		t.Errorf("no response error in %v", err)
	}
}

// OldReply has documents under an older name, in another partition.
type OldReply struct {
	tenantitem.TenantItem[OldReply]
	Text string `json:"text"`
}

// leadsAlways makes every write a batch, without companions.
type leadsAlways struct{}

func (leadsAlways) Members(*engine.Collection) ([]string, bool) { return []string{"text"}, true }

func (leadsAlways) Companions(context.Context, engine.Transaction) ([]engine.Companion, error) {
	return nil, nil
}

func TestALostDeleteUnderAnOlderName(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	ctx := t.Context()
	keys := []string{"/tenantId", "/entityType"}
	container := newContainer(t, emu.Client(nil), keys...)
	old, err := repository.New[OldReply](container, repository.Config{PartitionKey: keys, EntityType: "old"})
	must(t, err)
	r := &OldReply{}
	r.ID = "a"
	must(t, old.In("acme").Create(ctx, r))
	for _, hook := range []bool{false, true} {
		now, err := repository.New[OldReply](container, repository.Config{PartitionKey: keys, EntityType: "reply", Aliases: []string{"old"}})
		must(t, err)
		if hook {
			must(t, engine.CollectionOf(now).SetTransactionHook(leadsAlways{}))
			r.ETag = ""
			must(t, old.In("acme").Upsert(ctx, r))
		}
		emu.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch, emulator.DeleteItem))
		err = now.In("acme").Delete(ctx, "a", nil)
		_, e := now.In("acme").Get(ctx, "a")
		if err == nil && e == nil {
			t.Errorf("hook %v: deleted, but still there", hook)
		}
		emu.Faults().Clear()
	}
}

// Ten edits leave no room for the mark, but they only set fields.
func TestALostPatchOfTenEditsIsRepeated(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	must(t, b.sales.Create(t.Context(), sale("a", "tea")))
	b.emulator.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	edits := repository.Set("/item", "x")
	for range 9 {
		edits = edits.Set("/from", Address{City: "Oslo"})
	}
	got, err := b.sales.Patch(t.Context(), "a", edits)
	if err != nil || got.Item != "x" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAResumedBulkCountsOnce(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	var many []*Sale
	for range 300 {
		many = append(many, &Sale{Item: "x"})
	}
	b.emulator.Fault(emulator.Answer(503, 0).AfterEffect().On(emulator.TransactionalBatch).Nth(1))
	b.emulator.Fault(emulator.Answer(401, 0).On(emulator.TransactionalBatch).Nth(2))
	receipt, err := b.sales.SaveAll(t.Context(), slices.Values(many), &repository.BulkOptions{Concurrency: 1})
	if err == nil {
		t.Fatal("no error")
	}
	var again []*Sale
	for range 300 {
		again = append(again, &Sale{Item: "x"})
	}
	_, err = b.sales.SaveAll(t.Context(), slices.Values(again), &repository.BulkOptions{Concurrency: 1, Resume: receipt.Resume})
	must(t, err)
	n, err := b.sales.Count(t.Context(), repository.All())
	must(t, err)
	if n != 300 {
		t.Errorf("%d sales", n)
	}
	b.total(t, "total", 300)
}

// With companions, what is missing or another entity type's is refused as without.
func TestForeignIDsWithCompanions(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	ctx := t.Context()
	plain, err := repository.New[Sale](b.container, repository.Config{PartitionKey: []string{"/tenantId", "/shop"}})
	must(t, err)
	for name, do := range map[string]func(s *repository.Scope[Sale]) error{
		"patch": func(s *repository.Scope[Sale]) error {
			_, err := s.Patch(ctx, "total", repository.Set("/item", "x"))
			return err
		},
		"patch in a batch": func(s *repository.Scope[Sale]) error {
			return s.Batch().Patch("total", repository.Set("/item", "x")).Commit(ctx)
		},
		"replace": func(s *repository.Scope[Sale]) error {
			o := sale("total", "x")
			o.ETag = `"1"`
			return s.Replace(ctx, o)
		},
		"delete": func(s *repository.Scope[Sale]) error { return s.Delete(ctx, "total", nil) },
		"delete with etag": func(s *repository.Scope[Sale]) error {
			return s.Delete(ctx, "total", &repository.DeleteOptions{ETag: `"1"`})
		},
		"delete what is not there": func(s *repository.Scope[Sale]) error { return s.Delete(ctx, "nix", nil) },
		"delete twice in a batch": func(s *repository.Scope[Sale]) error {
			return s.Batch().Delete("nix", "").Delete("nix", "").Commit(ctx)
		},
		"patch with a bad path": func(s *repository.Scope[Sale]) error {
			must(t, s.Upsert(ctx, sale("a", "x")))
			_, err := s.Patch(ctx, "a", repository.Edits{}.Remove("/tags/7"))
			return err
		},
		"save all": func(s *repository.Scope[Sale]) error {
			o, p := sale("total", "x"), sale("total2", "x")
			_, err := s.SaveAll(ctx, slices.Values([]*Sale{o, p}), nil)
			must(t, s.Delete(ctx, "total2", nil))
			return err
		},
		"delete all": func(s *repository.Scope[Sale]) error {
			_, err := s.DeleteAll(ctx, slices.Values([]string{"total", "none"}), nil)
			return err
		},
	} {
		with, without := do(b.sales), do(plain.In("acme", "s1"))
		for _, sentinel := range []error{repository.ErrEntityMismatch, repository.ErrPreconditionFailed, repository.ErrNotFound, repository.ErrConflict, repository.ErrInvalid, repository.ErrAmbiguous} {
			if errors.Is(with, sentinel) != errors.Is(without, sentinel) {
				t.Errorf("%s: %v; without companions %v", name, with, without)
				break
			}
		}
	}
}
