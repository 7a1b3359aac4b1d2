package repository_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

// TestAliases_readAsOne: documents under an older name lie in a logical
// partition of their own and are read, sorted and counted with the others.
func TestAliases_readAsOne(t *testing.T) {
	t.Parallel()
	b := setupLookups(t)
	rounds := 0
	rapid.Check(t, func(r *rapid.T) {
		rounds++
		container := b.container(t, r, fmt.Sprintf("c%d", rounds), []string{"/tenantId", "/entityType"}...)
		repo, err := repository.New[Lookup](container, repository.Config{EntityType: "Lookup", Aliases: []string{"Setting", "Option"}})
		if err != nil {
			r.Fatal(err)
		}
		one := b.lookups(t, r, fmt.Sprintf("one%d", rounds), "/tenantId")
		docs := drawDocs(r, 1)
		store(t, r, one, []string{"tenantId"}, docs...)
		for _, d := range docs {
			d["entityType"] = rapid.SampledFrom([]string{"Lookup", "Setting", "Option"}).Draw(r, "name")
		}
		store(t, r, repo, []string{"tenantId", "entityType"}, docs...)

		q := drawQuery(r)
		want := collect(r, one.In("t0").Query(t.Context(), q), nil)
		compareResults(r, q, want, collect(r, repo.In("t0").Query(t.Context(), q), nil))
		size := rapid.IntRange(1, 25).Draw(r, "page size")
		compareResults(r, q, want, allPages(t, r, &repo.In("t0").Reader, q, size, func(int) {}))
		q = repository.Where(repository.Gte("rank", rapid.IntRange(0, 3).Draw(r, "least")))
		if want, got := aggregates(t, r, &one.In("t0").Reader, q), aggregates(t, r, &repo.In("t0").Reader, q); got != want {
			r.Fatalf("want %s\ngot  %s", want, got)
		}
	})
}

// A query of a type with older names asks a partition for each of them, and Explain says so.
func TestExplainCountsThePartitionsOfOlderNames(t *testing.T) {
	t.Parallel()
	b := setupNotes(t, emulatortest.Calm())
	renamed := newRepository(t, b.container, repository.Config{Aliases: []string{"OldNote"}}).In("acme")
	q := repository.Where(repository.Eq("title", "x"))
	for scope, want := range map[*repository.Scope[Note]]string{b.acme: "one partition", renamed: "2 partitions"} {
		if e, err := scope.Explain(q); err != nil || e.Scope != want {
			t.Errorf("%q, want %q: %v", e.Scope, want, err)
		}
	}
	ctx, tally := repository.WithTally(t.Context())
	collect(t, renamed.Query(ctx, q), nil)
	if tally.Requests() < 2 {
		t.Errorf("%d requests", tally.Requests())
	}
}

// TestPrefix_sameIDs: an id is unique in a logical partition only.
func TestPrefix_sameIDs(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(3))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 20 {
		for _, tenant := range []string{"acme", "globex"} {
			d := newLookup(i, tenant, fmt.Sprintf("type%02d", i))
			d["id"] = "same"
			store(t, t, repo, prefixed, d)
		}
	}
	acme := repo.In("acme")
	want := collect(t, acme.Query(t.Context(), repository.All().OrderBy("lookupType")), nil)
	if len(want) != 20 || want[0].TenantID != "acme" {
		t.Fatalf("found %v", ids(want))
	}
	for _, q := range []repository.Query{repository.All(), repository.All().OrderBy("rank"), repository.All().OrderByDesc("id")} {
		paged := allPages(t, t, &acme.Reader, q, 3, func(int) {})
		slices.SortFunc(paged, func(a, b *Lookup) int { return strings.Compare(a.LookupType, b.LookupType) })
		if !slices.Equal(ids(paged), ids(want)) {
			t.Errorf("want %v\ngot  %v", ids(want), ids(paged))
		}
	}
	if n, err := repo.AllTenants().Count(t.Context(), repository.Where(repository.Eq("id", "same"))); err != nil || n != 40 {
		t.Errorf("all tenants: %d documents, %v", n, err)
	}
	if _, err := acme.GetMany(t.Context(), "same"); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("GetMany on a prefix: %v, want ErrInvalid", err)
	}
}

func TestProject_across(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(4))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 30 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i), "x"))
	}
	type view struct {
		Name string `json:"name"`
	}
	for _, q := range []repository.Query{repository.All(), repository.All().OrderByDesc("name"), repository.All().OrderBy("rank").Limit(7)} {
		seen := map[string]bool{}
		for v, err := range repository.Project[view](t.Context(), repo.AllTenants(), q) {
			if err != nil {
				t.Fatal(err)
			}
			seen[v.Name] = true
		}
		if e, _ := q.Explain(); len(seen) != 30 && !(strings.Contains(e.SQL, "LIMIT 7") && len(seen) == 7) {
			t.Errorf("%s: %d names", e.SQL, len(seen))
		}
	}
}

