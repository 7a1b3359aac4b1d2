package denorm_test

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// A bulk of documents that their customer counts in the same transaction asks for little more than their batches: docs/performance.md has the number.
func TestSaveAllOfCountedDocuments(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "requests are counted")
	s := setupNear(t, emulatortest.Calm())
	s.customer("c1")
	ctx, tally := repository.WithTally(s.ctx)
	_, err := s.calls.In(acme, "c1").SaveAll(ctx, func(yield func(*Call) bool) {
		for range 10_000 {
			if !yield(&Call{}) {
				return
			}
		}
	}, nil)
	if err != nil || tally.Requests() != 112 {
		t.Errorf("%d requests, want 112: %v", tally.Requests(), err)
	}
}
