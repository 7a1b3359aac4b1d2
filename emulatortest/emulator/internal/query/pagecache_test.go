package query_test

import (
	"fmt"
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
)

// versioned is a source that can tell whether it is another one, and counts what is read of it.
type versioned struct {
	query.Slice
	version int
	read    *int
}

func (v versioned) Items(afterRID string) iter.Seq[query.Item] {
	return func(yield func(query.Item) bool) {
		for item := range v.Slice.Items(afterRID) {
			*v.read++
			if !yield(item) {
				return
			}
		}
	}
}

func (v versioned) Unchanged(since query.Source) bool {
	earlier, ok := since.(versioned)
	return ok && earlier.version == v.version
}

// TestCachedPagesMakeTheWholeResult holds for every size of the page and of the cache.
func TestCachedPagesMakeTheWholeResult(t *testing.T) {
	t.Parallel()
	for _, text := range pagedQueries {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				req := request(t, text, items(t, drawItems(rt)...))
				req.MaxItems = -1
				want := whole(t, req)
				req.Source = versioned{items(t, documentsOf(req.Source)...), 1, new(int)}
				req.MaxItems = rapid.IntRange(1, 9).Draw(rt, "page size")
				req.MaxBytes = rapid.SampledFrom([]int{0, 1, 50, 5000}).Draw(rt, "page bytes")
				req.Pages = query.NewPageCache(rapid.SampledFrom([]int{0, 1, 1_000, 3_000}).Draw(rt, "cache"))
				if got := whole(t, req); got != want {
					rt.Fatalf("in pages of %d\n got %s\nwant %s", req.MaxItems, got, want)
				}
			})
		})
	}
}

func documentsOf(s query.Source) []string {
	var documents []string
	for item := range s.Items("") {
		documents = append(documents, string(item.Raw))
	}
	return documents
}

// TestPagesReadTheSourceAFewTimes counts the items that are read for a result in pages: as many for each item however
// many there are and, where the result is too large to be kept, as many as parts of it that can be kept.
func TestPagesReadTheSourceAFewTimes(t *testing.T) {
	t.Parallel()
	const rowBytes = 250 // what the cache takes a row for, and a little more
	for _, text := range []string{
		`SELECT DISTINCT VALUE c.n FROM c`,
		`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n DESC`,
		`SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n`,
		`SELECT * FROM (SELECT DISTINCT c.n FROM c) AS d`,
		`SELECT d.n FROM (SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n) AS d ORDER BY d.n DESC`,
		`SELECT VALUE t FROM t IN (SELECT VALUE MAKELIST(c.n) FROM c)`,
		`SELECT VALUE c.n FROM c ORDER BY c.n`, // from a source without an index
	} {
		for _, n := range []int{200, 800} {
			for _, parts := range []int{1, 4} {
				documents := make([]string, n)
				for i := range documents {
					documents[i] = fmt.Sprintf(`{"n":%d}`, (i*7919)%n)
				}
				read := 0
				req := request(t, text, query.Slice{})
				req.Source = versioned{items(t, documents...), 1, &read}
				req.MaxItems, req.Pages = 10, query.NewPageCache(2*n*rowBytes/parts)
				if got := len(pages(t, req)); got != n/10 {
					t.Fatalf("%s: %d pages of %d rows", text, got, n)
				}
				if most := (parts + 2) * n; read > most {
					t.Errorf("%s: %d documents kept in %d parts: read %d, want at most %d", text, n, parts, read, most)
				}
			}
		}
	}
}

// TestPagesNoticeChanges checks that what was kept is not given once the source is another one.
func TestPagesNoticeChanges(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`SELECT DISTINCT VALUE c.n FROM c`, `SELECT VALUE d.n FROM (SELECT DISTINCT c.n FROM c) AS d`} {
		req := request(t, text, query.Slice{})
		req.MaxItems, req.Pages = 1, query.NewPageCache(0)
		req.Source = versioned{items(t, `{"n":1}`, `{"n":2}`, `{"n":3}`), 1, new(int)}
		for range 2 {
			req.Continuation = firstToken(t, req)
		}
		for version, want := range map[int]string{1: "3", 2: "4"} {
			req.Source = versioned{items(t, `{"n":1}`, `{"n":2}`, fmt.Sprintf(`{"n":%d}`, version+2)), version, new(int)}
			if got := whole(t, req); got != want {
				t.Errorf("%s, version %d: got %s, want %s", text, version, got, want)
			}
		}
	}
}
