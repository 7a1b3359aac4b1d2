package denorm_test

import (
	"log/slog"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type NamedPerson struct {
	tenantitem.TenantItem[NamedPerson]
	Name string `json:"name"`
}

type NamedTask struct {
	tenantitem.TenantItem[NamedTask]
	AssigneeID   tenantitem.Ref[NamedPerson] `json:"assigneeId"`
	AssigneeName string                      `json:"assigneeName" denorm:"sync,ref=assigneeId,field=name"`
}

// Copies are kept in two databases of one application, each by its own keeper.
func TestCopiesInTwoDatabases(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t)
	type results struct {
		fx.In

		People  *repository.Repository[NamedPerson]
		Tasks   *repository.Repository[NamedTask]
		Keeper  *denorm.Keeper
		People2 *repository.Repository[NamedPerson] `name:"second"`
		Tasks2  *repository.Repository[NamedTask]   `name:"second"`
		Keeper2 *denorm.Keeper                      `name:"second"`
	}
	var in results
	quiet := slog.New(slog.DiscardHandler)
	app := fxtest.New(t, fx.NopLogger,
		fx.Provide(func() *azcosmos.Client { return client }),
		registry.Module(registry.Config{Database: "first", Provision: true, Logger: quiet}),
		registry.Module(registry.Config{Database: "second", Name: "second", Provision: true, Logger: quiet}),
		registry.Entity[NamedPerson](), registry.Entity[NamedTask](), denorm.Module,
		registry.Entity[NamedPerson](registry.Of("second")), registry.Entity[NamedTask](registry.Of("second")), denorm.NamedModule("second"),
		fx.Invoke(func(r results) { in = r }),
	)
	app.RequireStart()
	defer app.RequireStop()
	ctx := t.Context()
	for i, db := range []struct {
		people *repository.Repository[NamedPerson]
		tasks  *repository.Repository[NamedTask]
		keeper *denorm.Keeper
	}{{in.People, in.Tasks, in.Keeper}, {in.People2, in.Tasks2, in.Keeper2}} {
		ada := &NamedPerson{Name: "Ada"}
		if err := db.people.In("acme").Create(ctx, ada); err != nil {
			t.Fatal(err)
		}
		task := &NamedTask{AssigneeID: ada.Ref()}
		if err := db.tasks.In("acme").Create(ctx, task); err != nil {
			t.Fatal(err)
		}
		ada.Name = "Ada Lovelace"
		if err := db.people.In("acme").Replace(ctx, ada); err != nil {
			t.Fatal(err)
		}
		if err := db.keeper.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		got, err := db.tasks.In("acme").Get(ctx, task.ID)
		if err != nil || got.AssigneeName != "Ada Lovelace" {
			t.Errorf("database %d: %+v, %v", i, got, err)
		}
	}
}
