package changefeed_test

import (
	"fmt"
	"net/http"
	"testing"
)

type storeLease func(id, owner string, epoch int, at string)

// What the ledger of the kill test takes for a violation, and what it does not.
func TestTheLedgerKnowsWhoTookALease(t *testing.T) {
	t.Parallel()
	const parent, child = "00-20", "00-10"
	for _, tt := range []struct {
		name       string
		does       func(store storeLease)
		violations int
	}{
		{"a child is made by half a split, and begins after the parent's next owner", func(store storeLease) {
			store(child, "first", 1, "t2")
			store(parent, "second", 2, "t3")
			store(child, "first", 2, "t2")
		}, 0},
		{"a child is taken while its parent has an owner", func(store storeLease) {
			store(child, "first", 1, "t2")
			store(child, "second", 2, "t3")
		}, 1},
		{"a child's owner takes it again while its parent has an owner", func(store storeLease) {
			store(child, "first", 1, "t2")
			store(child, "first", 2, "t3")
		}, 1},
		{"an epoch is left out", func(store storeLease) {
			store(parent, "second", 3, "t2")
		}, 1},
	} {
		l := newLedger(nil)
		store := func(id, owner string, epoch int, at string) {
			status := http.StatusOK
			if _, there := l.leases[id]; !there {
				status = http.StatusCreated
			}
			body := fmt.Appendf(nil, `{"id":%q,"Owner":%q,"timestamp":%q,"properties":{"epoch":"%d"},"FeedRange":{"Range":{"min":%q,"max":%q}}}`,
				id, owner, at, epoch, id[:2], id[3:])
			l.note(http.MethodPut, id, body, status)
		}
		store(parent, "", 0, "t0")
		store(parent, "first", 1, "t1")
		tt.does(store)
		if len(l.violations) != tt.violations {
			t.Errorf("%s: %d violations, want %d: %q", tt.name, len(l.violations), tt.violations, l.violations)
		}
	}
}
