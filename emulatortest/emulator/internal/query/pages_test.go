package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

var pagedQueries = []string{
	`SELECT * FROM c`,
	`SELECT VALUE c.id FROM c WHERE c.n > 1`,
	`SELECT VALUE c.maybe FROM c`,
	`SELECT c.id, t FROM c JOIN t IN c.tags`,
	`SELECT TOP 7 * FROM c`,
	`SELECT VALUE c.id FROM c OFFSET 3 LIMIT 6`,
	`SELECT * FROM c ORDER BY c.n`,
	`SELECT VALUE c.id FROM c ORDER BY c.n DESC`,
	`SELECT VALUE c.maybe FROM c ORDER BY c.n DESC`,
	`SELECT c.id, c.n FROM c ORDER BY c.n DESC, c.maybe`,
	`SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.n`,
	`SELECT TOP 5 VALUE c.id FROM c ORDER BY c.maybe`,
	`SELECT VALUE c.id FROM c ORDER BY c.maybe OFFSET 2 LIMIT 9`,
	`SELECT VALUE c.id FROM c ORDER BY c.long`,
	`SELECT DISTINCT c.n FROM c`,
	`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n`,
	`SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags OFFSET 1 LIMIT 2`,
	`SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n`,
	`SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n OFFSET 1 LIMIT 2`,
	`SELECT VALUE COUNT(1) FROM c`,
	`SELECT * FROM (SELECT DISTINCT c.n, c.maybe FROM c) AS d`,
	`SELECT g.n, g.k FROM (SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n) AS g ORDER BY g.k DESC`,
	`SELECT VALUE t FROM t IN (SELECT VALUE MAKELIST(c.id) FROM c)`,
	`SELECT VALUE 1`,
}

// drawItems makes items with few distinct values, so that keys and groups repeat, and some missing properties.
func drawItems(t *rapid.T) []string {
	n := rapid.IntRange(0, 25).Draw(t, "items")
	documents := make([]string, n)
	for i := range documents {
		maybe := rapid.SampledFrom([]string{``, `"maybe": null,`, `"maybe": true,`, `"maybe": "x",`, `"maybe": [1],`, `"maybe": 3,`}).Draw(t, "maybe")
		tags := rapid.SampledFrom([]string{`[]`, `["a"]`, `["a", "b", "c"]`, `"a"`}).Draw(t, "tags")
		long := strings.Repeat(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "long"), 2000)
		documents[i] = fmt.Sprintf(`{"id": "%02d", %s "n": %d, "tags": %s, "long": %q}`, i, maybe, rapid.IntRange(0, 3).Draw(t, "n"), tags, long)
	}
	return documents
}

// TestPagesMakeTheWholeResult holds for every page size: the pages are the one-page result, cut.
func TestPagesMakeTheWholeResult(t *testing.T) {
	t.Parallel()
	for _, text := range pagedQueries {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				req := request(t, text, items(t, drawItems(rt)...))
				req.MaxItems = -1
				want := whole(t, req)
				req.MaxItems = rapid.IntRange(1, 9).Draw(rt, "page size")
				req.EndLate = rapid.Bool().Draw(rt, "end late")
				req.MaxBytes = rapid.SampledFrom([]int{0, 1, 50, 5000}).Draw(rt, "page bytes")
				if got := whole(t, req); got != want {
					rt.Fatalf("in pages of %d\n got %s\nwant %s", req.MaxItems, got, want)
				}
			})
		})
	}
}

// TestWritesBetweenPages checks that what is neither written nor deleted between pages comes up exactly once, and in order.
func TestWritesBetweenPages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`SELECT VALUE c.id FROM c`, `SELECT VALUE c.id FROM c ORDER BY c.n`, `SELECT VALUE c.id FROM c ORDER BY c.n DESC`} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				number := func(n int) string { return fmt.Sprintf(`{"id": %d, "n": %d}`, n, rapid.IntRange(0, 3).Draw(rt, "n")) }
				var documents []string
				for i := range 20 {
					documents = append(documents, number(i))
				}
				source := items(t, documents...)
				touched := map[string]bool{}
				req := request(t, text, source)
				req.MaxItems = rapid.IntRange(1, 6).Draw(rt, "page size")
				seen := map[string]int{}
				for round := 0; ; round++ {
					page, err := query.Run(t.Context(), req)
					if err != nil {
						rt.Fatal(err)
					}
					for _, d := range page.Documents {
						seen[string(d)]++
					}
					if page.Continuation == "" {
						break
					}
					req.Continuation = page.Continuation
					if round >= 10 {
						continue
					}
					if rapid.Bool().Draw(rt, "delete") {
						at := rapid.IntRange(0, len(source)-1).Draw(rt, "which")
						touched[source[at].Value.Get("id").String()] = true
						source = slices.Delete(slices.Clone(source), at, at+1)
					}
					text := number(100 + len(touched))
					v, _ := value.ParseString(text)
					touched[v.Get("id").String()] = true
					source = append(slices.Clone(source), query.Item{RID: rid(1000 + len(touched)), Raw: []byte(text), Value: v})
					req.Source = source
				}
				for i := range 20 {
					if id := fmt.Sprint(i); !touched[id] && seen[id] != 1 {
						rt.Fatalf("item %s came up %d times", id, seen[id])
					}
				}
				for id, n := range seen {
					if n > 1 {
						rt.Fatalf("item %s came up %d times", id, n)
					}
				}
			})
		})
	}
}

