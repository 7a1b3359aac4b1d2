package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestSaveAllSendsFullBatches(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	input := notesFrom(10_000)
	ctx, tally := repository.WithTally(t.Context())
	receipt, err := b.acme.SaveAll(ctx, slices.Values(input), nil)
	must(t, err)
	if receipt.Succeeded != 10_000 || receipt.Resume != "" || tally.Requests() > 105 {
		t.Fatalf("%d succeeded, resume %q, %s", receipt.Succeeded, receipt.Resume, tally)
	}
	for i, item := range receipt.Items {
		if item.Index != i || item.ID != input[i].ID || item.ETag == "" || item.ETag != input[i].ETag || item.Status != repository.Succeeded {
			t.Fatalf("item %d: %+v of %+v", i, item, input[i].Meta)
		}
		if i > 0 && item.ID <= receipt.Items[i-1].ID {
			t.Fatalf("item %d: ids don't sort by the input's order", i)
		}
	}
	n, err := b.acme.Count(t.Context(), repository.All())
	must(t, err)
	if n != 10_000 {
		t.Fatalf("%d documents", n)
	}
}

func TestSaveAllTakesRefusedItemsOut(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	ctx := t.Context()
	taken := &Note{Title: "taken"}
	must(t, b.acme.Create(ctx, taken))
	stale := &Note{Title: "stale"}
	must(t, b.acme.Create(ctx, stale))
	old := *stale
	stale.Title = "newer"
	must(t, b.acme.Save(ctx, stale))

	input := notesFrom(250)
	input[3] = &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: taken.ID}}}
	input[120] = &old
	input[130] = nil
	input[140].ID = "a/b"
	input[150].TenantID = "globex"
	input[160].ID, input[161].ID = "twice", "twice"
	receipt, err := b.acme.SaveAll(ctx, slices.Values(input), nil)
	want := map[int]error{
		3: repository.ErrConflict, 120: repository.ErrPreconditionFailed, 130: repository.ErrInvalid,
		140: repository.ErrInvalid, 150: repository.ErrTenantMismatch, 161: repository.ErrInvalid,
	}
	if !errors.Is(err, repository.ErrConflict) || !errors.Is(err, repository.ErrPreconditionFailed) {
		t.Fatalf("error: %v", err)
	}
	if receipt.Succeeded != 250-len(want) || receipt.Failed != len(want) || receipt.Resume != "" {
		t.Fatalf("%d succeeded, %d failed, resume %q", receipt.Succeeded, receipt.Failed, receipt.Resume)
	}
	for i, item := range receipt.Items {
		if !errors.Is(item.Err, want[i]) || (item.Err == nil) != (want[i] == nil) {
			t.Errorf("item %d: %v, want %v", i, item.Err, want[i])
		}
	}
	got, err := b.acme.Get(ctx, stale.ID)
	must(t, err)
	if got.Title != "newer" {
		t.Errorf("a stale replace went through: %q", got.Title)
	}
}

func TestSaveAllWithManyRefusalsGoesItemByItem(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	first := notesFrom(100)
	_, err := b.acme.SaveAll(t.Context(), slices.Values(first), nil)
	must(t, err)
	again := notesFrom(100)
	for i := range again {
		if i%2 == 0 {
			again[i].ID = first[i].ID
		}
	}
	receipt, err := b.acme.SaveAll(t.Context(), slices.Values(again), nil)
	if receipt.Succeeded != 50 || receipt.Failed != 50 || !errors.Is(err, repository.ErrConflict) {
		t.Fatalf("%d succeeded, %d failed: %v", receipt.Succeeded, receipt.Failed, err)
	}
}

func TestSaveAllSplitsByMeasuredSize(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	input := notesFrom(12)
	for _, n := range input {
		n.Title = string(slices.Repeat([]byte("<"), 150_000)) // six bytes each once the SDK has escaped them
	}
	receipt, err := b.acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	if receipt.Succeeded != 12 {
		t.Fatalf("%+v", receipt)
	}
}

