package restapi

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// costBundle is a container of n documents, in partitions of ten or all in one.
type costBundle struct {
	twin    *twin
	account *store.Account
	c       *store.Container
	pages   *query.PageCache
	n       int
}

func setupCost(t testing.TB, n, toAPartition int) *costBundle {
	t.Helper()
	b := &costBundle{twin: newTwin(t, 1, anyPolicy), pages: query.NewPageCache(0), n: n}
	b.c, b.account = b.twin.indexed, b.twin.account
	for i := range n {
		pk := "p"
		if toAPartition > 0 {
			pk = fmt.Sprint(i / toAPartition)
		}
		body := fmt.Appendf(nil, `{"id":"%d","pk":%q,"a":%d,"b":%d,"few":%d,"s":"name-%06d","tags":["t%d","common"],"hidden":%d}`, i, pk, i, i%10, i%100, i, i%(n/10), i)
		if _, err := b.c.CreateItem(store.Call{Key: store.Key{epk.String(pk)}}, body); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// run reads all pages, or the first so many, and gives the rows and what was visited.
func (b *costBundle) run(t testing.TB, scope store.Scope, text string, size, pages int) (rows, visited int) {
	t.Helper()
	before := b.account.Visited()
	for token := ""; pages != 0; pages-- {
		p, err := page(b.c, b.pages, scope, text, token, size, b.twin.now)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		rows += len(p.Documents)
		if token = p.Continuation; token == "" {
			break
		}
	}
	return rows, int(b.account.Visited() - before)
}

// TestIndexedQueriesVisitWhatTheyReturn counts work instead of time: once an index is there, the first page of a query looks
// at about as many documents as match, and at no more in a container eight times as large.
func TestIndexedQueriesVisitWhatTheyReturn(t *testing.T) {
	t.Parallel()
	queries := []struct {
		text string
		rows int // of the first page of 10
		most int // visited
	}{
		{"SELECT * FROM c WHERE c.a = 77", 1, 4},
		{"SELECT * FROM c WHERE 77 = c.a AND c.b > 3", 1, 4},
		{"SELECT * FROM c WHERE c.a IN (1, 77, 900, 901)", 4, 12},
		{"SELECT * FROM c WHERE c.a >= 70 AND c.a < 75 AND c.a BETWEEN 70 AND 74", 5, 20},
		{"SELECT * FROM c WHERE c.a = 1 OR c.s = 'name-000002'", 2, 8},
		{"SELECT * FROM c WHERE STARTSWITH(c.s, 'name-00000')", 10, 40},
		{"SELECT * FROM c WHERE c.s LIKE 'name-00000%'", 10, 40},
		{"SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't7')", 10, 40},
		{"SELECT * FROM c WHERE c.few = 50", 10, 12},
		{"SELECT * FROM c WHERE c.a > 100", 10, 200},
		{"SELECT * FROM c WHERE IS_NULL(c.a)", 0, 4},
		{"SELECT * FROM c ORDER BY c.a", 10, 20},
		{"SELECT * FROM c ORDER BY c.a DESC", 10, 20},
		{"SELECT TOP 3 * FROM c ORDER BY c.s DESC", 3, 20},
		{"SELECT * FROM c ORDER BY c.b", 10, 20},
		{"SELECT * FROM c ORDER BY c.b OFFSET 5 LIMIT 5", 5, 20},
		{"SELECT * FROM c ORDER BY c.a, c.b DESC", 10, 20},
		{"SELECT * FROM c WHERE c.few = 50 ORDER BY c.a", 10, 20},
		{"SELECT VALUE COUNT(1) FROM c", 1, 0},
		{"SELECT VALUE [{'item': COUNT(c)}] FROM c WHERE c.few < 50", 1, 0},
		{"SELECT COUNT(1) AS n FROM c WHERE STARTSWITH(c.s, 'name-0')", 1, 0},
	}
	for name, toAPartition := range map[string]int{"one logical partition": 0, "a physical partition": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scope := store.Scope{RangeID: "0"}
			if toAPartition == 0 {
				scope.Key = store.Key{epk.String("p")}
			}
			small, large := setupCost(t, 1_000, toAPartition), setupCost(t, 8_000, toAPartition)
			for _, q := range queries {
				small.run(t, scope, q.text, 10, 1)
				large.run(t, scope, q.text, 10, 1) // builds the index
				rows, few := small.run(t, scope, q.text, 10, 1)
				_, many := large.run(t, scope, q.text, 10, 1)
				if rows != q.rows || few > q.most || many > 8*q.most && many > q.most {
					t.Errorf("%s: %d rows, want %d; visited %d of 1,000 and %d of 8,000, want at most %d", q.text, rows, q.rows, few, many, q.most)
				}
				t.Logf("%-75s %4d rows, visited %5d of 1,000, %5d of 8,000", q.text, rows, few, many)
			}
			if _, visited := large.run(t, scope, "SELECT * FROM c WHERE c.hidden = 7999", 10, 1); visited < large.n {
				t.Errorf("an excluded path: %d visited, want a scan", visited)
			}
		})
	}
}

// TestPagesVisitEachDocumentAFewTimes reads whole results in pages: what is visited for each document stays
// within one bound however many there are.
func TestPagesVisitEachDocumentAFewTimes(t *testing.T) {
	t.Parallel()
	whole, some := store.Scope{RangeID: "0"}, store.Scope{MinEPK: "08", MaxEPK: "10"}
	most := store.Scope{MinEPK: "01", MaxEPK: "3F"}
	for _, q := range []struct {
		name  string
		text  string
		scope store.Scope
	}{
		{"all", "SELECT * FROM c", whole},
		{"a range of hashes", "SELECT * FROM c", some},
		{"a wide range of hashes", "SELECT * FROM c", most},
		{"an equality", "SELECT * FROM c WHERE c.b = 5", whole},
		{"half of all", "SELECT * FROM c WHERE c.a % 2 = 0 AND c.a > -1", whole},
		{"a tenth of all", "SELECT * FROM c WHERE c.a >= 0 AND c.few < 10", whole},
		{"the last tenth", "SELECT * FROM c WHERE STARTSWITH(c.s, 'name-0009') OR STARTSWITH(c.s, 'name-0039')", whole},
		{"sorted", "SELECT * FROM c ORDER BY c.a DESC", whole},
		{"sorted by few values", "SELECT * FROM c ORDER BY c.b", whole},
		{"sorted in a range of hashes", "SELECT * FROM c ORDER BY c.b", most},
		{"sorted by two", "SELECT * FROM c ORDER BY c.a, c.b DESC", whole},
		{"distinct values", "SELECT DISTINCT VALUE c.a FROM c", whole},
		{"groups", "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a", whole},
		{"distinct groups", "SELECT DISTINCT VALUE COUNT(1) + c.few FROM c GROUP BY c.few", whole},
		{"sorted distinct values", "SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s", whole},
		{"sorted and filtered", "SELECT * FROM c WHERE c.b = 5 ORDER BY c.a", whole},
	} {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1_000, 4_000} {
				b := setupCost(t, n, 1)
				b.run(t, q.scope, q.text, 20, 1) // builds the index
				rows, visited := b.run(t, q.scope, q.text, 20, -1)
				perDocument := float64(visited) / float64(n)
				t.Logf("%d documents, %d rows: visited %d, %.2f for each document", n, rows, visited, perDocument)
				if perDocument > 10 || rows == 0 {
					t.Errorf("%d documents gave %d rows; visited %.2f times for each document", n, rows, perDocument)
				}
			}
		})
	}
}
