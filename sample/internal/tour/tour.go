package tour

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/account"
	"github.com/cosmosgrove/grove/sample/internal/report"
)

// app is what the steps work with.
type app struct {
	report   *report.Report
	meter    *account.Meter
	people   *repository.Repository[Person]
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	messages *parented.Buckets[Message, Note]
	lookups  *repository.Repository[LookupValue]
	products *repository.Repository[Product]
	orders   *repository.Repository[Order]
	authors  *repository.Repository[Author]
	books    *repository.Repository[Book]
	rows     *repository.Repository[Row]
	keeper   *denorm.Keeper
}

// Run wires the application, takes it through its steps and stops it. On an
// account that outlives the program it works in a database of its own, which is
// deleted at the end, however that comes.
func Run(ctx context.Context, at *account.Account, r *report.Report) (err error) {
	a := app{report: r, meter: at.Meter}
	database := "grove-tour"
	if !at.Embedded {
		database += "-" + uuid.NewString()
		defer func() { err = errors.Join(err, remove(ctx, at, database)) }()
	}
	var db *registry.Database
	wired := fx.New(
		fx.NopLogger, // its log would hide the report; errors are returned all the same
		fx.Supply(at.Client),
		registry.Module(registry.Config{
			Database:   database,
			Provision:  true,
			Logger:     slog.New(slog.DiscardHandler),
			Containers: []registry.Container{{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}},
		}),
		registry.Entity[Person](),
		registry.Entity[Note](),
		registry.Child[Comment, Note](parented.Cascade),
		registry.Buckets[Message, Note](parented.Cascade),
		registry.Entity[LookupValue](registry.In("lookups")),
		registry.Entity[Product](),
		registry.Entity[Order](),
		registry.Entity[Author](),
		registry.Entity[Book](),
		registry.Entity[Row](),
		denorm.Module,
		denorm.Count[Note, Comment]("commentCount", "parentId"),
		denorm.Recent[Note, Comment]("newestComments", 3),
		denorm.Link[Author, Book]("books", "authors"),
		fx.Populate(&a.people, &a.notes, &a.comments, &a.messages, &a.lookups, &a.products, &a.orders, &a.authors, &a.books, &a.rows, &a.keeper, &db),
	)
	if err := wired.Err(); err != nil {
		return err
	}
	if err := wired.Start(ctx); err != nil {
		return err
	}
	r.Title("A tour of Grove on "+at.Name, describe(db.Plan())+"\n"+charges(at))
	err = a.walk(ctx)
	if stopErr := wired.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	requests, units := at.Meter.Read()
	r.Rest("start, preparing, following changes", requests, units)
	r.Text(next)
	return nil
}

const next = `Next:
  go run ./sample/shop   a service over HTTP that you may copy (docs/http.md)
  docs/modelling.md      which of these patterns, and when
  docs/guide.md          the tasks of a service, one by one
`

// charges says what the figures are.
func charges(at *account.Account) string {
	if at.Embedded {
		return "Request units (RU) are modelled here: the embedded account computes them from the service's published figures. An account may charge otherwise."
	}
	return "Request units (RU) are what the account says; an emulator's are modelled."
}

// remove deletes the tour's database, also after an interruption.
func remove(ctx context.Context, at *account.Account, database string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	d, err := at.Client.NewDatabase(database)
	if err == nil {
		_, err = d.Delete(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("the database %s is left behind, delete it: %w", database, err)
	}
	return nil
}

// describe says where the entity types live.
func describe(plan *registry.Plan) string {
	var lines []string
	for _, c := range plan.Containers() {
		var names []string
		for _, s := range plan.Entities() {
			if s.Container == c.ID {
				names = append(names, s.EntityType)
			}
		}
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf("%s, keyed by %s: %s", c.ID, strings.Join(c.PartitionKey, ","), strings.Join(names, ", ")))
		}
	}
	return strings.Join(lines, "\n")
}

func (a *app) walk(ctx context.Context) error {
	for _, part := range []func(context.Context) error{a.prepareLookups, a.write, a.read, a.disagree, a.checkTenants, a.look, a.patterns} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}
