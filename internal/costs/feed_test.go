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
		rows = append(rows, idle.in(minutes))
		a.must(a.keeper.Stop(t.Context()))
	})
	return rows
}

const leastIdle = "192 reads with the default longest pause of 5 s; the leases are renewed and listed, so that another instance can take over"

// in divides by the number of minutes that were counted, to the nearest request.
func (r row) in(minutes int) row {
	counts := map[emulator.Operation]int{}
	for operation, n := range r.counts {
		counts[operation] = (n + minutes/2) / minutes
	}
	r.counts, r.units = counts, r.units/float64(minutes)
	return r
}
