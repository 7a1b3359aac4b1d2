package denorm_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// A keeper whose start failed in one container can be started again: nothing of it runs in between.
func TestAKeeperThatDidNotStartIsStartedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	containers := b.keeper.Containers()
	armed := b.emu.Fault(emulator.Answer(403, 5300).Container(containers[len(containers)-1]).Keep())
	ctx, end := context.WithTimeout(b.ctx, 5*time.Second)
	defer end()
	if err := b.keeper.Start(ctx); err == nil {
		t.Fatal("it started")
	}
	armed.Disarm()
	b.must(b.keeper.Start(b.ctx))
	b.must(b.keeper.CatchUp(b.ctx))
	b.must(b.keeper.Stop(b.ctx))
}
