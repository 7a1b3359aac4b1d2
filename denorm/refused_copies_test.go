package denorm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
)

// However many copies of a document have no room, a repair tells of it and goes on.
func TestARepairPassesOverWhatHasNoRoom(t *testing.T) {
	t.Parallel()
	for _, copies := range []int{1, 2, 8, 9, 10, 12} {
		t.Run(fmt.Sprint(copies), func(t *testing.T) {
			t.Parallel()
			b := setup(t, emulatortest.WithLogicalPartitionLimit(6_000))
			ada := b.person("Ada")
			full, other := b.withSteps(ada), b.task("p2", ada)
			full.Plan.Steps = nil
			for range copies {
				full.Plan.Steps = append(full.Plan.Steps, Step{PersonID: ada.Ref()})
			}
			full.AssigneeID = ""
			b.must(b.tasks.In(acme, full.Project).Replace(b.ctx, full))
			b.catchUp()
			b.fillPartition(full.Project)
			b.rename(ada, strings.Repeat("Augusta Ada King. ", 40))
			progress, err := b.keeper.Repair(b.ctx, acme, nil)
			skipped := int64(copies)
			if copies > engine.MaxDocumentPatch {
				skipped = 1 // the array that they lie in
			}
			if err != nil || progress.Skipped != skipped {
				t.Errorf("Repair: %+v, %v, want %d skipped", progress, err, skipped)
			}
			if got := b.reread(other).AssigneeName; !strings.HasPrefix(got, "Augusta") {
				t.Errorf("another document's copy is %q", got)
			}
		})
	}
}
