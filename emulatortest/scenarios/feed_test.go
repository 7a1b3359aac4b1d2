package scenarios_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// ledger is what handlers have kept of a feed, as one that keeps the last version that it is given.
type ledger struct {
	mu     sync.Mutex
	last   map[string]int // the version that was handled last, by document
	refuse string         // the document that the handler can't handle
}

func ledgerOf(w *emulatortest.World) *ledger { return emulatortest.State[ledger](w) }

// handled notes the version of a document.
func (l *ledger) handled(id string, version int) {
	if l.last == nil {
		l.last = map[string]int{}
	}
	l.last[id] = version
}

var errRefused = errors.New("the handler can't handle this document")

func (l *ledger) handle(_ context.Context, changes []changefeed.Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		if c.ID == l.refuse {
			return errRefused
		}
		var doc struct{ Version int }
		if err := c.Decode(&doc); err != nil {
			return err
		}
		l.handled(c.ID, doc.Version)
	}
	return nil
}

// processorOf is one instance of the work, named for its actor.
func processorOf(w *emulatortest.World) *changefeed.Processor { return processorEvery(w, time.Second) }

// processorEvery is processorOf that looks for changes, and for ranges to take, every so often.
func processorEvery(w *emulatortest.World, interval time.Duration) *changefeed.Processor {
	p, err := changefeed.New(changefeed.Config{
		Container: containerOf(w, "docs"), Leases: containerOf(w, "leases"), Name: "work", Instance: "instance-" + w.Actor(),
		MaxItems: 2, MaxAttempts: 2, LeaseDuration: 30 * time.Second, BalanceInterval: 2 * interval, PollInterval: interval,
	}, ledgerOf(w).handle)
	must(w, err)
	return p
}

// writeVersion stores a version of a document.
func writeVersion(w *emulatortest.World, id string, version int) error {
	body, err := json.Marshal(map[string]any{"id": id, "pk": id, "version": version})
	if err != nil {
		return err
	}
	_, err = containerOf(w, "docs").UpsertItem(w.Context(), azcosmos.NewPartitionKeyString(id), body, nil)
	return err
}

// setupFeed leaves documents a, b and c in version 1, of which the feed was read, and then a and b in version 2.
func setupFeed(w *emulatortest.World) {
	createContainer(w, "docs", azcosmos.ContainerProperties{}, "/pk")
	createContainer(w, "leases", azcosmos.ContainerProperties{}, "/id")
	for _, id := range []string{"a", "b", "c"} {
		must(w, writeVersion(w, id, 1))
	}
	p, err := changefeed.New(changefeed.Config{
		Container: containerOf(w, "docs"), Leases: containerOf(w, "leases"), Name: "work", Instance: "instance-before",
	}, func(context.Context, []changefeed.Change) error { return nil })
	must(w, err)
	must(w, p.CatchUp(w.Context()))
	must(w, writeVersion(w, "a", 2))
	must(w, writeVersion(w, "b", 2))
}

// catchUpLast lets the leases of dead processes run out, and handles the rest.
func catchUpLast(w *emulatortest.World) {
	time.Sleep(2 * time.Minute)
	must(w, processorOf(w).CatchUp(w.Context()))
}

// checkLedger wants the newest version of each document to have been handled last.
func checkLedger(w *emulatortest.World) error {
	l := ledgerOf(w)
	for _, id := range []string{"a", "b"} {
		answer, err := containerOf(w, "docs").ReadItem(w.Context(), azcosmos.NewPartitionKeyString(id), id, nil)
		if err != nil {
			return err
		}
		var doc struct{ Version int }
		if err := json.Unmarshal(answer.Value, &doc); err != nil {
			return err
		}
		if l.last[id] != doc.Version {
			return fmt.Errorf("document %s is in version %d, and version %d was handled last", id, doc.Version, l.last[id])
		}
	}
	return nil
}

// unhandled is a sabotage that the check of a feed has to notice.
func unhandled() map[string]func(w *emulatortest.World) {
	return map[string]func(w *emulatortest.World){"a change is passed over": func(w *emulatortest.World) {
		p, err := changefeed.New(changefeed.Config{
			Container: containerOf(w, "docs"), Leases: containerOf(w, "leases"), Name: "work", Instance: "instance-forgetful",
		}, func(context.Context, []changefeed.Change) error { return nil })
		must(w, err)
		must(w, p.CatchUp(w.Context()))
	}}
}

