package changefeed_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
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
// with a plain ReadChangeFeed loop that does nothing with them.
func BenchmarkFeed(b *testing.B) {
	bundle := setup(b, emulatortest.WithPartitions(4))
	fillBatches(b, bundle.items, *changeCount)
	b.Run("arm=processor", func(b *testing.B) {
		for round := 0; b.Loop(); round++ {
			handled := 0
			cfg := bundle.config(fmt.Sprint("bench", round, b.N, time.Now().UnixNano()))
			counted := make(chan int, 1024)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for n := range counted {
					handled += n
				}
			}()
			p, err := changefeed.New(cfg, func(_ context.Context, changes []changefeed.Change) error {
				counted <- len(changes)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			if err := p.CatchUp(b.Context()); err != nil {
				b.Fatal(err)
			}
			close(counted)
			<-done
			if handled != *changeCount {
				b.Fatalf("%d changes", handled)
			}
		}
		b.ReportMetric(float64(*changeCount)*float64(b.N)/b.Elapsed().Seconds(), "changes/s")
	})
	b.Run("arm=loop", func(b *testing.B) {
		for b.Loop() {
			if n := plainLoop(b, bundle.items); n != *changeCount {
				b.Fatalf("%d changes", n)
			}
		}
		b.ReportMetric(float64(*changeCount)*float64(b.N)/b.Elapsed().Seconds(), "changes/s")
	})
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
