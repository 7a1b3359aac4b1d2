package scenarios_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// withoutMarks is a scenario whose documents hold no member of Grove: what
// only a mark would tell has to stay unknown.
func withoutMarks(s emulatortest.Scenario) emulatortest.Scenario {
	setup := s.Setup
	s.Setup = func(w *emulatortest.World) {
		emulatortest.State[form](w).layout = &layout.Layout{NoMarks: true}
		setup(w)
	}
	return s
}

// TestVerbsWithoutMarksAreTrue is TestVerbsAreTrue for such documents, single writes, Mutate and batches alike.
func TestVerbsWithoutMarksAreTrue(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			explore(t, withoutMarks(trueVerb(v)))
		})
	}
}

// TestARetryWithoutMarksIsTrue: also for a caller that repeats what may be repeated.
func TestARetryWithoutMarksIsTrue(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			explore(t, withoutMarks(trueVerb(repeated(v))))
		})
	}
}

// TestAConcurrentWriteWithoutMarksHappensOnce: beside another writer too.
func TestAConcurrentWriteWithoutMarksHappensOnce(t *testing.T) {
	t.Parallel()
	writers := otherWrites()
	if !inFull() {
		writers = writers[:1]
	}
	for _, v := range callerWrites() {
		for _, o := range writers {
			t.Run(v.name+" and "+o.name, func(t *testing.T) {
				t.Parallel()
				explore(t, withoutMarks(appliedOnce(v, o)))
			})
		}
	}
}

// TestReceiptsWithoutMarksAreTrue: what SaveAll says of an item is true, or unknown.
func TestReceiptsWithoutMarksAreTrue(t *testing.T) {
	t.Parallel()
	explore(t, withoutMarks(trueReceipt()))
}

// TestAResumedBulkWithoutMarksClaimsNothing: a bulk that goes on from an earlier run stores what that one did not. Of what is there already it can't
// tell whether that run stored it, and says so: no item is reported as failed that is as it was to be, and none as stored that is not.
func TestAResumedBulkWithoutMarksClaimsNothing(t *testing.T) {
	t.Parallel()
	explore(t, withoutMarks(emulatortest.Scenario{
		Setup:  setupLines,
		Actors: []emulatortest.Actor{{Name: "caller", Do: saveLines}},
		Then:   resumeLines,
		Check: func(w *emulatortest.World) error {
			now, err := stored(w)
			if err != nil {
				return err
			}
			run := emulatortest.State[bulkRun](w)
			for i, count := range now {
				if count != 11 {
					return fmt.Errorf("item %d is %d after the resumed run, which returned %w", i, count, run.err)
				}
			}
			for _, item := range run.resumed.Items {
				if item.Status == repository.Unsent || item.Status == repository.Failed || item.Status == repository.Unknown && !errors.Is(item.Err, repository.ErrAmbiguous) {
					return fmt.Errorf("the resumed run says %v of item %d, which is stored: %w", item.Status, item.Index, item.Err)
				}
			}
			return nil
		},
	}))
}

// TestDeleteAllWithoutMarksIsTrue is TestDeleteAllIsTrue for such documents.
func TestDeleteAllWithoutMarksIsTrue(t *testing.T) {
	t.Parallel()
	explore(t, withoutMarks(trueDeleteAll()))
	t.Run("resumed", func(t *testing.T) {
		t.Parallel()
		explore(t, withoutMarks(resumedDeleteAll()))
	})
}
