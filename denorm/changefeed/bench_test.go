package changefeed_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

var changeCount = flag.Int("changes", 2000, "how many changes the benchmarks process; docs/performance.md has figures for more")

// fillBatches writes n documents of about 200 bytes, a hundred to a request.
func fillBatches(b *testing.B, items *azcosmos.ContainerClient, n int) {
	b.Helper()
	for first := 0; first < n; first += 100 {
		tenant := fmt.Sprint("t", first/100%50)
		batch := items.NewTransactionalBatch(azcosmos.NewPartitionKeyString(tenant).AppendString("k"))
		for i := first; i < min(first+100, n); i++ {
			body, err := json.Marshal(map[string]any{"id": fmt.Sprint("d", i), "tenant": tenant, "kind": "k", "n": i, "text": "the quick brown fox jumps over the lazy dog, and so on for a while"})
			if err != nil {
				b.Fatal(err)
			}
			batch.CreateItem(body, nil)
		}
		if resp, err := items.ExecuteTransactionalBatch(b.Context(), batch, nil); err != nil || !resp.Success {
			b.Fatal(err)
		}
	}
}

// BenchmarkFeed reads the same changes with the processor, leases and all, and
// with a plain ReadChangeFeed loop that does nothing with them. The processor's
// lag is asked for when half of the changes are handled, and at the end.
func BenchmarkFeed(b *testing.B) {
	bundle := setup(b, emulatortest.WithPartitions(4))
	fillBatches(b, bundle.items, *changeCount)
	perSecond := func(b *testing.B) {
		b.Helper()
		b.ReportMetric(float64(*changeCount)*float64(b.N)/b.Elapsed().Seconds(), "changes/s")
	}
	b.Run("arm=processor", func(b *testing.B) {
		requests, lags := 0, [2]int64{}
		for b.Loop() {
			before := bundle.emu.Requests().Mark()
			lags = processAll(b, bundle)
			requests += bundle.emu.Requests().Mark() - before
		}
		perSecond(b)
		b.ReportMetric(float64(requests)*1000/float64(*changeCount)/float64(b.N), "requests/1000changes")
		b.ReportMetric(float64(lags[0]), "lag-halfway")
		b.ReportMetric(float64(lags[1]), "lag-end")
	})
	b.Run("arm=loop", func(b *testing.B) {
		requests := 0
		for b.Loop() {
			before := bundle.emu.Requests().Mark()
			if n := plainLoop(b, bundle.items); n != *changeCount {
				b.Fatalf("%d changes", n)
			}
			requests += bundle.emu.Requests().Mark() - before
		}
		perSecond(b)
		b.ReportMetric(float64(requests)*1000/float64(*changeCount)/float64(b.N), "requests/1000changes")
	})
}

// processAll catches up with a processor of a new name and returns its lag
// halfway and at the end.
func processAll(b *testing.B, bundle *testBundle) (lags [2]int64) {
	b.Helper()
	var p *changefeed.Processor
	lag := func() (n int64) {
		ranges, err := p.Lag(b.Context())
		if err != nil {
			b.Error(err)
		}
		for _, r := range ranges {
			n += r.Changes
		}
		return n
	}
	var handled atomic.Int64
	var once sync.Once
	p, err := changefeed.New(bundle.config(fmt.Sprint("bench", time.Now().UnixNano())), func(_ context.Context, changes []changefeed.Change) error {
		if handled.Add(int64(len(changes))) >= int64(*changeCount/2) {
			once.Do(func() { lags[0] = lag() })
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := p.CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	if handled.Load() != int64(*changeCount) {
		b.Fatalf("%d changes", handled.Load())
	}
	lags[1] = lag()
	return lags
}

func plainLoop(b *testing.B, items *azcosmos.ContainerClient) int {
	b.Helper()
	ranges, err := items.ReadFeedRanges(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	total := 0
	for _, r := range ranges {
		options := &azcosmos.ChangeFeedOptions{FeedRange: &r, MaxItemCount: 100}
		for {
			resp, err := items.ReadChangeFeed(b.Context(), options)
			if err != nil {
				b.Fatal(err)
			}
			if len(resp.Items) == 0 {
				break
			}
			total += len(resp.Items)
			options.Continuation = &resp.ContinuationToken
		}
	}
	return total
}
