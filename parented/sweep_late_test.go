package parented_test

import (
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
)

// What is swept late in the time of its parent expires with it, an hour later at most.
func TestSweptLateExpiresWithItsParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it moves the clock")
	for _, how := range leavings() {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			l := leaveBehind(t, how)
			l.emulator.Clock().Advance(23 * time.Hour)
			_, err := l.forest.Sweep(t.Context(), "acme", anyAge)
			must(t, err)
			l.emulator.Clock().Advance(4 * time.Hour)
			if left := l.stored(t, "acme"); len(left) != 0 {
				t.Errorf("27 hours after the delete of a note that is kept for 24 there are still %v", left)
			}
		})
	}
}