func TestSaveAllResumes(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	secret := []byte("0123456789abcdef")
	for _, stopAt := range []int{0, 1, 3, 7} {
		t.Run(fmt.Sprint("stopped at report ", stopAt), func(t *testing.T) {
			t.Parallel()
			tenant := fmt.Sprintf("t%d", stopAt)
			first := newRepository(t, b.container, repository.Config{CursorKey: secret}).In(tenant)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			reports, token := 0, ""
			_, err := first.SaveAll(ctx, slices.Values(notesFrom(1500)), &repository.BulkOptions{
				Concurrency: 4, // so few at once that some are not begun when it is stopped, however late its report is
				Progress: func(p repository.Receipt) {
					if reports <= stopAt {
						token = p.Resume
					}
					if reports++; reports == stopAt+2 {
						stop()
					}
				},
			})
			if err == nil {
				t.Fatal("the first run was not stopped")
			}
			// A process of its own goes on, with entities that have no ids yet.
			second := newRepository(t, b.container, repository.Config{CursorKey: secret}).In(tenant)
			receipt, err := second.SaveAll(t.Context(), slices.Values(notesFrom(1500)), &repository.BulkOptions{Resume: token})
			must(t, err)
			if receipt.Skipped+receipt.Succeeded != 1500 || receipt.Failed != 0 {
				t.Fatalf("%d skipped, %d succeeded, %d failed", receipt.Skipped, receipt.Succeeded, receipt.Failed)
			}
			titles := map[string]int{}
			for n, err := range second.Query(t.Context(), repository.All()) {
				must(t, err)
				titles[n.Title]++
			}
			if len(titles) != 1500 {
				t.Fatalf("%d titles", len(titles))
			}
			for title, n := range titles {
				if n != 1 {
					t.Errorf("%s is stored %d times", title, n)
				}
			}
			if _, err := second.DeleteAll(t.Context(), slices.Values([]string{"x"}), &repository.BulkOptions{Resume: token}); !errors.Is(err, repository.ErrInvalid) {
				t.Errorf("the token of another verb: %v", err)
			}
		})
	}
}

func TestDeleteAll(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	input := notesFrom(250)
	_, err := b.acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	ids := []string{"never there", "a/b"}
	for _, n := range input[:240] {
		ids = append(ids, n.ID)
	}
	ctx, tally := repository.WithTally(t.Context())
	receipt, err := b.acme.DeleteAll(ctx, slices.Values(ids), nil)
	if !errors.Is(err, repository.ErrNotFound) || !errors.Is(err, repository.ErrInvalid) {
		t.Fatalf("error: %v", err)
	}
	if receipt.Succeeded != 240 || receipt.Failed != 2 || tally.Requests() > 10 {
		t.Fatalf("%d succeeded, %d failed, %s", receipt.Succeeded, receipt.Failed, tally)
	}
	n, err := b.acme.Count(t.Context(), repository.All())
	must(t, err)
	if n != 10 {
		t.Errorf("%d are left", n)
	}
}

// policyOf is a delete policy of one function.
type policyOf struct {
	engine.DeletePolicy
	carryOut func(context.Context, engine.Deletion) error
}

func (p *policyOf) CarryOut(ctx context.Context, d engine.Deletion) error { return p.carryOut(ctx, d) }

func TestDeleteAllAppliesTheDeleteRules(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	input := notesFrom(30)
	_, err := b.acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	refused := errors.New("still needed")
	must(t, engine.CollectionOf(b.notes).SetDeletePolicy(&policyOf{carryOut: func(ctx context.Context, d engine.Deletion) error {
		if d.ID == input[7].ID {
			return refused
		}
		return d.Remove(ctx, d.ETag)
	}}))
	var ids []string
	for _, n := range input {
		ids = append(ids, n.ID)
	}
	receipt, err := b.acme.DeleteAll(t.Context(), slices.Values(ids), nil)
	if !errors.Is(err, refused) || receipt.Succeeded != 29 || receipt.Items[7].Err == nil {
		t.Fatalf("%d succeeded: %v", receipt.Succeeded, err)
	}
}

func TestBulkHooksSeeManyEntitiesAtOnce(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	calls, seen := 0, 0
	bad := errors.New("no such owner")
	must(t, engine.CollectionOf(b.notes).SetValidator(engine.OwnerParented, engine.ValidatorFunc(
		func(_ context.Context, _ string, entities []any) error {
			calls++
			for _, e := range entities {
				if e.(*Note).Title == "n01500" {
					return bad
				}
			}
			seen += len(entities)
			return nil
		},
	)))
	receipt, err := b.acme.SaveAll(t.Context(), slices.Values(notesFrom(2000)), nil)
	if !errors.Is(err, bad) || receipt.Succeeded != 1999 || !errors.Is(receipt.Items[1500].Err, bad) {
		t.Fatalf("%d succeeded: %v", receipt.Succeeded, err)
	}
	if calls > 25 || seen != 1999 {
		t.Errorf("%d calls saw %d entities", calls, seen)
	}
}

func TestBulkStopsWhenTheBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	ctx, tally := repository.WithBudget(t.Context(), 2000)
	receipt, err := b.acme.SaveAll(ctx, slices.Values(notesFrom(5000)), &repository.BulkOptions{Concurrency: 1})
	if !errors.Is(err, repository.ErrBudget) || receipt.Unsent == 0 || receipt.Resume == "" {
		t.Fatalf("%d unsent, resume %q: %v", receipt.Unsent, receipt.Resume, err)
	}
	n, err := b.acme.Count(t.Context(), repository.All())
	must(t, err)
	if int(n) != receipt.Succeeded || tally.RequestUnits() > 3000 {
		t.Fatalf("%d stored, %d receipts, %s", n, receipt.Succeeded, tally)
	}
}

func TestBulkCompletesAPrefixScope(t *testing.T) {
	t.Parallel()
	paths := []string{"/tenantId", "/lookupType"}
	client := emulatortest.Client(t)
	lookups, err := repository.New[Lookup](newContainer(t, client, paths...), repository.Config{PartitionKey: paths})
	must(t, err)
	var input []*Lookup
	for i := range 300 {
		input = append(input, &Lookup{LookupType: fmt.Sprint("type", i%7), Name: fmt.Sprint(i)})
	}
	input[5].LookupType = ""
	receipt, err := lookups.In("acme").SaveAll(t.Context(), slices.Values(input), nil)
	if !errors.Is(err, repository.ErrInvalid) || receipt.Succeeded != 299 || receipt.Items[5].Status != repository.Failed {
		t.Fatalf("%d succeeded: %v", receipt.Succeeded, err)
	}
	n, err := lookups.In("acme", "type3").Count(t.Context(), repository.All())
	must(t, err)
	if n != 43 {
		t.Errorf("%d of type 3", n)
	}
}

func TestBulkRefusesBadOptions(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	mark := b.emulator.Requests().Mark()
	for name, opts := range map[string]*repository.BulkOptions{
		"concurrency below one":   {Concurrency: -1},
		"too much concurrency":    {Concurrency: 1000},
		"a token of nobody":       {Resume: "nonsense"},
		"a token of another kind": {Resume: "AQ"},
	} {
		if receipt, err := b.acme.SaveAll(t.Context(), slices.Values(notesFrom(1)), opts); receipt != nil || !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if seen := b.emulator.Requests().Since(mark); len(seen) != 0 {
		t.Errorf("requests: %v", seen)
	}
}

func TestBulkSlowsDownWhenThrottled(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	b.emulator.Fault(emulator.Answer(429, 3200).On(emulator.TransactionalBatch).Probability(0.3, 7).Keep())
	receipt, err := b.acme.SaveAll(t.Context(), slices.Values(notesFrom(2000)), nil)
	must(t, err)
	if receipt.Succeeded != 2000 {
		t.Fatalf("%d succeeded", receipt.Succeeded)
	}
}

func TestSaveAllUsesIDsOfDeletedDocumentsAgain(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	notes := newRepository(t, b.container, repository.Config{})
	engine.CollectionOf(notes).Tombstones = true
	acme := notes.In("acme")
	key := azcosmos.NewPartitionKeyString("acme").AppendString("Note")
	_, err := b.container.CreateItem(t.Context(), key,
		[]byte(`{"id":"again","tenantId":"acme","entityType":"Note","title":"old","deletedAt":"2026-01-02T03:04:05Z","ttl":100}`), nil)
	must(t, err)
	input := notesFrom(10)
	input[4].ID = "again"
	receipt, err := acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	got, err := acme.Get(t.Context(), "again")
	must(t, err)
	if receipt.Succeeded != 10 || got.Title != input[4].Title || got.ETag != receipt.Items[4].ETag {
		t.Errorf("%+v is stored as %+v", receipt.Items[4], got)
	}
}
