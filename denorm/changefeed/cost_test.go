package changefeed_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// listings counts the lease listings since a mark, and all requests.
func (b *testBundle) listings(mark int) (listings, all int) {
	for _, r := range b.emu.Requests().Since(mark) {
		if r.Container == "leases" && r.Operation == emulator.QueryItems {
			listings++
		}
		all++
	}
	return listings, all
}

// Catching up costs a number of requests that goes with the pages and the
// ranges, however short the intervals are: leases are not listed for each page.
func TestCatchUpListsLeasesRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, catchUpListsLeasesRarely)
}

func catchUpListsLeasesRarely(t *testing.T) {
	const ranges, pages = 8, 100
	b := setup(t, emulatortest.WithPartitions(ranges), emulatortest.Calm()) // its requests are counted
	var s seen
	cfg := b.config("cost")
	cfg.MaxItems, cfg.PollInterval, cfg.BalanceInterval = 10, time.Microsecond, time.Hour
	p := b.processor(cfg, s.handle)
	for i := range pages * 10 {
		b.put(fmt.Sprint("t", i%100), fmt.Sprint("d", i), 1)
	}
	mark := b.emu.Requests().Mark()
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	listings, all := b.listings(mark)
	t.Logf("%d pages of %d ranges: %d requests, %d of them listings of leases", s.calls, ranges, all, listings)
	if listings > 20 {
		t.Errorf("the leases were listed %d times for %d pages", listings, s.calls)
	}
}
