package changefeed_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// What an idle and a busy processor over 16 ranges cost in a minute, with the
// default intervals; docs/performance.md has the figures.
func TestWhatPollingCosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ranges, minutes = 16, 10
		b := setup(t, emulatortest.WithPartitions(ranges), emulatortest.Calm()) // its requests are counted
		p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "idle"}, new(seen).handle)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		measure := func(during func()) (counts map[emulator.Operation]int, charge float64) {
			mark := b.emu.Requests().Mark()
			during()
			counts = map[emulator.Operation]int{}
			for _, r := range b.emu.Requests().Since(mark) {
				// The SDK reads the account now and then, and the test writes.
				if r.Operation != emulator.UpsertItem && r.Operation != emulator.ReadAccount {
					counts[r.Operation]++
					charge += r.Charge
				}
			}
			return counts, charge
		}
		fresh, charge := measure(func() { <-time.After(time.Minute) })
		t.Logf("the first minute: %v, %.0f RU", fresh, charge)
		<-time.After(5*time.Minute + 1500*time.Millisecond) // off the beat of the intervals
		idle, charge := measure(func() { <-time.After(minutes * time.Minute) })
		t.Logf("%d idle minutes: %v, %.0f RU", minutes, idle, charge)
		for operation, want := range map[emulator.Operation]int{
			emulator.ChangeFeed:  ranges * 12 * minutes, // every 5 s
			emulator.ReplaceItem: ranges * 6 * minutes,  // a renewal every 10 s
			emulator.QueryItems:  12 * minutes,          // a listing every 5 s
		} {
			if idle[operation] != want {
				t.Errorf("%v: %d in %d minutes, not %d", operation, idle[operation], minutes, want)
			}
		}
		if len(idle) != 3 {
			t.Errorf("requests of other kinds: %v", idle)
		}
		busy, charge := measure(func() {
			for i := range 60 * minutes {
				b.put("t1", "d", i)
				<-time.After(time.Second)
			}
		})
		t.Logf("%d minutes with a change a second in one range: %v, %.0f RU", minutes, busy, charge)
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
