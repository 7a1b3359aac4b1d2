package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// contextSource is a test that gives its context.
type contextSource interface{ Context() context.Context }

var prefixed = []string{"tenantId", "lookupType"}

// drawDocs draws documents with many ties, of few lookup types, whose field
// "mixed" holds values of every JSON type or is not there.
func drawDocs(t *rapid.T, tenants int) []rawLookup {
	mixed := rapid.SampledFrom([]any{
		nil, true, false, -1.5, 0, 3, 1e300, "", "a", "b", "\ue000", "\U0001f600", []any{}, []any{1, "x"}, map[string]any{}, map[string]any{"k": 1},
	})
	docs := make([]rawLookup, rapid.IntRange(0, 60).Draw(t, "documents"))
	for i := range docs {
		tenant := fmt.Sprintf("t%d", rapid.IntRange(0, tenants-1).Draw(t, "tenant"))
		d := newLookup(i, tenant, fmt.Sprintf("type%d", rapid.IntRange(0, 7).Draw(t, "type")))
		d["rank"] = rapid.IntRange(0, 3).Draw(t, "rank")
		d["name"] = rapid.SampledFrom([]string{"ann", "bob", "cid"}).Draw(t, "name")
		if rapid.Bool().Draw(t, "scored") {
			d["score"] = float64(rapid.IntRange(-8, 8).Draw(t, "score")) / 4
		}
		if rapid.IntRange(0, 3).Draw(t, "has mixed") > 0 {
			d["mixed"] = mixed.Draw(t, "mixed")
		}
		docs[i] = d
	}
	return docs
}

func drawQuery(t *rapid.T) repository.Query {
	q := repository.All()
	if rapid.Bool().Draw(t, "where") {
		q = repository.Where(repository.Lte("rank", rapid.IntRange(0, 3).Draw(t, "most")))
	}
	switch rapid.IntRange(0, 6).Draw(t, "order") {
	case 1:
		q = q.OrderBy("mixed")
	case 2:
		q = q.OrderByDesc("mixed")
	case 3:
		q = q.OrderBy("rank")
	case 4:
		q = q.OrderBy("rank").OrderBy("name")
	case 5:
		q = q.OrderByDesc("rank").OrderBy("name")
	case 6:
		q = q.OrderByDesc("score")
	}
	if rapid.Bool().Draw(t, "limited") {
		q = q.Limit(rapid.IntRange(1, 40).Draw(t, "limit"))
	}
	return q
}

// shake divides a physical partition of a container, or joins two.
func (b *lookupBundle) shake(t *testing.T, r *rapid.T, container string) {
	t.Helper()
	ranges := b.emulator.Ranges("db", container)
	at := rapid.IntRange(0, len(ranges)-1).Draw(r, "range")
	if at > 0 && rapid.IntRange(0, 3).Draw(r, "join") == 0 {
		b.emulator.Merge("db", container, ranges[at-1].ID, ranges[at].ID)
		return
	}
	if len(ranges) < 12 {
		b.emulator.Split("db", container, ranges[at].ID)
	}
}

// pair is the same documents in two containers: one of several physical
// partitions, and one of a single one, which the service sorts by itself.
type pair struct {
	many, one *repository.Repository[Lookup]
	bundle    *lookupBundle // of many
	name      string
	docs      []rawLookup
}

// pairs makes pairs, each of fresh containers.
func pairs(t *testing.T) func(*rapid.T) *pair {
	t.Helper()
	many := setupLookups(t, emulatortest.WithPartitions(3))
	one := setupLookups(t)
	rounds := 0
	return func(r *rapid.T) *pair {
		rounds++
		p := &pair{bundle: many, name: fmt.Sprintf("c%d", rounds), docs: drawDocs(r, 12)}
		p.many = many.lookups(t, r, p.name, "/tenantId", "/lookupType")
		p.one = one.lookups(t, r, p.name, "/tenantId", "/lookupType")
		store(t, r, p.many, prefixed, p.docs...)
		store(t, r, p.one, prefixed, p.docs...)
		return p
	}
}

