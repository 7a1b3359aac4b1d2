package changefeed_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/tenantitem"
)

// One call removes what is chosen of a container's quarantine, of every processor, whatever its requests meet.
func TestQuarantinedChangesAreErased(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]emulator.Fault{
		"undisturbed":     nil,
		"throttled":       {emulator.Throttle(time.Millisecond).Container("leases").Times(3)},
		"unavailable":     {emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.DeleteItem).Times(2)},
		"answers lost":    {emulator.Cut().AfterEffect().On(emulator.DeleteItem).Times(1)},
		"queries cut":     {emulator.Cut().On(emulator.QueryItems).Times(2)},
		"container's cut": {emulator.Cut().On(emulator.ReadContainer).Times(2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, emulatortest.Calm()) // it reads the quarantine by no session
			for _, id := range []string{"a", "b", "c"} {
				b.put("t1", id, 1)
			}
			refuse := func(context.Context, []changefeed.Change) error { return errors.New("never") }
			var processors []*changefeed.Processor
			for _, name := range []string{"mail", "index"} {
				cfg := b.config(name)
				cfg.MaxAttempts = 1
				p := b.processor(cfg, refuse)
				b.caughtUp(p)
				processors = append(processors, p)
			}
			// One that a former version stored.
			for q, err := range processors[0].Quarantined(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if q.DocumentID == "a" {
					b.drop(q.ID)
					former := map[string]any{"id": "quarantine.mail..abc", "processor": "mail", "range": "-FF", "attempts": 1, "reason": "x", "document": q.Document}
					if _, err := b.leases.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("quarantine.mail..abc"), encode(t, former), nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, f := range faults {
				b.emu.Faults().Add(f)
			}
			chosen := func(q changefeed.Quarantined) bool { return q.DocumentID != "b" }
			n, err := changefeed.EraseQuarantined(t.Context(), b.leases, b.items, chosen)
			if n != 4 || err != nil {
				t.Errorf("erased %d, %v", n, err)
			}
			for _, p := range processors {
				if got := b.quarantined(p); !slices.Equal(got, []string{"b"}) {
					t.Errorf("left in quarantine: %v", got)
				}
			}
			if n, err := changefeed.EraseQuarantined(t.Context(), b.leases, b.leases, func(changefeed.Quarantined) bool { return true }); n != 0 || err != nil {
				t.Errorf("of another container: %d, %v", n, err)
			}
		})
	}
}

// What could not be removed, since its container was not found for a moment, is not said to be.
func TestErasingFromAContainerThatIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm())
	var h picky
	p := b.refused(&h)
	b.emu.Faults().Add(emulator.Answer(http.StatusNotFound, 1003).On(emulator.DeleteItem).Container("leases").Times(1))
	all := func(changefeed.Quarantined) bool { return true }
	if n, err := changefeed.EraseQuarantined(t.Context(), b.leases, b.items, all); n != 0 || err == nil || len(b.quarantined(p)) != 3 {
		t.Errorf("erased %d, %v, left: %v", n, err, b.quarantined(p))
	}
	if n, err := changefeed.EraseQuarantined(t.Context(), b.leases, b.items, all); n != 3 || err != nil {
		t.Errorf("erased %d, %v", n, err)
	}
}

func TestNothingToEraseFromIsNoError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := func(changefeed.Quarantined) bool { return true }
	db, err := b.client.NewDatabase(database)
	if err != nil {
		t.Fatal(err)
	}
	none, err := db.NewContainer("none")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := changefeed.EraseQuarantined(t.Context(), none, b.items, all); n != 0 || err != nil {
		t.Errorf("no lease container: %d, %v", n, err)
	}
	if _, err := changefeed.EraseQuarantined(t.Context(), b.leases, none, all); err == nil {
		t.Error("no container is no error")
	}
	for _, call := range []func() (int, error){
		func() (int, error) { return changefeed.EraseQuarantined(t.Context(), nil, b.items, all) },
		func() (int, error) { return changefeed.EraseQuarantined(t.Context(), b.leases, nil, all) },
		func() (int, error) { return changefeed.EraseQuarantined(t.Context(), b.leases, b.items, nil) },
	} {
		if _, err := call(); !errors.Is(err, tenantitem.ErrInvalid) {
			t.Errorf("nil: %v", err)
		}
	}
}