// TestAcross_refusals: what can't be served names its clause, before a request
// where that is possible.
func TestAcross_refusals(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(2))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	odd := newLookup(1, "acme", "x")
	odd["mixed"] = "text"
	store(t, t, repo, prefixed, odd)
	r := &repo.In("acme").Reader
	all := repository.All()
	type unknownTag struct {
		Rank int `json:"rank"`
		N    int `json:"n" group:"median"`
	}
	type ungrouped struct {
		N int `json:"n" group:"count"`
	}
	type textSum struct {
		Rank int     `json:"rank"`
		Sum  float64 `json:"name" group:"sum"`
	}
	type misspelt struct {
		Rnak int `json:"rnak"`
	}
	ctx := t.Context()
	sum := func(field string, q repository.Query) error { _, err := r.Sum(ctx, field, q); return err }
	for name, test := range map[string]struct {
		err  error
		is   error
		says string
	}{
		"sum of text":          {sum("name", all), repository.ErrInvalid, "name"},
		"sum of unknown field": {sum("rnak", all), repository.ErrInvalid, "rank"},
		"sum with a limit":     {sum("rank", all.Limit(3)), repository.ErrUnsupported, "LIMIT with SUM"},
		"sum of mixed values":  {sum("mixed", all), repository.ErrUnsupported, "SUM(mixed)"},
		"max of mixed values":  {second(r.Max(ctx, "mixed", all)), repository.ErrUnsupported, "MAX(mixed)"},
		"avg of nothing":       {second(r.Avg(ctx, "score", all)), repository.ErrNotFound, ""},
		"min of nothing":       {second(r.Min(ctx, "score", all)), repository.ErrNotFound, ""},
		"distinct by another":  {failure(repository.Distinct[string](ctx, r, "name", all.OrderBy("rank"))), repository.ErrUnsupported, "ORDER BY with DISTINCT"},
		"distinct unknown":     {failure(repository.Distinct[string](ctx, r, "nam", all)), repository.ErrInvalid, "name"},
		"distinct misfit":      {failure(repository.Distinct[int](ctx, r, "name", all)), nil, "does not fit"},
		"group with order":     {failure(repository.GroupBy[rankTotal](ctx, r, all.OrderBy("rank"))), repository.ErrUnsupported, "ORDER BY with GROUP BY"},
		"group by unknown":     {failure(repository.GroupBy[misspelt](ctx, r, all)), repository.ErrInvalid, "rank"},
		"unknown aggregate":    {failure(repository.GroupBy[unknownTag](ctx, r, all)), repository.ErrInvalid, "median"},
		"nothing to group by":  {failure(repository.GroupBy[ungrouped](ctx, r, all)), repository.ErrInvalid, "group by"},
		"sum of text in group": {failure(repository.GroupBy[textSum](ctx, r, all)), repository.ErrInvalid, "name"},
		"not a struct":         {failure(repository.GroupBy[int](ctx, r, all)), repository.ErrInvalid, "struct"},
		"foreign cursor":       {second(r.Page(ctx, all, repository.PageOptions{Cursor: "abc"})), repository.ErrInvalid, "cursor"},
		"tenant in context": {
			second(repo.AllTenants().Sum(repository.WithTenant(ctx, "acme"), "rank", all)), repository.ErrTenantMismatch, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var typed *repository.Error
			if test.err == nil || test.is != nil && !errors.Is(test.err, test.is) || !errors.As(test.err, &typed) || !strings.Contains(test.err.Error(), test.says) {
				t.Errorf("got %v", test.err)
			}
		})
	}
}

func second[V any](_ V, err error) error { return err }

func failure[V any](seq func(func(V, error) bool)) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestAcross_requests: once the physical partitions are known, a query sends
// one request to each that may hold something, and a prefix to one of them.
func TestAcross_requests(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(8), emulatortest.Calm()) // its requests are counted
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 40 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i%10), "x"))
	}
	count := func(r *repository.Reader[Lookup]) int64 {
		ctx, tally := repository.WithTally(t.Context())
		if _, err := r.Count(ctx, repository.All()); err != nil {
			t.Fatal(err)
		}
		return tally.Requests()
	}
	if first := count(repo.AllTenants()); first <= 8 {
		t.Errorf("the first count took %d requests: those that find the partitions are not counted", first)
	}
	if again := count(repo.AllTenants()); again != 8 {
		t.Errorf("a count over 8 partitions took %d requests", again)
	}
	if prefix := count(&repo.In("t03").Reader); prefix != 1 {
		t.Errorf("a count over a tenant took %d requests", prefix)
	}
	b.emulator.Split("db", "c", b.emulator.Ranges("db", "c")[2].ID)
	if n, err := repo.AllTenants().Count(t.Context(), repository.All()); err != nil || n != 40 {
		t.Errorf("after the split: %d documents, %v", n, err)
	}
	if again := count(repo.AllTenants()); again != 9 {
		t.Errorf("a count over 9 partitions took %d requests", again)
	}
}

