package registry_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
)

// BenchmarkErase erases one tenant of a given size beside others that stay.
func BenchmarkErase(b *testing.B) {
	for _, bench := range []struct{ documents, others int }{{5_000, 0}, {20_000, 0}, {20_000, 49}} {
		b.Run(fmt.Sprintf("documents=%d/others=%d", bench.documents, bench.others), func(b *testing.B) {
			e := newEstate(b, emulatortest.Client(b))
			for i := range bench.others {
				e.fill(b, fmt.Sprint("other", i), 1000)
			}
			var requests, units float64
			for range b.N {
				b.StopTimer()
				e.fill(b, "acme", bench.documents)
				b.StartTimer()
				receipt, err := e.db.Tenants().Erase(b.Context(), "acme", nil)
				must(b, err)
				requests += float64(receipt.Requests)
				units += receipt.RequestUnits
			}
			b.ReportMetric(requests/float64(b.N), "requests/op")
			b.ReportMetric(units/float64(b.N), "RU/op")
		})
	}
}