func exploreFeed(t *testing.T, s emulatortest.Scenario, sabotage map[string]func(w *emulatortest.World), shortKinds ...string) {
	t.Helper()
	kinds := emulatortest.FaultKinds()
	if !inFull() {
		kinds = kindsOf(append(shortKinds, "suspended")...)
	}
	// What is read before a process is held up is old when it goes on.
	reads := func(r emulatortest.Request) bool { return r.Operation == emulator.ChangeFeed }
	kinds = append(kinds, emulatortest.SentTwiceKinds()...) // a client of azcosmos may do that to leases
	kinds = append(kinds,
		emulatortest.FaultKind{Name: "held-up-after-reading", Fault: emulator.Suspend(10 * time.Minute).AfterEffect(), Fits: reads},
		emulatortest.FaultKind{Name: "held-up-within-its-lease", Fault: emulator.Suspend(20 * time.Second).AfterEffect(), Fits: reads},
		// Just long enough for another instance to take over, and too short for the renewal under way to have timed out.
		emulatortest.FaultKind{Name: "overtaken-after-reading", Fault: emulator.Suspend(39 * time.Second).AfterEffect(), Fits: reads},
	)
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: sabotage})
}

// TestTheNewestVersionIsHandledLast: instances of a processor that share one feed are killed, cut off or held up longer than a lease at any of their
// requests; every change is handled at last, and the newest version of a document has the last word.
func TestTheNewestVersionIsHandledLast(t *testing.T) {
	t.Parallel()
	process := func(w *emulatortest.World) error { return processorOf(w).CatchUp(w.Context()) }
	for name, options := range map[string][]emulatortest.Option{"one range": nil, "two ranges": {emulatortest.WithPartitions(2)}} {
		if options != nil && !inFull() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exploreFeed(t, emulatortest.Scenario{
				Options: options,
				Setup:   setupFeed,
				Actors: []emulatortest.Actor{
					// An instance that is held up is overtaken by a change, and by the one that handles it.
					{Name: "first", Do: process},
					{Name: "writer", Do: func(w *emulatortest.World) error { return writeVersion(w, "a", 3) }},
					{Name: "second", Do: process},
				},
				Then:  catchUpLast,
				Check: checkLedger,
			}, unhandled(), "killed-after", "late-2")
		})
	}
}

// TestASuspendedInstanceGivesWay: two instances that run in the background share the ranges; one that is held up longer than its lease, and then
// goes on, does not handle old versions behind newer ones.
func TestASuspendedInstanceGivesWay(t *testing.T) {
	t.Parallel()
	run := func(w *emulatortest.World) error { return processorEvery(w, 10*time.Second).Run(w.Context()) }
	exploreFeed(t, emulatortest.Scenario{
		Setup: setupFeed,
		Actors: []emulatortest.Actor{
			{Name: "writer", Do: func(w *emulatortest.World) error {
				time.Sleep(15 * time.Second)
				if err := writeVersion(w, "a", 3); err != nil {
					return err
				}
				time.Sleep(45 * time.Second)
				return nil
			}},
			{Name: "first", Do: run, Background: true},
			{Name: "second", Do: run, Background: true},
		},
		Then:  catchUpLast,
		Check: checkLedger,
	}, unhandled())
}

// TestQuarantineAndReplay: a document that the handler can't handle stops no other; replayed when it can, by a process that is killed or cut off
// at any request and by another one behind it, while the document is written anew, it is handled in its newest version, and nothing is left.
func TestQuarantineAndReplay(t *testing.T) {
	t.Parallel()
	exploreFeed(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupFeed(w)
			l := ledgerOf(w)
			l.refuse = "b"
			must(w, processorOf(w).CatchUp(w.Context()))
			if l.last["a"] != 2 {
				w.Fatalf("document a was handled in version %d", l.last["a"])
			}
			l.last, l.refuse = nil, "" // of each run its own
		},
		Actors: []emulatortest.Actor{
			{Name: "replayer", Do: func(w *emulatortest.World) error {
				ledgerOf(w).handled("a", 2)
				_, err := processorOf(w).Replay(w.Context())
				return err
			}},
			{Name: "writer", Do: func(w *emulatortest.World) error { return writeVersion(w, "b", 3) }},
		},
		Then: func(w *emulatortest.World) {
			ledgerOf(w).handled("a", 2)
			_, err := processorOf(w).Replay(w.Context())
			must(w, err)
			catchUpLast(w)
		},
		Check: func(w *emulatortest.World) error {
			for q, err := range processorOf(w).Quarantined(w.Context()) {
				if err != nil {
					return err
				}
				return fmt.Errorf("a version of %s is still in quarantine", q.DocumentID)
			}
			return checkLedger(w)
		},
	}, map[string]func(w *emulatortest.World){"the handler refuses still": func(w *emulatortest.World) { ledgerOf(w).refuse = "b" }}, "killed-after", "cut-after", "late-2")
}
