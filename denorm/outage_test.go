package denorm_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
)

// usualKeeper is one with the default intervals. The tasks are read through its database from then on: by the sessions of the
// one that they were opened with a replica may still show them as they were before the keeper wrote.
func (b *testBundle) usualKeeper(t *testing.T) *denorm.Keeper {
	t.Helper()
	copies := denorm.New(denorm.Config{}, declarations()...)
	plan, err := registry.NewPlan(layout(), entities(), copies.Extension())
	b.must(err)
	db, err := registry.Open(b.client, plan)
	b.must(err)
	b.tasks = repo[Task](t, db)
	keeper, err := copies.Keeper()
	b.must(err)
	return keeper
}

// An outage of the container that holds the copies puts no healthy change into
// quarantine, and no copy is stale after it.
func TestOutagesOfTheCopiesQuarantineNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"500": emulator.Answer(500, 0), "504": emulator.Answer(504, 0), "no answer in time": emulator.Delay(time.Minute),
		"503": emulator.Answer(503, 0), "408": emulator.Answer(408, 0), "449": emulator.Answer(449, 0), "410": emulator.Answer(410, 0),
		"429": emulator.Throttle(time.Second), "cut": emulator.Cut(), "cut after the effect": emulator.Cut().AfterEffect(),
	} {
		for _, length := range []time.Duration{12 * time.Second, time.Minute, 10 * time.Minute} {
			t.Run(fmt.Sprint(name, " for ", length), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := setup(t)
					b.keeper = b.usualKeeper(t)
					person := b.person("Ada")
					var tasks []*Task
					for range 5 {
						tasks = append(tasks, b.task("p", person))
					}
					b.must(b.keeper.Start(b.ctx))
					b.catchUp()
					armed := b.emu.Fault(fault.Container("tasks").Keep())
					// The source is in the other container.
					b.rename(person, "Countess")
					<-time.After(length)
					armed.Disarm()
					<-time.After(3 * time.Minute)
					b.catchUp()
					for _, task := range tasks {
						if got := b.reread(task).AssigneeName; got != "Countess" {
							t.Errorf("a copy is %q", got)
						}
					}
					for _, container := range b.keeper.Containers() {
						p, _ := b.keeper.Processor(container)
						for q, err := range p.Quarantined(b.ctx) {
							t.Errorf("in quarantine: %s, %v", q.Reason, err)
						}
					}
					b.must(b.keeper.Stop(b.ctx))
				})
			})
		}
	}
}
