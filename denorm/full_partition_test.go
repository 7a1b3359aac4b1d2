package denorm_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// fillPartition writes tasks of a project until there is no room for another one.
func (b *testBundle) fillPartition(project string) {
	b.t.Helper()
	for size := 200; size > 0; {
		err := b.tasks.In(acme, project).Create(b.ctx, &Task{Title: strings.Repeat("x", size)})
		var refused *repository.Error
		switch {
		case errors.As(err, &refused) && strings.Contains(err.Error(), "403/1014"):
			size -= 100
		default:
			b.must(err)
		}
	}
}

// A logical partition without room keeps the copies in it from growing, and nothing else.
func TestAFullPartitionStopsNoOther(t *testing.T) {
	t.Parallel()
	longer := strings.Repeat("Augusta Ada King, Countess of Lovelace. ", 20) // more than a partition that is full has room for
	for name, follow := range map[string]func(b *testBundle, ada *Person){
		"the keeper": func(b *testBundle, ada *Person) {
			b.rename(ada, longer)
			b.catchUp()
			progress, err := b.keeper.Repair(b.ctx, acme, nil)
			if err != nil || progress.Skipped != 2 {
				b.t.Errorf("Repair: %+v, %v", progress, err)
			}
		},
		"Repair": func(b *testBundle, ada *Person) {
			b.rename(ada, longer)
			var skipped []denorm.Drift
			progress, err := b.keeper.Repair(b.ctx, acme, &denorm.RepairOptions{Skipped: func(d denorm.Drift) { skipped = append(skipped, d) }})
			if err != nil || len(skipped) != 2 || progress.Skipped != 2 {
				b.t.Errorf("Repair: %+v, %v, skipped %v", progress, err, skipped)
			}
			for _, d := range skipped {
				if !strings.Contains(d.Reason, "partition is full") || strings.Contains(d.Reason, "Lovelace") {
					b.t.Errorf("the reason for %s is %q", d.ID, d.Reason)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, emulatortest.WithLogicalPartitionLimit(6_000))
			log := b.logged()
			ada := b.person("Ada")
			var tasks []*Task
			for i := range 6 {
				tasks = append(tasks, b.task(fmt.Sprint("p", i), ada))
			}
			tasks = append(tasks, b.task("p2", ada)) // both in one batch
			b.catchUp()
			b.fillPartition("p2")
			b.catchUp()
			follow(b, ada)
			for _, task := range tasks {
				want := longer
				if task.Project == "p2" {
					want = "Ada"
				}
				if got := b.reread(task).AssigneeName; got != want {
					t.Errorf("the copy in %s is %q", task.Project, got)
				}
			}
			if drift := b.audit(); len(drift) != 2 || drift[0].Pointer != "/assigneeName" {
				t.Errorf("the audit tells of %v", drift)
			}
			if text := log.String(); name == "the keeper" && (strings.Count(text, "document skipped") < 2 || !strings.Contains(text, tasks[2].ID) || strings.Contains(text, "Lovelace")) {
				t.Errorf("the log: %s", text)
			}
			// What shrinks has room.
			b.rename(ada, "A")
			b.catchUp()
			b.noDrift()
			for _, container := range b.keeper.Containers() {
				p, _ := b.keeper.Processor(container)
				for q, err := range p.Quarantined(b.ctx) {
					t.Errorf("in quarantine: %s, %v", q.Reason, err)
				}
			}
		})
	}
}

// logged gives the bundle a keeper whose log is returned.
func (b *testBundle) logged() *strings.Builder {
	b.t.Helper()
	log := &strings.Builder{}
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{Logger: slog.New(slog.NewTextHandler(log, nil))}}, declarations()...)
	plan, err := registry.NewPlan(layout(), entities(), copies.Extension())
	b.must(err)
	db, err := registry.Open(b.client, plan)
	b.must(err)
	b.handOver(db)
	b.keeper, err = copies.Keeper()
	b.must(err)
	return log
}
