package code

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/ceiling"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestTenants(t *testing.T) {
	t.Parallel()
	var db *registry.Database
	s := setup(t, fx.Populate(&db))
	person := &Person{FirstName: "Ada"}
	if err := s.people.In("acme").Create(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	if err := s.notes.In("acme").Create(t.Context(), &Note{Title: "hers", OwnerID: person.Ref()}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	export := func(ctx context.Context, w io.Writer) error {
		// snippet: export
		exported, err := db.Tenants().Export(ctx, "acme", w, &registry.ExportOptions{Gzip: true})
		// end snippet
		fmt.Println(exported)
		return err
	}
	if err := export(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	report := func(registry.ImportedLine) {}
	restore := func(ctx context.Context, file io.Reader) error {
		// snippet: import
		imported, err := db.Tenants().Import(ctx, "acme", file, &registry.ImportOptions{RequestUnitsPerSecond: 1000, Line: report})
		// end snippet
		fmt.Println(imported)
		return err
	}
	if err := restore(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	erase := func(ctx context.Context) error {
		tenants := db.Tenants()
		// snippet: person
		mine := registry.RefersTo(person.ID)              // the person, and whatever has the id as the text of a member
		plan, err := tenants.PlanErase(ctx, "acme", mine) // counts and ids; changes nothing
		if err != nil {
			return err
		}
		certificate, err := tenants.Erase(ctx, "acme", &registry.EraseOptions{Where: mine})
		// end snippet
		fmt.Println(plan, certificate)
		return err
	}
	if err := erase(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.notes.In("acme").Count(t.Context(), repository.All()); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func TestCeiling(t *testing.T) {
	t.Parallel()
	start := func() error {
		// snippet: ceiling
		bound, err := ceiling.New(ceiling.Config{Total: 4000, PerTenant: 500, Tenants: map[string]float64{"acme": 2000}})
		if err != nil {
			return err
		}
		module := registry.Module(registry.Config{Database: "notes", Provision: true, Ceiling: bound})
		// end snippet
		var people *repository.Repository[Person]
		emulatortest.FX(t, fx.Options(module, registry.Entity[Person](), fx.Populate(&people)))
		return people.In("acme").Create(t.Context(), &Person{FirstName: "Ada"})
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
}

type Bill struct {
	tenantitem.TenantItem[Bill]
	Cents int `json:"cents"`
}

func TestTwoDatabases(t *testing.T) {
	t.Parallel()
	var bills *repository.Repository[Bill]
	emu := emulatortest.New(t)
	newBillingClient := func() *azcosmos.Client { return emu.Client(nil) }
	// snippet: databases
	application := fx.Options(
		fx.Provide(fx.Annotate(newBillingClient, fx.ResultTags(`name:"billing"`))), // or none: then it takes the client without a name
		registry.Module(registry.Config{Database: "notes", Provision: true}),
		registry.Module(registry.Config{Database: "billing", Name: "billing", Provision: true}),
		registry.Entity[Person](),
		registry.Entity[Note](),
		registry.Entity[Bill](registry.Of("billing")),
		denorm.Module,
		denorm.NamedModule("billing"), // where its entities have copies
	)
	// end snippet
	emulatortest.FX(t, fx.Options(application,
		fx.Invoke(fx.Annotate(func(r *repository.Repository[Bill]) { bills = r }, fx.ParamTags(`name:"billing"`)))))
	if err := bills.In("acme").Create(t.Context(), &Bill{Cents: 100}); err != nil {
		t.Fatal(err)
	}
}
