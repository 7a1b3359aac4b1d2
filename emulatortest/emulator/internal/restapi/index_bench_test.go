package restapi

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// What a query of one page costs, and what each document costs when a whole result is read in pages, as the container grows.
func BenchmarkIndex(b *testing.B) {
	scope := store.Scope{RangeID: "0"}
	for _, n := range []int{2_000, 8_000, 32_000, 128_000} {
		c := setupCost(b, n, 1)
		for _, q := range []string{
			"SELECT * FROM c WHERE c.a = 77", "SELECT * FROM c WHERE c.a >= 70 AND c.a < 75", "SELECT * FROM c WHERE STARTSWITH(c.s, 'name-00000')",
			"SELECT TOP 10 * FROM c ORDER BY c.a DESC", "SELECT VALUE COUNT(1) FROM c WHERE c.few < 50", "SELECT * FROM c WHERE c.hidden = 77",
		} {
			b.Run(fmt.Sprintf("page/%d/%s", n, q), func(b *testing.B) {
				c.run(b, scope, q, 10, 1)
				for b.Loop() {
					c.run(b, scope, q, 10, 1)
				}
			})
		}
		for _, q := range []string{"SELECT * FROM c ORDER BY c.a", "SELECT DISTINCT VALUE c.a FROM c", "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a"} {
			b.Run(fmt.Sprintf("all/%d/%s", n, q), func(b *testing.B) {
				for b.Loop() {
					c.run(b, scope, q, 100, -1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/document")
			})
		}
	}
}

// What a write pays for the indexes that queries have asked for.
func BenchmarkIndexedWrite(b *testing.B) {
	for _, query := range []string{
		"SELECT * FROM c", "SELECT * FROM c WHERE c.a = 1", "SELECT * FROM c WHERE c.a = 1 AND c.s = 'x' AND ARRAY_CONTAINS(c.tags, 'x')",
	} {
		b.Run("after "+query, func(b *testing.B) {
			c := setupCost(b, 20_000, 10)
			c.run(b, store.Scope{RangeID: "0"}, query, 10, 1)
			i := 0
			for b.Loop() {
				i++
				pk := fmt.Sprint(i % 2000)
				body := fmt.Appendf(nil, `{"id":"%d","pk":%q,"a":%d,"b":%d,"few":%d,"s":"name-%06d","tags":["t%d","common"]}`, i%20_000, pk, i, i%10, i%100, i, i%100)
				if _, err := c.c.UpsertItem(store.Call{Key: store.Key{epk.String(pk)}}, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
