package changefeed_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// A replica that lags behind shows the leases some time after they were made:
// CatchUp does not take that for having none.
func TestCatchUpBehindALaggingReplica(t *testing.T) {
	t.Parallel()
	const lag = 100 * time.Millisecond
	b := setup(t, emulatortest.WithReplicaLag(lag), emulatortest.WithPartitions(3))
	b.fill(30)
	b.emu.Clock().Advance(lag)
	var s seen
	p := b.processor(b.config("lagging"), s.handle)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.count() != 30 {
		t.Errorf("%d of 30 documents", s.count())
	}
}

// A lease that was deleted by hand is made anew, and the log says so: from the
// processor's beginning, or from where its neighbours are.
func TestDeletedLeaseHeals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy changefeed.MissingLease
		start  changefeed.Start
		all    bool // the lease of every range is deleted
		again  int  // changes that come again, of those of the first hour
	}{
		"from the beginning":                 {policy: changefeed.Restart, again: 39},
		"from where the processor began":     {policy: changefeed.Restart, start: changefeed.Now(), again: 0},
		"from where the neighbours are":      {policy: changefeed.ResumeWithNeighbours, again: 0},
		"all of them, with no neighbours":    {policy: changefeed.ResumeWithNeighbours, all: true, again: 40},
		"all of them, since it began by now": {policy: changefeed.Restart, all: true, start: changefeed.Now(), again: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.WithPartitions(3), emulatortest.Calm()) // what a range has not handled yet is passed over, and shorter pages are handled later
				b.fill(40)
				var log logged
				var before, after seen
				cfg := changefeed.Config{Container: b.items, Leases: b.leases, Name: "heals", MissingLease: tt.policy, StartFrom: tt.start, Logger: slog.New(slog.NewTextHandler(&log, nil))}
				if err := b.processor(cfg, before.handle).CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour)
				p := b.processor(cfg, after.handle)
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				for i, doc := range b.leaseDocuments() {
					if tt.all || i > 0 {
						b.drop(doc["id"].(string))
					}
				}
				for i := range 7 {
					b.put("t"+string(rune('0'+i)), "late", 2)
				}
				<-time.After(2 * leaseDuration)
				if err := p.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				again, late := 0, 0
				for _, n := range after.last {
					if n == 1 {
						again++
					} else {
						late++
					}
				}
				if late != 7 {
					t.Errorf("%d of 7 changes after it were handled", late)
				}
				if (tt.again == 0) != (again == 0) || again > tt.again || tt.all && again != tt.again {
					t.Errorf("%d changes came again", again)
				}
				if n := strings.Count(log.String(), "a lease is gone"); n == 0 || n > 3 {
					t.Errorf("the log tells of it %d times:\n%s", n, log.String())
				}
				if n := len(b.leaseDocuments()); n != 3 {
					t.Errorf("%d leases", n)
				}
			})
		})
	}
}
