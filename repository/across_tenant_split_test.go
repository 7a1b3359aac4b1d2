package repository_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// TestPrefix_tenantOverSeveralPartitions: a tenant that outgrew a physical
// partition is read whole, with and without what was cached before the split,
// and its neighbours' documents stay out.
func TestPrefix_tenantOverSeveralPartitions(t *testing.T) {
	t.Parallel()
	b := setupLookups(t)
	repo := b.lookups(t, t, "c", "/tenantId", "/lookupType")
	for i := range 40 {
		for _, tenant := range []string{"acme", "globex"} {
			store(t, t, repo, prefixed, newLookup(i, tenant, fmt.Sprintf("type%02d", i)))
		}
	}
	acme, q := repo.In("acme"), repository.All().OrderByDesc("name")
	want := collect(t, acme.Query(t.Context(), q), nil)
	if len(want) != 40 {
		t.Fatalf("before the splits: %d documents", len(want))
	}
	var bounds []string
	for _, lookupType := range []string{"type07", "type21", "type33"} {
		bounds = append(bounds, epk.Hash(epk.MultiHash, epk.String("acme"), epk.String(lookupType)))
	}
	slices.Sort(bounds)
	for _, bound := range bounds {
		ranges := b.emulator.Ranges("db", "c")
		b.emulator.SplitAt("db", "c", ranges[len(ranges)-1].ID, bound)

		if got := collect(t, acme.Query(t.Context(), q), nil); !slices.Equal(ids(got), ids(want)) {
			t.Errorf("%d ranges: ordered: %v", len(ranges)+1, ids(got))
		}
		for _, size := range []int{1, 7, 40} {
			if got := allPages(t, t, &acme.Reader, q, size, func(int) {}); !slices.Equal(ids(got), ids(want)) {
				t.Errorf("%d ranges: pages of %d: %v", len(ranges)+1, size, ids(got))
			}
		}
		if got := collect(t, acme.Query(t.Context(), repository.All()), nil); len(got) != 40 {
			t.Errorf("%d ranges: unordered: %d documents", len(ranges)+1, len(got))
		}
		if n, err := acme.Count(t.Context(), repository.All()); err != nil || n != 40 {
			t.Errorf("%d ranges: count: %d, %v", len(ranges)+1, n, err)
		}
	}
}
