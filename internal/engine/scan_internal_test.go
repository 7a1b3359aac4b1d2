package engine

import (
	"testing"

	"github.com/cosmosgrove/grove/internal/merge"
)

// Both forms of the header, and none: without one, or with reverseRidEnabled,
// the ids of equal rows run in the direction of the first sorted value; else
// the scan's own direction decides, whatever the order says.
func TestTheDirectionOfEqualRows(t *testing.T) {
	t.Parallel()
	older, newer := merge.SortKey{RID: "AAAAAAAAAAABAAAAAAAAAA=="}, merge.SortKey{RID: "AAAAAAAAAAACAAAAAAAAAA=="}
	for _, row := range []struct {
		header     string
		descending bool
		newerFirst bool
	}{
		{"", false, false},
		{"", true, true},
		{`{"reverseRidEnabled":true,"reverseIndexScan":true}`, false, false},
		{`{"reverseRidEnabled":true,"reverseIndexScan":false}`, true, true},
		{`{"reverseRidEnabled":false,"reverseIndexScan":true}`, false, true},
		{`{"reverseRidEnabled":false,"reverseIndexScan":true}`, true, true},
		{`{"reverseRidEnabled":false,"reverseIndexScan":false}`, true, false},
		{`{"reverseRidEnabled":false}`, true, false},
		{`not json`, true, true},
	} {
		a, b := older, newer
		a.SetScan(scanOf(row.header))
		b.SetScan(scanOf(row.header))
		if got := (merge.Order{row.descending}).Compare(b, a) < 0; got != row.newerFirst {
			t.Errorf("%q, descending %t: newer first is %t", row.header, row.descending, got)
		}
	}
}
