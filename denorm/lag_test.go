package denorm_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
)

// While replicas are behind, the keeper has followed what this process wrote
// when CatchUp returns.
func TestCatchUpFollowsOwnWritesBehindALaggingReplica(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, emulatortest.WithReplicaLag(500*time.Millisecond))
		person := b.person("Ada")
		task := b.task("p", person)
		b.must(b.keeper.Start(b.ctx))
		b.catchUp()
		for round := range 5 {
			name := fmt.Sprint("Ada", round)
			b.rename(person, name)
			b.catchUp()
			if got := b.reread(task).AssigneeName; got != name {
				t.Errorf("round %d: the copy is %q", round, got)
			}
		}
		b.must(b.keeper.Stop(b.ctx))
	})
}
