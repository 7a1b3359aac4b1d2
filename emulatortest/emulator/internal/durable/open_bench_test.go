package durable_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/durable"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// How many documents the account has that is started.
var openDocuments = flag.Int("open.documents", 10_000, "documents in the account of BenchmarkOpen") //nolint:gochecknoglobals // a flag

// BenchmarkOpen starts an account from a folder: documents of about 600 bytes, in logical partitions of a hundred and in four
// physical ones.
//
//	go test ./emulatortest/emulator/internal/durable -run '^$' -bench Open -benchtime 1x -open.documents 1000000
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	a, err := store.Open(store.Options{Journal: open(b, dir), Partitions: 4})
	check(b, err)
	c, err := container(a)
	check(b, err)
	batches := make(chan int)
	var group sync.WaitGroup
	text := strings.Repeat("x", 300)
	for range 64 {
		group.Go(func() {
			for batch := range batches {
				pk := fmt.Sprintf("tenant-%06d", batch)
				operations := make([]store.Operation, 100)
				for i := range operations {
					operations[i] = store.Operation{Kind: store.OpUpsert, Body: fmt.Appendf(nil,
						`{"id":"3f2504e0-4f89-41d3-9a0c-%012d","pk":%q,"n":%d,"tags":["a","b"],"place":{"lat":1.5,"lon":2.5},"text":%q}`, batch*100+i, pk, i, text)}
				}
				if _, err := c.Batch(store.Call{Key: store.Key{epk.String(pk)}}, operations); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for batch := range *openDocuments / 100 {
		batches <- batch
	}
	close(batches)
	group.Wait()
	check(b, a.Close())
	var held, stored float64
	for b.Loop() {
		j, err := durable.Open(dir)
		check(b, err)
		a, err := store.Open(store.Options{Journal: j})
		check(b, err)
		b.StopTimer()
		c, err := container(a)
		if err != nil || c.Usage().Documents != *openDocuments/100*100 {
			b.Fatalf("%d documents, %v", c.Usage().Documents, err)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		held, stored = float64(m.HeapAlloc), float64(c.Usage().Bytes)
		check(b, a.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(*openDocuments), "ns/document")
	b.ReportMetric(held/float64(*openDocuments), "B/document")
	b.ReportMetric(stored/float64(*openDocuments), "JSON-B/document")
}
