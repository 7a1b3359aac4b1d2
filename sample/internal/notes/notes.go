package notes

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
)

// app is what the steps work with.
type app struct {
	report   *report.Report
	people   *repository.Repository[Person]
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	lookups  *repository.Repository[LookupValue]
	keeper   *denorm.Keeper
}

// Run wires the application, takes it through its steps and stops it.
func Run(ctx context.Context, client *azcosmos.Client, where string, r *report.Report) error {
	a := app{report: r}
	var db *registry.Database
	wired := fx.New(
		fx.NopLogger, // its log would hide the report; errors are returned all the same
		fx.Supply(client),
		registry.Module(registry.Config{
			Database:  "grove-sample",
			Provision: true,
			Logger:    slog.New(slog.DiscardHandler),
			Containers: []registry.Container{{
				ID:           "lookups",
				PartitionKey: []string{"/tenantId", "/lookupType"},
			}},
		}),
		registry.Entity[Person](),
		registry.Entity[Note](),
		registry.Child[Comment, Note](parented.Cascade),
		registry.Entity[LookupValue](registry.In("lookups")),
		denorm.Module,
		denorm.Count[Note, Comment]("commentCount", "parentId"),
		fx.Populate(&a.people, &a.notes, &a.comments, &a.lookups, &a.keeper, &db),
	)
	if err := wired.Err(); err != nil {
		return err
	}
	if err := wired.Start(ctx); err != nil {
		return err
	}
	r.Title("Notes on "+where, describe(db.Plan()))
	counted, total := repository.WithTally(ctx)
	err := a.walk(counted)
	if stopErr := wired.Stop(ctx); err == nil {
		err = stopErr
	}
	if err == nil {
		r.Total(total)
	}
	return err
}

// describe says where the species live.
func describe(plan *registry.Plan) string {
	lines := []string{}
	for _, c := range plan.Containers() {
		var names []string
		for _, s := range plan.Species() {
			if s.Container == c.ID {
				names = append(names, s.EntityType)
			}
		}
		lines = append(lines, fmt.Sprintf("container %-10s keyed by %-22s holds %s", c.ID, strings.Join(c.PartitionKey, ","), strings.Join(names, ", ")))
	}
	return strings.Join(lines, "\n")
}

func (a *app) walk(ctx context.Context) error {
	for _, part := range []func(context.Context) error{a.write, a.read, a.disagree, a.tenantCheck, a.look, a.copies, a.end} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}