// TestAcrossEqualsOnePartition reads over physical partitions that split and
// merge meanwhile.
func TestAcrossEqualsOnePartition(t *testing.T) {
	t.Parallel()
	next := pairs(t)
	rapid.Check(t, func(r *rapid.T) {
		p := next(r)
		q := drawQuery(r)
		shakeAt := rapid.IntRange(0, 20).Draw(r, "shake at")

		want := collect(r, p.one.AllTenants().Query(t.Context(), q), nil)
		got := collect(r, p.many.AllTenants().Query(t.Context(), q), func(i int) {
			if i == shakeAt {
				p.bundle.shake(t, r, p.name)
			}
		})
		compareResults(r, q, want, got)

		size := rapid.IntRange(1, 25).Draw(r, "page size")
		paged := allPages(t, r, p.many.AllTenants(), q, size, func(int) {
			if rapid.Bool().Draw(r, "shake") {
				p.bundle.shake(t, r, p.name)
			}
		})
		compareResults(r, q, want, paged)

		want = collect(r, p.one.In("t0").Query(t.Context(), q), nil)
		compareResults(r, q, want, collect(r, p.many.In("t0").Query(t.Context(), q), nil))
	})
}

// compareResults wants equal sequences from ordered queries, else equal sets;
// of an unordered query with a limit only the number is sure.
func compareResults(t fataler, q repository.Query, want, got []*Lookup) {
	t.Helper()
	e, err := q.Explain()
	if err != nil {
		t.Fatal(err)
	}
	a, b := ids(want), ids(got)
	switch {
	case strings.Contains(e.SQL, "ORDER BY"):
	case strings.Contains(e.SQL, "LIMIT"):
		slices.Sort(b)
		if len(a) != len(b) || len(slices.Compact(slices.Clone(b))) != len(b) {
			t.Fatalf("%s: want %d different documents, got %v", e.SQL, len(a), b)
		}
		return
	default:
		slices.Sort(a)
		slices.Sort(b)
	}
	if !slices.Equal(a, b) {
		t.Fatalf("%s:\nwant %v\ngot  %v", e.SQL, a, b)
	}
}

func collect[T any](t fataler, seq func(func(T, error) bool), each func(i int)) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		if each != nil {
			each(len(out))
		}
		out = append(out, v)
	}
	return out
}

