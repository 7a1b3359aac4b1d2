package changefeed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// epochs notes those that a handler was called in.
type epochs struct {
	mu  sync.Mutex
	all []int64
}

func (e *epochs) handle(_ context.Context, changes []changefeed.Change) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range changes {
		e.all = append(e.all, c.Epoch)
	}
	return nil
}

// rewriteStart changes the document that says where a processor began.
func (b *testBundle) rewriteStart(change func(doc map[string]any)) {
	b.t.Helper()
	for _, raw := range b.find(b.leases, "SELECT * FROM c WHERE IS_DEFINED(c.positions)") {
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			b.t.Fatal(err)
		}
		change(doc)
		upsert(b.t, b.leases, azcosmos.NewPartitionKeyString(fmt.Sprint(doc["id"])), encode(b.t, doc))
	}
}

// A handler may refuse a smaller epoch than the one it has stored, so they grow also when nobody is there who remembers.
func TestEpochsGrowOverDeletedLeases(t *testing.T) {
	t.Parallel()
	for name, former := range map[string]bool{"of this version": false, "of a version that reserved none": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				var e epochs
				n := 0
				run := func() {
					n++
					b.put("t", "d", n)
					if err := b.processor(b.hasty("epochs"), e.handle).CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				drop := func() {
					for _, doc := range b.leaseDocuments() {
						b.drop(doc["id"].(string))
					}
				}
				run()
				if former {
					b.rewriteStart(func(doc map[string]any) { delete(doc, "epochs") })
				}
				for range 3 {
					run()
				}
				for range 2 {
					drop()
					run()
					<-time.After(time.Second)
					run()
				}
				if !slices.IsSorted(e.all) || e.all[3] != 4 || len(slices.Compact(slices.Clone(e.all))) < 6 {
					t.Errorf("the epochs are %v", e.all)
				}
			})
		})
	}
}

// An epoch costs no request of its own but one in a thousand.
func TestEpochsAreReservedByMany(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var e epochs
	writes := func() (n int) {
		mark := b.emu.Service().Log().Mark()
		if err := b.processor(b.config("reserved"), e.handle).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, x := range b.emu.Service().Log().Since(mark) {
			if strings.HasSuffix(x.Item, ".start") && x.Operation == emulator.ReplaceItem && x.Status < 300 {
				n++
			}
		}
		return n
	}
	if got := []int{writes(), writes(), writes()}; !slices.Equal(got, []int{0, 0, 0}) {
		t.Errorf("the start document was written again %v times", got)
	}
	b.rewriteStart(func(doc map[string]any) { doc["epochs"] = 4 })
	if got := []int{writes(), writes(), writes()}; !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("with one epoch left, the start document was written %v times", got)
	}
	b.rewriteStart(func(doc map[string]any) {
		if doc["epochs"] != 1005.0 {
			t.Errorf("reserved up to %v", doc["epochs"])
		}
	})
}

// An instance that was not the first to reserve looks again.
func TestEpochsAreReservedWhileOthersDo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(20)
	var first seen
	b.caughtUp(b.processor(b.config("beside"), first.handle))
	b.rewriteStart(func(doc map[string]any) { doc["epochs"] = 1 })
	for range 3 {
		b.emu.Faults().Add(emulator.Answer(412, 0).On(emulator.ReplaceItem).Container("leases"))
		var s seen
		b.put("t", "late", first.count())
		b.caughtUp(b.processor(b.config("beside"), s.handle))
		if s.count() != 1 {
			t.Errorf("%d changes came", s.count())
		}
		b.rewriteStart(func(doc map[string]any) { doc["epochs"] = 1 })
	}
}
