package scenarios_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
)

// leasesOf are the leases as they are stored.
func leasesOf(w *emulatortest.World) (leases []map[string]any, err error) {
	pager := containerOf(w, "leases").NewQueryItemsPager("SELECT * FROM c WHERE IS_DEFINED(c.LeaseToken)", azcosmos.NewPartitionKey(), nil)
	for pager.More() {
		page, err := pager.NextPage(w.Context())
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Items {
			var lease map[string]any
			if err := json.Unmarshal(raw, &lease); err != nil {
				return nil, err
			}
			leases = append(leases, lease)
		}
	}
	return leases, nil
}

// setupFormerLeases is setupFeed with the leases, and their positions, as a former version has left them.
func setupFormerLeases(w *emulatortest.World) {
	setupFeed(w)
	docs := containerOf(w, "docs")
	read, err := docs.Read(w.Context(), nil)
	must(w, err)
	base := "work." + strings.NewReplacer("/", "-", "=", "").Replace(read.ContainerProperties.ResourceID)
	leases := containerOf(w, "leases")
	drop := func(id string) {
		_, err := leases.DeleteItem(w.Context(), azcosmos.NewPartitionKeyString(id), id, nil)
		must(w, err)
	}
	now, err := leasesOf(w)
	must(w, err)
	for _, lease := range now {
		id, _ := lease["id"].(string)
		drop(id)
		lease["id"] = fmt.Sprint(base, "..", lease["LeaseToken"])
		lease["Owner"], lease["properties"] = nil, map[string]any{"epoch": "7"}
		for _, member := range []string{"partitionKey", "Mode", "_etag", "_rid", "_self", "_ts", "_attachments"} {
			delete(lease, member)
		}
		body, err := json.Marshal(lease)
		must(w, err)
		_, err = leases.CreateItem(w.Context(), azcosmos.NewPartitionKeyString(lease["id"].(string)), body, nil)
		must(w, err)
	}
	drop(base + ".start")
}

// oneForEachRange wants the ranges of leases to be all keys, each once.
func oneForEachRange(leases []map[string]any) error {
	type bounds struct{ Min, Max string }
	var all []bounds
	for _, lease := range leases {
		feed, _ := lease["FeedRange"].(map[string]any)
		keys, _ := feed["Range"].(map[string]any)
		low, _ := keys["min"].(string)
		high, _ := keys["max"].(string)
		all = append(all, bounds{low, high})
	}
	slices.SortFunc(all, func(a, b bounds) int { return strings.Compare(a.Min, b.Min) })
	reached := ""
	for _, b := range all {
		if b.Min != reached {
			return fmt.Errorf("of the leases %v one begins elsewhere than at %q", all, reached)
		}
		reached = b.Max
	}
	if reached != "FF" {
		return fmt.Errorf("the leases %v end at %q", all, reached)
	}
	return nil
}

// TestFormerLeasesKeepTheirPositions: instances that start at once rename the leases of a former version, and are killed, cut off or held up at any of
// their requests. What was not handled is handled, what was handled does not come again, and the leases of the new name are one for each range in the end.
func TestFormerLeasesKeepTheirPositions(t *testing.T) {
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
				Setup:   setupFormerLeases,
				Actors:  []emulatortest.Actor{{Name: "first", Do: process}, {Name: "second", Do: process}},
				Then:    catchUpLast,
				Check: func(w *emulatortest.World) error {
					if version, again := ledgerOf(w).last["c"]; again {
						return fmt.Errorf("document c came again in version %d: the position is lost", version)
					}
					leases, err := leasesOf(w)
					if err != nil {
						return err
					}
					for _, lease := range leases {
						if id, _ := lease["id"].(string); !strings.Contains(id, ".emulator.localhost_") {
							return errors.New("a lease has its former name still")
						}
					}
					if err := oneForEachRange(leases); err != nil {
						return err
					}
					return checkLedger(w)
				},
			}, unhandled(), "killed-after")
		})
	}
}
