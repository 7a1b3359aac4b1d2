package changefeed_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// A handled change may cause another in another range, and that a third, here
// and in other instances. CatchUp returns when the last of them was handled.
func TestCatchUpFollowsChainsThroughOtherInstances(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const length = 12
		b := setup(t, emulatortest.WithPartitions(8))
		var s seen
		handler := func(ctx context.Context, changes []changefeed.Change) error {
			<-time.After(3 * time.Second)
			for _, c := range changes {
				var i item
				if err := c.Decode(&i); err != nil {
					return err
				}
				if i.N < length {
					b.put(fmt.Sprint("t", i.N), "d", i.N+1)
				}
			}
			return s.handle(ctx, changes)
		}
		one := b.join("chain", "one", handler)
		b.join("chain", "two", handler)
		b.join("chain", "three", handler)
		<-time.After(time.Minute)
		if owners := b.owners(); !even(owners, "one", "two", "three") {
			t.Fatalf("owners: %v", owners)
		}
		b.put("t0", "d", 1)
		if err := one.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.count() != length {
			t.Errorf("%d of %d changes were handled", s.count(), length)
		}
	})
}
