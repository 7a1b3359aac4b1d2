package denorm_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// application is everything of these tests for fx.
func application(client *azcosmos.Client, more ...fx.Option) fx.Option {
	return fx.Options(
		fx.NopLogger,
		fx.Provide(func() *azcosmos.Client { return client }),
		registry.Module(layout()),
		registry.Entity[Team](), registry.Entity[Person](), registry.Entity[Task](registry.In("tasks"), registry.UniqueIDs()),
		registry.Child[Comment, Task](parented.Cascade), registry.Entity[Label](),
		denorm.Module,
		denorm.Count[Person, Task]("taskCount", "assigneeId"),
		denorm.Recent[Person, Task]("lastTasks", 2, "assigneeId"),
		denorm.Link[Task, Label]("labels", "tasks"),
		denorm.OnDelete[Task, Person]("assigneeId", denorm.Clear),
		fx.Options(more...),
	)
}

func TestTheApplicationFollowsChangesWhileItRuns(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t)
	var persons *repository.Repository[Person]
	var tasks *repository.Repository[Task]
	app := fxtest.New(t, application(client,
		fx.Supply(denorm.Config{Processor: changefeed.Config{PollInterval: time.Millisecond}}),
		fx.Populate(&persons, &tasks),
	))
	app.RequireStart()
	ctx := t.Context()
	ada := &Person{Name: "Ada"}
	check(t, persons.In(acme).Create(ctx, ada))
	task := &Task{Title: "t", AssigneeID: ada.Ref()}
	check(t, tasks.In(acme, "p1").Create(ctx, task))
	_, err := persons.In(acme).Mutate(ctx, ada.ID, func(p *Person) error { p.Name = "Countess"; return nil })
	check(t, err)
	eventually(t, func() bool {
		got, err := tasks.In(acme, "p1").Get(ctx, task.ID)
		check(t, err)
		return got.AssigneeName == "Countess"
	})
	app.RequireStop()

	// Another process goes on where this one was.
	var keeper *denorm.Keeper
	second := fxtest.New(t, application(client, fx.Populate(&keeper)))
	second.RequireStart()
	check(t, keeper.CatchUp(ctx))
	for d, err := range keeper.Audit(ctx, acme) {
		t.Errorf("drift: %+v, %v", d, err)
	}
	if p, ok := keeper.Processor("tasks"); !ok || p == nil {
		t.Error("no processor of the tasks' container")
	}
	second.RequireStop()
}

// eventually asks until it is so; the deadline is the test's failure.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // of a machine that does much else
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not come to pass")
		case <-tick.C:
		}
	}
}

func TestATagWithoutTheModuleEndsTheStart(t *testing.T) {
	t.Parallel()
	app := fx.New(fx.NopLogger,
		fx.Provide(func() *azcosmos.Client { return emulatortest.Client(t) }),
		registry.Module(registry.Config{Database: "x", Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Team](), registry.Entity[Person](),
	)
	if err := app.Err(); !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), "denorm.Module") {
		t.Error(err)
	}
}

func TestAWrongDeclarationNamesItsLine(t *testing.T) {
	t.Parallel()
	app := fx.New(application(emulatortest.Client(t), denorm.Count[Person, Task]("watching", "title")))
	if err := app.Err(); !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), "denorm.Count[Person, Task] (module_test.go:") {
		t.Error(err)
	}
}