// TestAcross_plainClient: a client without Grove's policy serves too.
func TestAcross_plainClient(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, emulatortest.WithPartitions(3))
	container := newContainer(t, e.Client(nil), "/tenantId", "/lookupType")
	repo, err := repository.New[Lookup](container, repository.Config{PartitionKey: []string{"/tenantId", "/lookupType"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i), "x"))
	}
	for _, q := range []repository.Query{repository.All(), repository.All().OrderBy("name")} {
		if got := allPages(t, t, repo.AllTenants(), q, 4, func(int) {}); len(got) != 25 {
			t.Errorf("%d documents", len(got))
		}
	}
}

func TestAcross_budget(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(8))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 400 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i%40), "x"))
	}
	for _, q := range []repository.Query{repository.All(), repository.All().OrderBy("name")} {
		ctx, tally := repository.WithBudget(t.Context(), 30)
		var err error
		n := 0
		for round := 0; round < 10 && err == nil; round++ {
			n, err = 0, nil
			for _, e := range repo.AllTenants().Query(ctx, q) {
				if err = e; err == nil {
					n++
				}
			}
		}
		if !errors.Is(err, repository.ErrBudget) || tally.RequestUnits() < 30 {
			t.Errorf("%v after %s", err, tally)
		}
	}
}

// TestAcross_faults: throttling, failures and partitions that are being moved
// are waited out, with the whole result.
func TestAcross_faults(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(4))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 60 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i), "x"))
	}
	for _, status := range [][2]int{{http.StatusTooManyRequests, 3200}, {http.StatusServiceUnavailable, 0}, {http.StatusGone, 1007}, {http.StatusGone, 1002}} {
		for nth := 1; nth <= 5; nth++ {
			b.emulator.Fault(emulator.Answer(status[0], status[1]).On(emulator.QueryItems).Nth(nth))
			for _, q := range []repository.Query{repository.All(), repository.All().OrderBy("name")} {
				if got := collect(t, repo.AllTenants().Query(t.Context(), q), nil); len(got) != 60 {
					t.Errorf("%v at request %d: %d documents", status, nth, len(got))
				}
			}
			if n, err := repo.AllTenants().Count(t.Context(), repository.All()); err != nil || n != 60 {
				t.Errorf("%v at request %d: counted %d, %v", status, nth, n, err)
			}
		}
	}
}

func TestAcross_cancelled(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(4))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 60 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i), "x"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range repo.AllTenants().Query(ctx, repository.All()) {
		if last = err; err == nil {
			n++
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || n == 0 || n == 60 {
		t.Errorf("%d documents, then %v", n, last)
	}
}

// TestAcross_slowSplit: while the service completes a split it refuses every
// request on the partition for seconds.
func TestAcross_slowSplit(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(context.Context, *repository.Reader[Lookup]) error{
		"query": func(ctx context.Context, r *repository.Reader[Lookup]) error {
			return failure(r.Query(ctx, repository.All()))
		},
		"sorted": func(ctx context.Context, r *repository.Reader[Lookup]) error {
			return failure(r.Query(ctx, repository.All().OrderBy("rank")))
		},
		"count": func(ctx context.Context, r *repository.Reader[Lookup]) error {
			return second(r.Count(ctx, repository.All()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
			synctest.Test(t, func(t *testing.T) {
				b := setupLookups(t)
				r := b.lookups(t, t, "c", "/tenantId", "/lookupType").AllTenants()
				if err := read(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				b.emulator.Fault(emulator.Answer(http.StatusGone, 1007).On(emulator.QueryItems, emulator.ChangeFeed).Times(12))
				if err := read(t.Context(), r); err != nil {
					t.Errorf("a split of a while: %v", err)
				}
				b.emulator.Fault(emulator.Answer(http.StatusGone, 1007).On(emulator.QueryItems, emulator.ChangeFeed).Keep())
				began := time.Now()
				err := read(t.Context(), r)
				if took := time.Since(began); err == nil || took < time.Second || took > time.Minute {
					t.Errorf("a split without end: %v after %s", err, took)
				}
				if !repository.IsRetryable(err) {
					t.Errorf("%v is not retryable", err)
				}
			})
		})
	}
}