func TestPageEnds(t *testing.T) {
	t.Parallel()
	ten := make([]string, 10)
	for i := range ten {
		ten[i] = fmt.Sprintf(`{"id":"%d"}`, i)
	}
	cases := []struct {
		name string
		edit func(*query.Request)
		want int
	}{
		{"a full last page ends the query", func(r *query.Request) { r.MaxItems = 5 }, 2},
		{"or not, across partitions", func(r *query.Request) { r.MaxItems, r.EndLate = 5, true }, 3},
		{"a page is bounded by its size", func(r *query.Request) { r.MaxBytes = 25 }, 5},
		{"a document larger than a page is one", func(r *query.Request) { r.MaxBytes = 1 }, 10},
		{"no bound at all", func(r *query.Request) { r.MaxItems = -1 }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := request(t, `SELECT * FROM c`, items(t, ten...))
			c.edit(&req)
			if got := pages(t, req); len(got) != c.want {
				t.Fatalf("got %d pages %q, want %d", len(got), got, c.want)
			}
		})
	}
	if got := pages(t, request(t, `SELECT * FROM c`, items(t, slices.Repeat([]string{`{}`}, 250)...))); len(got) != 3 {
		t.Errorf("got %d pages of 250 items without a size, want 3", len(got))
	}
}

// TestStoredBytesStay checks that whole items are handed on as they are stored.
func TestStoredBytesStay(t *testing.T) {
	t.Parallel()
	raw := `{ "b":1.0,"a": 1e2, "big": 12345678901234567890 }`
	for _, text := range []string{`SELECT * FROM c`, `SELECT VALUE c FROM c`, `SELECT * FROM c ORDER BY c.a`, `SELECT DISTINCT * FROM c`} {
		if got := whole(t, request(t, text, items(t, raw))); got != raw {
			t.Errorf("%s: got %s, want the stored bytes", text, got)
		}
	}
	if got, want := whole(t, request(t, `SELECT * FROM t IN c.list`, items(t, `{"list": [{"a": 1.0}]}`))), `{"a":1}`; got != want {
		t.Errorf("an element: got %s, want %s", got, want)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	mixed := []string{
		`{"id": 1, "v": "b"}`, `{"id": 2, "v": null}`, `{"id": 3}`, `{"id": 4, "v": 2}`, `{"id": 5, "v": true}`, `{"id": 6, "v": [1]}`,
		`{"id": 7, "v": {}}`, `{"id": 8, "v": 2}`, `{"id": 9, "v": false}`, `{"id": 10}`,
	}
	cases := map[string]string{
		`SELECT VALUE c.id FROM c ORDER BY c.v`:                `3 10 2 9 5 4 8 1 6 7`,
		`SELECT VALUE c.id FROM c ORDER BY c.v DESC`:           `7 6 1 8 4 5 9 2 10 3`,
		`SELECT VALUE c.id FROM c ORDER BY c.v, c.id DESC`:     `10 3 2 9 5 8 4 1 6 7`,
		`SELECT c.u FROM c WHERE c.id < 3 ORDER BY c.u`:        `{} {}`,
		`SELECT TOP 2 VALUE c.id FROM c ORDER BY c._rid, c.id`: `1 2`,
	}
	for text, want := range cases {
		if got := whole(t, request(t, text, items(t, mixed...))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestVectorOrder(t *testing.T) {
	t.Parallel()
	source := items(t, `{"id": 1, "v": [0, 1]}`, `{"id": 2, "v": [1, 0]}`, `{"id": 3, "v": [1, 1]}`)
	for text, want := range map[string]string{
		`SELECT TOP 2 VALUE c.id FROM c ORDER BY VectorDistance(c.v, [1, 0])`:                                        `2 3`,
		`SELECT TOP 2 VALUE c.id FROM c ORDER BY VectorDistance(c.v, [0, 1], true, {distanceFunction: "euclidean"})`: `1 3`,
	} {
		if got := whole(t, request(t, text, source)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestSliceInAnyOrder checks paging over resources whose ids don't grow with their age.
func TestSliceInAnyOrder(t *testing.T) {
	t.Parallel()
	source := items(t, `{"id": 0}`, `{"id": 1}`, `{"id": 2}`, `{"id": 3}`, `{"id": 4}`)
	for i, id := range []string{"zzzzAA==", "AAAAAA==", "ZZZZAA==", "bAAAAA==", "CAAAAA=="} {
		source[i].RID = id
	}
	for _, text := range []string{`SELECT VALUE c.id FROM c`, `SELECT DISTINCT VALUE c.id FROM c`, `SELECT VALUE c.id FROM c ORDER BY c.none`} {
		req := request(t, text, source)
		req.MaxItems = 2
		if got, want := strings.Join(pages(t, req), " | "), "1 4 | 2 3 | 0"; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	documents := make([]string, 1000)
	for i := range documents {
		documents[i] = fmt.Sprintf(`{"id": "%d", "pk": "p", "n": %d, "name": {"first": "A", "last": "B"}, "tags": ["x", "y"]}`, i, i)
	}
	source := items(b, documents...)
	for _, text := range []string{`SELECT * FROM c`, `SELECT * FROM c WHERE c.pk = "p" AND c.n >= 500`, `SELECT * FROM c ORDER BY c.n DESC`} {
		b.Run(text, func(b *testing.B) {
			req := request(b, text, source)
			for b.Loop() {
				if _, err := query.Run(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
