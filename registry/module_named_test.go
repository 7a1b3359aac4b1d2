package registry_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

func quietConfig(database, name string) registry.Config {
	return registry.Config{Database: database, Name: name, Provision: true, Logger: slog.New(slog.DiscardHandler)}
}

// twoDatabases are the results of one application.
type twoDatabases struct {
	fx.In

	Notes    *repository.Repository[Note]
	Archived *repository.Repository[Note]        `name:"archive"`
	Comments *parented.Repository[Comment, Note] `name:"archive"`
	People   *repository.Repository[Person]      `name:"people"`
	DB       *registry.Database
	Archive  *registry.Database `name:"archive"`
	Tenants  *registry.Tenants  `name:"archive"`
	Forest   *parented.Forest   `name:"people"`
}

// One program with three databases: two in one account, with the same Go type
// in both, and one in another account.
func TestSeveralDatabasesAndAccountsInOneApplication(t *testing.T) {
	t.Parallel()
	first, second := emulatortest.New(t), emulatortest.New(t)
	var in twoDatabases
	app := fxtest.New(t,
		fx.NopLogger,
		supply(first.Client(nil)),
		fx.Provide(fx.Annotate(func() *azcosmos.Client { return second.Client(nil) }, fx.ResultTags(`name:"people"`))),
		registry.Module(quietConfig("main", "")),
		registry.Module(quietConfig("archive", "archive")),
		registry.Module(quietConfig("main", "people")),
		registry.Entity[Note](),
		registry.Entity[Note](registry.Of("archive")),
		registry.Child[Comment, Note](parented.Cascade, registry.Of("archive")),
		registry.Entity[Person](registry.Of("people")),
		fx.Invoke(func(p twoDatabases) { in = p }),
	)
	app.RequireStart()
	defer app.RequireStop()
	ctx := t.Context()
	must(t, in.Notes.In("acme").Create(ctx, &Note{Title: "current"}))
	old := &Note{Title: "old"}
	must(t, in.Archived.In("acme").Create(ctx, old))
	must(t, in.Comments.Under(old).Create(ctx, &Comment{Body: "still there"}))
	must(t, in.People.In("acme").Create(ctx, &Person{Name: "Ada"}))
	if in.DB.Client() != in.Archive.Client() || in.Archive.Plan().Database() != "archive" {
		t.Error("the archive is not a database of the first account")
	}
	for want, repo := range map[string]*repository.Repository[Note]{"current": in.Notes, "old": in.Archived} {
		note, err := repo.In("acme").First(ctx, repository.All())
		if err != nil || note.Title != want {
			t.Errorf("%v, %v; want %q", note, err, want)
		}
	}
	erased, err := in.Tenants.Erase(ctx, "acme", nil)
	must(t, err)
	if fmt.Sprint(erased.Removed) != "map[Comment:1 Note:1]" {
		t.Errorf("erased from the archive: %v", erased.Removed)
	}
	if n, err := in.Notes.In("acme").Count(ctx, repository.All()); err != nil || n != 1 {
		t.Errorf("%d current notes after the archive was erased, %v", n, err)
	}
}

func TestANamedModuleThatIsNotThere(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for name, tc := range map[string]struct {
		options fx.Option
		want    string
	}{
		"no such module":      {fx.Options(registry.Module(quietConfig("d", "")), registry.Entity[Note](registry.Of("billing"))), `name="billing"`},
		"a name twice":        {fx.Options(registry.Module(quietConfig("d", "billing")), registry.Module(quietConfig("e", "billing"))), "already provided"},
		"a name that is none": {registry.Module(quietConfig("d", "a\"b")), "its name is"},
		"a wrong plan":        {fx.Options(registry.Module(quietConfig("d", "billing")), registry.Entity[Task](registry.Of("billing"))), "denorm.Module"},
	} {
		err := fx.New(fx.NopLogger, supply(client), tc.options).Err()
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two databases in one application: the second one's module has a name, and so
// has everything that it provides.
func ExampleOf() {
	app := fx.New(
		fx.NopLogger,
		fx.Provide(exampleClient),
		registry.Module(registry.Config{Database: "notes", Provision: true, Logger: quiet()}),
		registry.Module(registry.Config{Database: "archive", Name: "archive", Provision: true, Logger: quiet()}),
		registry.Entity[Note](),
		registry.Entity[Note](registry.Of("archive")),
		fx.Invoke(fx.Annotate(func(lc fx.Lifecycle, notes, archive *repository.Repository[Note]) {
			lc.Append(fx.StartHook(func(ctx context.Context) error {
				fmt.Println(notes.Container().ID(), archive.Container().ID(), notes != archive)
				return archive.In("acme").Create(ctx, &Note{Title: "kept"})
			}))
		}, fx.ParamTags("", "", `name:"archive"`))),
	)
	ctx := context.Background()
	if err := app.Start(ctx); err != nil {
		log.Fatal(err)
	}
	if err := app.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: documents documents true
}
