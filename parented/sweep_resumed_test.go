package parented_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
)

// A sweep that dies while a child joins the delete of its parent, and is taken up hours later, keeps the child no longer than the parent, and
// loses nothing of it up to then.
func TestASweepThatIsResumedLateKeepsAChildAsItsParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it moves the clock")
	const requests = 21
	for _, how := range leavings() {
		for n := range int32(requests) {
			for _, restored := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, it dies after %d, restored: %t", how, n+1, restored), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					l := leaveBehind(t, how)
					mortal, die := context.WithCancel(ctx)
					defer die()
					p := l.planting
					p.client = clientOf(l.emulator, &diesAfter{n: n + 1, die: die})
					database, err := p.client.NewDatabase(l.database.ID())
					must(t, err)
					_, _ = open(t, database, p).forest.Sweep(mortal, "acme", anyAge)

					l.emulator.Clock().Advance(23 * time.Hour)
					_, err = l.forest.Resume(ctx, "acme")
					must(t, err)
					_, err = l.forest.Sweep(ctx, "acme", anyAge)
					must(t, err)
					if restored {
						l.emulator.Clock().Advance(time.Hour - time.Minute)
						must(t, l.notes.In("acme").Restore(ctx, l.note.ID))
						if got := l.present(t); got != l.whole {
							t.Errorf("after the restore: %s, want %s", got, l.whole)
						}
						return
					}
					l.emulator.Clock().Advance(3*time.Hour + time.Minute)
					if left := l.stored(t, "acme"); len(left) != 0 {
						t.Errorf("there are still %v", left)
					}
				})
			}
		}
	}
}
