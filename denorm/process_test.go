package denorm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// mailer stands for what a handler needs: it has to be started before the
// handler is called, and to be there as long as it is.
type mailer struct {
	mu     sync.Mutex
	events []string
}

func newMailer(lc fx.Lifecycle) *mailer {
	m := &mailer{}
	lc.Append(fx.StartStopHook(func() { m.note("start") }, func() { m.note("stop") }))
	return m
}

func (m *mailer) note(event string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, event)
}

func (m *mailer) taken() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// An application's own processor is one registration. It runs from after the
// start of what its handler needs until before the stop of it.
func TestProcessRunsWithTheApplication(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t)
	var persons *repository.Repository[Person]
	var m *mailer
	quick := func(c *changefeed.Config) { c.PollInterval = time.Millisecond }
	handler := func(m *mailer) changefeed.Handler {
		return func(_ context.Context, changes []changefeed.Change) error {
			for _, c := range changes {
				if strings.Contains(string(c.Document), `"Person"`) {
					m.note("mail")
				}
			}
			return nil
		}
	}
	var got struct {
		fx.In

		Mails  *changefeed.Processor `name:"mails"`
		Counts *changefeed.Processor `name:"counts"`
	}
	app := fxtest.New(t, application(client,
		fx.Provide(newMailer),
		denorm.Process[Person]("mails", handler, quick),
		denorm.Process[Person]("counts", func() (changefeed.Handler, error) {
			return func(context.Context, []changefeed.Change) error { return nil }, nil
		}, quick),
		fx.Populate(&persons, &m, &got),
	))
	app.RequireStart()
	check(t, persons.In(acme).Create(t.Context(), &Person{Name: "Ada"}))
	check(t, got.Mails.CatchUp(t.Context()))
	check(t, got.Counts.CatchUp(t.Context()))
	app.RequireStop()
	events := m.taken()
	if len(events) < 3 || events[0] != "start" || events[len(events)-1] != "stop" || !slices.Contains(events, "mail") {
		t.Errorf("events: %v", events)
	}
	if err := got.Mails.CatchUp(t.Context()); !errors.Is(err, changefeed.ErrStopped) {
		t.Errorf("the processor was not stopped with the application: %v", err)
	}
}

// It works without the module that keeps copies, and refuses what was not registered.
func TestProcessAlone(t *testing.T) {
	t.Parallel()
	app := func(more ...fx.Option) *fx.App {
		client := emulatortest.Client(t)
		return fx.New(fx.NopLogger, fx.Supply(client), registry.Module(layout()), registry.Entity[Team](), fx.Options(more...))
	}
	handler := func() changefeed.Handler { return func(context.Context, []changefeed.Change) error { return nil } }
	alone := app(denorm.Process[Team]("alone", handler))
	check(t, alone.Start(t.Context()))
	check(t, alone.Stop(t.Context()))
	if err := app(denorm.Process[Person]("none", handler)).Err(); !errors.Is(err, tenantitem.ErrInvalid) {
		t.Errorf("an entity that is not registered: %v", err)
	}
	if err := app(denorm.Process[Team]("", handler)).Err(); err == nil {
		t.Error("a processor without a name is taken")
	}
}