func allPages(ctx contextSource, t fataler, r *repository.Reader[Lookup], q repository.Query, size int, between func(page int)) []*Lookup {
	t.Helper()
	var out []*Lookup
	cursor := ""
	for n := 0; ; n++ {
		page, err := r.Page(ctx.Context(), q, repository.PageOptions{Size: size, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page.Items...)
		if len(page.Items) > size || len(page.Items) < size && page.Cursor != "" {
			t.Fatalf("a page of %d has %d documents and the cursor %q", size, len(page.Items), page.Cursor)
		}
		if page.Cursor == "" {
			return out
		}
		cursor = page.Cursor
		between(n)
	}
}

// TestAggregatesAcrossEqualOnePartition does the same for what is calculated.
func TestAggregatesAcrossEqualOnePartition(t *testing.T) {
	t.Parallel()
	next := pairs(t)
	rapid.Check(t, func(r *rapid.T) {
		p := next(r)
		q := repository.Where(repository.Gte("rank", rapid.IntRange(0, 3).Draw(r, "least")))
		want := aggregates(t, r, p.one.AllTenants(), q)
		if got := aggregates(t, r, p.many.AllTenants(), q); got != want {
			t.Fatalf("want %s\ngot  %s", want, got)
		}
		p.bundle.shake(t, r, p.name)
		if got := aggregates(t, r, p.many.AllTenants(), q); got != want {
			t.Fatalf("after the partitions changed: want %s\ngot  %s", want, got)
		}
		if model := modelOf(p.docs, q); !strings.HasPrefix(want, model) {
			t.Fatalf("want %s\ngot  %s", model, want)
		}
	})
}

// rankTotal is a group of lookups.
type rankTotal struct {
	Rank  int      `json:"rank"`
	Name  string   `json:"name"`
	N     int64    `json:"n" group:"count"`
	Total float64  `json:"total" group:"sum,field=score"`
	Mean  *float64 `json:"mean" group:"avg,field=score"`
	Low   *float64 `json:"low" group:"min,field=score"`
	High  *float64 `json:"high" group:"max,field=score"`
}

// aggregates is one text of everything that is calculated over a query.
func aggregates(ctx contextSource, t fataler, s *repository.Reader[Lookup], q repository.Query) string {
	t.Helper()
	var b strings.Builder
	number := func(name string, v float64, err error) {
		switch {
		case errors.Is(err, repository.ErrNotFound):
			fmt.Fprintf(&b, "%s none; ", name)
		case err != nil:
			t.Fatal(err)
		default:
			fmt.Fprintf(&b, "%s %v; ", name, v)
		}
	}
	n, err := s.Count(ctx.Context(), q)
	number("count", float64(n), err)
	v, err := s.Sum(ctx.Context(), "score", q)
	number("sum", v, err)
	v, err = s.Avg(ctx.Context(), "score", q)
	number("avg", v, err)
	v, err = s.Min(ctx.Context(), "score", q)
	number("min", v, err)
	v, err = s.Max(ctx.Context(), "score", q)
	number("max", v, err)
	for v, err := range repository.Distinct[float64](ctx.Context(), s, "score", q.OrderByDesc("score")) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%v ", v)
	}
	show := func(p *float64) any {
		if p == nil {
			return nil
		}
		return *p
	}
	for g, err := range repository.GroupBy[rankTotal](ctx.Context(), s, q) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "[%d %s: %d %v %v %v %v]", g.Rank, g.Name, g.N, g.Total, show(g.Mean), show(g.Low), show(g.High))
	}
	return b.String()
}

// modelOf calculates the first part of the same text from the documents.
func modelOf(docs []rawLookup, q repository.Query) string {
	e, err := q.Explain()
	if err != nil {
		return err.Error()
	}
	least := e.Parameters[0].Value.(int)
	n, sum := 0, 0.0
	var scores []float64
	for _, d := range docs {
		if d["rank"].(int) < least {
			continue
		}
		n++
		if score, ok := d["score"].(float64); ok {
			scores = append(scores, score)
			sum += score
		}
	}
	if len(scores) == 0 {
		return fmt.Sprintf("count %d; sum %v; avg none; min none; max none; ", n, sum)
	}
	return fmt.Sprintf("count %d; sum %v; avg %v; min %v; max %v; ", n, sum, sum/float64(len(scores)), slices.Min(scores), slices.Max(scores))
}

// TestSequences_rangedTogether: a sequence may be ranged over again, and by
// several goroutines. The race detector watches.
func TestSequences_rangedTogether(t *testing.T) {
	t.Parallel()
	b := setupLookups(t, emulatortest.WithPartitions(3))
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 20 {
		store(t, t, repo, prefixed, newLookup(i, fmt.Sprintf("t%02d", i), "x"))
	}
	type view struct {
		Name string `json:"name"`
	}
	all, r := repository.All(), repo.AllTenants()
	query := r.Query(t.Context(), all.OrderBy("rank"))
	project := repository.Project[view](t.Context(), r, all)
	distinct := repository.Distinct[string](t.Context(), r, "name", all)
	groups := repository.GroupBy[view](t.Context(), r, all)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, got := range []int{length(query), length(project), length(distinct), length(groups)} {
				if got != 20 {
					t.Errorf("got %d rows, want 20", got)
				}
			}
		})
	}
	group.Wait()
}

// length counts the rows of a sequence; it is -1 when that fails.
func length[V any](seq func(func(V, error) bool)) int {
	n := 0
	for _, err := range seq {
		if err != nil {
			return -1
		}
		n++
	}
	return n
}
