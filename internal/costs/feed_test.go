package costs

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// feed are the rows of the keeper that runs: of one minute, which is a tenth of
// what is counted.
func feed(t *testing.T) []row {
	t.Helper()
	const ranges, minutes = 16, 10
	var rows []row
	synctest.Test(t, func(t *testing.T) {
		a := open(t, ranges)
		a.must(a.keeper.Start(t.Context()))
		<-time.After(6*time.Minute + 1500*time.Millisecond) // off the beat of the intervals
		idle := a.count(fmt.Sprintf("a minute of an idle keeper over %d ranges", ranges), leastIdle, func() error { <-time.After(minutes * time.Minute); return nil })
		note := a.note()
		<-time.After(time.Minute)
		busy := a.count("a minute of the same keeper with a change each second in one range", leastBusy, func() error {
			for range 60 * minutes {
				note.Title = "changed"
				if err := a.notes.Save(t.Context(), note); err != nil {
					return err
				}
				<-time.After(time.Second)
			}
			return nil
		}, notOfTheFeed)
		rows = append(rows, idle.in(minutes), busy.in(minutes))
		a.must(a.keeper.Stop(t.Context()))
	})
	return rows
}

var leastIdle = bound{requests: 300, why: "192 reads with the default longest pause of 5 s; the leases are renewed every 10 s and listed every 5 s, so that another instance can take over in time"}

var leastBusy = bound{requests: 461, why: "a change is read, the read after it says that there is no more, and its position is stored, which renews the lease in which it is"}

// notOfTheFeed is whether a request is neither a read of the feed nor about its leases.
func notOfTheFeed(x emulator.Exchange) bool {
	return x.Container != leases && x.Operation != emulator.ChangeFeed
}

// in divides by the number of minutes that were counted, to the nearest request.
func (r row) in(minutes int) row {
	counts := map[emulator.Operation]int{}
	for operation, n := range r.counts {
		counts[operation] = (n + minutes/2) / minutes
	}
	r.counts, r.units = counts, r.units/float64(minutes)
	return r
}
