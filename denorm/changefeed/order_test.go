package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// While writers write and ranges split, one instance sees the changes of each
// document in their order, and all last states.
func TestOrderUnderWritesAndSplits(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	var mu sync.Mutex
	last := map[string]int{}
	p := b.processor(b.config("order"), func(_ context.Context, changes []changefeed.Change) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range changes {
			var i item
			if err := c.Decode(&i); err != nil {
				return err
			}
			key := i.Tenant + "/" + i.ID
			if i.N <= last[key] {
				t.Errorf("%s came as %d after %d", key, i.N, last[key])
			}
			last[key] = i.N
		}
		return nil
	})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	const writers, writes = 4, 150
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := 1; n <= writes; n++ {
				b.put(fmt.Sprint("t", w, n%5), "d", n)
			}
		})
	}
	for range 3 {
		ranges := b.emu.Ranges(database, monitored)
		b.emu.Split(database, monitored, ranges[rand.IntN(len(ranges))].ID)
	}
	group.Wait()
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(last) != writers*5 {
		t.Fatalf("%d documents", len(last))
	}
	for key, n := range last {
		if n <= writes-5 {
			t.Errorf("%s was last seen as %d", key, n)
		}
	}
}

// A service that fails one request in five, before or after it did what was
// asked, costs time and nothing else.
func TestFaultsLoseNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, faultsLoseNothing)
}

func faultsLoseNothing(t *testing.T) {
	b := setup(t, emulatortest.WithPartitions(3))
	b.fill(100)
	for i, f := range []emulator.Fault{
		emulator.Throttle(time.Millisecond), emulator.Answer(http.StatusServiceUnavailable, 0), emulator.Answer(http.StatusRequestTimeout, 0),
		emulator.Cut(), emulator.Cut().AfterEffect(),
	} {
		b.emu.Fault(f.Probability(0.04, uint64(i)).Keep())
	}
	var s seen
	p := b.processor(b.config("faulty"), func(ctx context.Context, changes []changefeed.Change) error {
		if rand.IntN(5) == 0 {
			return errors.New("the handler fails now and then")
		}
		return s.handle(ctx, changes)
	})
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.emu.Faults().Clear()
	refused := 0
	for q, err := range p.Quarantined(t.Context()) {
		if err != nil || q.Reason != "the handler fails now and then" {
			t.Errorf("quarantined: %v, %v", q.Reason, err)
		}
		refused++
	}
	// One change in some thousands meets the handler's bad mood each time.
	if s.count()+refused != 100 {
		t.Fatalf("%d of 100 documents, and %d in quarantine", s.count(), refused)
	}
}
