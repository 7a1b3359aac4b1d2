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

// TestTies checks that rows with equal keys go by their rids in the direction in which the index is read, and that the page
// says which that is.
func TestTies(t *testing.T) {
	t.Parallel()
	const composite = `{"includedPaths": [{"path": "/*"}], "compositeIndexes": [
		[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}],
		[{"path": "/b", "order": "descending"}, {"path": "/a", "order": "ascending"}]]}`
	source := items(t, `{"id": 1, "a": 1, "b": 1}`, `{"id": 2, "a": 1, "b": 1}`, `{"id": 3, "a": 2, "b": 1}`, `{"id": 4, "a": 2, "b": 1}`)
	for _, tt := range []struct {
		order, want string
		reverse     bool
	}{
		{"c.a", "1 2 3 4", false},
		{"c.a DESC", "4 3 2 1", true},
		{"c.b DESC", "4 3 2 1", true},
		{"c.none DESC", "4 3 2 1", true},
		{"c.a, c.b DESC", "1 2 3 4", false},
		{"c.a DESC, c.b", "4 3 2 1", true},
		{"c.b DESC, c.a", "1 2 3 4", false}, // the index begins with a descending path and is read forwards
		{"c.b, c.a DESC", "4 3 2 1", true},
	} {
		req := request(t, "SELECT VALUE c.id FROM c ORDER BY "+tt.order, source)
		req.Policy = policy(t, composite)
		page, err := query.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(slices.Concat(joined(page.Documents)...)); got != tt.want || page.ReverseScan != tt.reverse {
			t.Errorf("%s: got %s, reverse %t; want %s, %t", tt.order, got, page.ReverseScan, tt.want, tt.reverse)
		}
		req.MaxItems = 1
		if got := whole(t, req); got != tt.want {
			t.Errorf("%s in pages: got %s, want %s", tt.order, got, tt.want)
		}
	}
}

func joined(documents [][]byte) [][]byte {
	var parts [][]byte
	for i, d := range documents {
		if i > 0 {
			parts = append(parts, []byte(" "))
		}
		parts = append(parts, d)
	}
	return parts
}

// TestResumeFilter checks that a filter cuts the result at its place, whatever the order and the page size.
func TestResumeFilter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`SELECT VALUE [c._rid, [c.n]] FROM c ORDER BY c.n`,
		`SELECT VALUE [c._rid, [c.n]] FROM c WHERE (true) ORDER BY c.n DESC`,
		`SELECT VALUE [c._rid, [c.maybe ?? []]] FROM c WHERE NOT IS_ARRAY(c.maybe) ORDER BY c.maybe DESC`,
		`SELECT VALUE [c._rid, [c.n, c.maybe ?? []]] FROM c JOIN t IN c.tags WHERE NOT IS_ARRAY(c.maybe) ORDER BY c.n DESC, c.maybe`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				source := items(t, drawItems(rt)...)
				for i, item := range source {
					members, _ := item.Value.Members()
					source[i].Value = value.FromObject(append(slices.Clone(members), value.Member{Name: "_rid", Value: value.FromString(item.RID)}))
				}
				req := request(t, text, source)
				req.MaxItems = rapid.IntRange(1, 9).Draw(rt, "page size")
				all := strings.Fields(whole(t, req))
				if len(all) == 0 {
					return
				}
				at := rapid.IntRange(0, len(all)-1).Draw(rt, "place")
				place, err := value.ParseString(all[at])
				if err != nil {
					rt.Fatal(err)
				}
				exclude := rapid.Bool().Draw(rt, "exclude")
				req.Resume = filterOf(rt, fmt.Sprintf(`{"value": %s, "rid": %s, "exclude": %t}`, place.Index(1), place.Index(0), exclude))
				want := slices.DeleteFunc(slices.Clone(all[slices.Index(all, all[at]):]), func(row string) bool { return exclude && row == all[at] })
				if got := whole(t, req); got != strings.Join(want, " ") {
					rt.Fatalf("behind %s\n got %s\nwant %s", all[at], got, want)
				}
				// Without a rid the keys alone decide.
				req.Resume = filterOf(rt, fmt.Sprintf(`{"value": %s, "rid": null, "exclude": %t}`, place.Index(1), exclude))
				sameKeys := func(row string) bool { return strings.HasSuffix(row, ","+place.Index(1).String()+"]") }
				want = slices.DeleteFunc(slices.Clone(all[slices.IndexFunc(all, sameKeys):]), func(row string) bool { return exclude && sameKeys(row) })
				if got := whole(t, req); got != strings.Join(want, " ") {
					rt.Fatalf("by keys %s\n got %s\nwant %s", place.Index(1), got, want)
				}
			})
		})
	}
}

