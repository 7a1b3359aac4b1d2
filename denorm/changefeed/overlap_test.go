package changefeed_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
)

// A split that was killed half-way leaves leases within that of the parent. When the
// partitions are merged before the parent's next owner splits it too, these lie within
// leases that are at work: they are removed, or the outer lease gives way where they
// stand for all of it. CatchUp does not wait for leases that nobody may take.
func TestLeasesWithinOneAtWork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		inner map[string]string // the owner of each
		left  []string
	}{
		"a part":                  {map[string]string{"-20": ""}, []string{"-FF"}},
		"a part of a dead owner":  {map[string]string{"-20": "dead"}, []string{"-FF"}},
		"two parts":               {map[string]string{"-10": "dead", "20-FF": ""}, []string{"-FF"}},
		"parts within a part":     {map[string]string{"-20": "", "-10": "", "10-18": "dead"}, []string{"-FF"}},
		"all of it":               {map[string]string{"-20": "", "20-FF": ""}, []string{"-20", "20-FF"}},
		"all of it of the dead":   {map[string]string{"-20": "dead", "20-FF": "dead"}, []string{"-20", "20-FF"}},
		"all of it, and one more": {map[string]string{"-20": "", "20-FF": "dead", "-10": ""}, []string{"-20", "20-FF"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.WithPartitions(1))
				b.fill(20)
				var s seen
				p := b.processor(b.hasty("overlap"), s.handle)
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := p.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				outer := b.leaseDocuments()[0]
				for bounds, owner := range tt.inner {
					b.leaveLease(outer, bounds, owner)
				}
				b.put("t1", "late", 2)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := p.CatchUp(ctx); err != nil {
					t.Error(err)
				}
				<-time.After(time.Second) // until the next look
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				left := map[string]string{}
				for _, doc := range b.leaseDocuments() {
					left[doc["LeaseToken"].(string)] = doc["properties"].(map[string]any)["epoch"].(string)
				}
				for _, bounds := range tt.left {
					if left[bounds] == "" {
						t.Errorf("there is no lease of %s, but %v", bounds, left)
					}
					if bounds != "-FF" && left[bounds] <= epochOf(outer) {
						t.Errorf("epoch %s follows %s", left[bounds], epochOf(outer))
					}
				}
				if len(left) != len(tt.left) || s.last["t1/late"] != 2 || s.count() != 21 {
					t.Errorf("%v are left, and %d documents were seen", left, s.count())
				}
			})
		})
	}
}

func epochOf(doc map[string]any) string { return doc["properties"].(map[string]any)["epoch"].(string) }

// leaveLease stores a lease that a split would have made of another one.
func (b *testBundle) leaveLease(of map[string]any, bounds, owner string) {
	b.t.Helper()
	doc := maps.Clone(of)
	from, to, _ := strings.Cut(bounds, "-")
	doc["id"] = strings.TrimSuffix(of["id"].(string), of["LeaseToken"].(string)) + bounds
	doc["LeaseToken"] = bounds
	doc["FeedRange"] = map[string]any{"Range": map[string]string{"min": from, "max": to}}
	doc["properties"] = map[string]string{"epoch": "1"}
	doc["Owner"], doc["ContinuationToken"] = nil, nil
	if owner != "" {
		doc["Owner"] = owner
	}
	upsert(b.t, b.leases, azcosmos.NewPartitionKeyString(doc["id"].(string)), encode(b.t, doc))
}
