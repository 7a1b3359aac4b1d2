package registry_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
)

// BenchmarkErase erases one tenant of a given size beside others that stay. The
// emulator keeps all documents in this process's memory, whose size costs time;
// with elsewhere, the others lie in another account, which tells that time from
// what the database itself makes of them.
func BenchmarkErase(b *testing.B) {
	for _, bench := range []struct {
		documents, others int
		elsewhere         bool
	}{{5_000, 0, false}, {20_000, 0, false}, {20_000, 49, true}, {20_000, 49, false}} {
		b.Run(fmt.Sprintf("documents=%d/others=%d/elsewhere=%v", bench.documents, bench.others, bench.elsewhere), func(b *testing.B) {
			e := newEstate(b, emulatortest.Client(b))
			neighbours := e
			if bench.elsewhere {
				neighbours = newEstate(b, emulatortest.Client(b))
			}
			for i := range bench.others {
				neighbours.fill(b, fmt.Sprint("other", i), 1000)
			}
			var requests, units float64
			for b.Loop() { // whose clock begins here
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
