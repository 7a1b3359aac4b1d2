package changefeed_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// Ranges that become one go on as the parts that they were: each keeps to its
// own keys and its own position, also for an instance that learns of the merge
// while it reads. Two instances with slow handlers fall behind by different
// lengths, so that a part which read the other's changes would break the order.
func TestMergedRangesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(6), emulatortest.Calm()) // it merges ranges that it has listed
	seen := newWitness(newLedger(b.emu.Handler()))
	var processors []*changefeed.Processor
	for _, name := range []string{"one", "two"} {
		cfg := b.config("merge")
		cfg.Instance, cfg.MaxItems = name, 5
		// Each has its own knowledge of the physical partitions.
		cfg.Container, cfg.Leases = b.through(b.emu.Endpoint(), b.emu.Transport())
		p := b.processor(cfg, tell(func(l line) error { seen.hear(l); return nil }))
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		processors = append(processors, p)
	}
	ctx, end := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	written := make([]map[string]int, 6)
	for w := range written {
		written[w] = map[string]int{}
		writers.Go(func() { writeAll(ctx, b, w, written[w]) })
	}
	for round := range 12 {
		ranges := b.emu.Ranges(database, monitored)
		if i := rand.IntN(len(ranges) - 1); round%4 < 3 {
			b.emu.Merge(database, monitored, ranges[i].ID, ranges[i+1].ID)
		} else {
			for _, r := range ranges {
				b.emu.Split(database, monitored, r.ID)
			}
		}
		rest(ctx, 30*time.Millisecond)
	}
	end()
	writers.Wait()
	for _, p := range processors {
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range processors {
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	all := map[string]int{}
	for _, documents := range written {
		maps.Copy(all, documents)
	}
	seen.complete(all)
	for _, v := range seen.violations {
		t.Error(v)
	}
	t.Logf("%d changes handled, %d of them again, %d ranges", seen.handled, seen.repeated, len(b.emu.Ranges(database, monitored)))
}