func filterOf(t *rapid.T, text string) *query.ResumeFilter {
	v, err := value.ParseString(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseResumeFilter(v)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestResumeFilterRefusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `[]`, `{"value": 1}`, `{"value": [1], "rid": 2}`, `{"value": [1], "exclude": "no"}`, `{"value": [[1]]}`, `{"value": [{"type": "array"}]}`} {
		v, err := value.ParseString(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := query.ParseResumeFilter(v); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, text := range []string{`SELECT * FROM c`, `SELECT * FROM c ORDER BY c.a, c.b`, `SELECT c.a FROM c GROUP BY c.a ORDER BY c.a`} {
		req := request(t, text, items(t, `{}`))
		req.Resume = &query.ResumeFilter{Values: []value.Value{value.FromNumber(1)}}
		if _, err := query.Run(t.Context(), req); err == nil {
			t.Errorf("%s takes a filter of one value", text)
		}
	}
}

// TestGroupOrder checks the order of groups: that of the key where an index on it could answer, else that of the first item.
func TestGroupOrder(t *testing.T) {
	t.Parallel()
	source := items(t, `{"a": 3, "b": 1}`, `{"a": 1, "b": 2}`, `{"a": "x", "b": 1}`, `{"a": 3, "b": 2}`, `{"a": null, "b": 1}`)
	for text, want := range map[string]string{
		`SELECT VALUE c.a FROM c GROUP BY c.a`:                                       `null 1 3 "x"`,
		`SELECT VALUE c["a"] FROM c GROUP BY c.a`:                                    `null 1 3 "x"`,
		`SELECT VALUE COUNT(1) FROM c GROUP BY c.a`:                                  `1 1 2 1`,
		`SELECT VALUE {"k": c.a} FROM c GROUP BY {"k": c.a}`:                         `{"k":null} {"k":1} {"k":3} {"k":"x"}`,
		`SELECT VALUE SUM(c.b) FROM c GROUP BY c.a`:                                  `3 2 1 1`,
		`SELECT VALUE COUNT(c.b) FROM c GROUP BY c.a`:                                `2 1 1 1`,
		`SELECT VALUE c.a FROM c GROUP BY c.a, c.b`:                                  `3 1 "x" 3 null`,
		`SELECT VALUE {"k": c.a} FROM c GROUP BY c.a`:                                `{"k":3} {"k":1} {"k":"x"} {"k":null}`,
		`SELECT VALUE c.a FROM c GROUP BY c.a ORDER BY c.a DESC`:                     `"x" 3 1 null`,
		`SELECT VALUE [c.a, c.b] FROM c GROUP BY c.a, c.b ORDER BY c.b DESC, c.a`:    `[1,2] [3,2] [null,1] [3,1] ["x",1]`,
		`SELECT VALUE c.a FROM c GROUP BY c.a ORDER BY c.a DESC OFFSET 1 LIMIT 2`:    `3 1`,
		`SELECT VALUE [c.b, COUNT(1), MAX(c.a)] FROM c GROUP BY c.b ORDER BY c["b"]`: `[1,3,"x"] [2,2,3]`,
	} {
		for size := 1; size <= 6; size++ {
			req := request(t, text, source)
			req.MaxItems = size
			if got := whole(t, req); got != want {
				t.Errorf("%s in pages of %d: got %s, want %s", text, size, got, want)
			}
		}
	}
	missing := items(t, `{"a": 3}`, `{"a": 1}`, `{}`, `{"a": 2}`)
	if got, want := whole(t, request(t, `SELECT c.a FROM c GROUP BY c.a`, missing)), `{"a":3} {"a":1} {} {"a":2}`; got != want {
		t.Errorf("with a missing property: got %s, want %s", got, want)
	}
}

// TestLastPageIsNeverEmpty checks queries whose rows fill their last page exactly: where the end is known there is no
// continuation, also in a range of a container of several partitions.
func TestLastPageIsNeverEmpty(t *testing.T) {
	t.Parallel()
	documents := make([]string, 12)
	for i := range documents {
		documents[i] = fmt.Sprintf(`{"id": %d, "n": %d}`, i, i%6)
	}
	for text, rows := range map[string]int{
		`SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n`:           6,
		`SELECT VALUE c.n FROM c GROUP BY c.n ORDER BY c.n DESC`:  6,
		`SELECT DISTINCT VALUE c.n FROM c`:                        6,
		`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n`:           6,
		`SELECT TOP 6 * FROM c`:                                   6,
		`SELECT TOP 20 * FROM c`:                                  12,
		`SELECT * FROM c OFFSET 6 LIMIT 20`:                       6,
		`SELECT * FROM c OFFSET 2 LIMIT 6`:                        6,
		`SELECT * FROM c ORDER BY c.n`:                            12,
		`SELECT TOP 6 * FROM c ORDER BY c.n`:                      6,
		`SELECT * FROM c ORDER BY c.n OFFSET 6 LIMIT 6`:           6,
		`SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.n FROM c)`: 1,
	} {
		for _, size := range []int{1, 2, 3, 6} {
			for _, late := range []bool{false, true} {
				req := request(t, text, items(t, documents...))
				req.MaxItems, req.EndLate = size, late
				if got, want := len(pages(t, req)), (rows+size-1)/size; got != want {
					t.Errorf("%s in pages of %d, late %t: got %d pages, want %d", text, size, late, got, want)
				}
			}
		}
	}
}
