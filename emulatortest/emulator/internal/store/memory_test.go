package store_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// heap is what is in use.
func heap() int64 {
	var m runtime.MemStats
	for range 2 { // what the first pass finds the second frees
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory measures what a document takes, indexes on some of its paths included and after all have been read: at most one and
// a half times its JSON and 200 bytes.
//
//nolint:paralleltest // other tests' memory would be counted
func TestMemory(t *testing.T) {
	const n = 4_000
	for _, c := range []struct {
		name   string
		text   int
		inEach int // items of a logical partition
	}{
		{"logical partitions of 100", 600, 100},
		{"logical partitions of one", 600, 1},
		{"large", 4000, 100},
		{"small", 20, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, store.Options{}, "")
			text := strings.Repeat("x", c.text)
			before, size := heap(), int64(0)
			for i := range n {
				pk := fmt.Sprintf("tenant-%06d", i/c.inEach)
				body := fmt.Appendf(nil, `{"id":"3f2504e0-4f89-41d3-9a0c-%012d","pk":%q,"n":%d,"kind":"Note","text":%q}`, i, pk, i, text)
				size += int64(len(must(b.c.CreateItem(at(pk), body))(t).Body))
			}
			plain := heap() - before
			orders := []index.Order{index.By(index.Path{"n"}), index.By(index.Path{"id"})}
			snapshot := must(b.c.Snapshot(store.Scope{Indexes: orders}, ""))(t)
			indexed := heap() - before
			for d := range snapshot.Items("") {
				d.Value()
			}
			read := heap() - before
			limit := size*3/2 + 200*n
			t.Logf("%d documents of %d bytes: %d bytes for each, with two indexes %d, all read %d, limit %d", n, size/n, plain/n, indexed/n, read/n, limit/n)
			if indexed > limit {
				t.Errorf("%d bytes for each document of %d, want at most %d", indexed/n, size/n, limit/n)
			}
			if read-indexed > 20<<20 { // what is kept parsed for a while does not grow with the number of documents
				t.Errorf("reading all documents keeps %d bytes", read-indexed)
			}
			runtime.KeepAlive(b)
		})
	}
}
