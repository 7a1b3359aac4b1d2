package registry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

func supply(client *azcosmos.Client) fx.Option {
	return fx.Provide(func() *azcosmos.Client { return client })
}

func TestApplication(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	requests := account.Requests()
	var (
		notes   *repository.Repository[Note]
		lookups *repository.Repository[Lookup]
		db      *registry.Database
		startup bytes.Buffer
	)
	cfg := sharedConfig(emulatortest.DatabaseID(t, account.Client(nil), "registry"))
	cfg.Logger = slog.New(slog.NewTextHandler(&startup, nil))
	app := fxtest.New(t,
		supply(account.Client(nil)),
		registry.Module(cfg),
		registry.Entity[Note](registry.Named("note", "Memo")),
		registry.Entity[Lookup](registry.In("lookups")),
		fx.Populate(&notes, &lookups, &db),
	)
	if log := requests.Since(0); len(log) != 0 {
		t.Errorf("%d requests before the start", len(log))
	}
	app.RequireStart()
	defer app.RequireStop()

	note := &Note{Title: "first"}
	must(t, notes.In("acme").Create(t.Context(), note))
	if note.EntityType != "note" {
		t.Errorf("it is stored as %q", note.EntityType)
	}
	must(t, lookups.In("acme", "color").Create(t.Context(), &Lookup{}))
	if got := lookups.Container().ID(); got != "lookups" {
		t.Errorf("lookups live in %q", got)
	}
	must(t, db.Health(t.Context()))
	if same, ok := db.Container("documents"); !ok || same != notes.Container() {
		t.Error("the repository does not share its container's client")
	}
	for _, part := range []string{"created database", "container=documents", "container=lookups"} {
		if !strings.Contains(startup.String(), part) {
			t.Errorf("the log does not say %q:\n%s", part, &startup)
		}
	}
}

func TestApplicationWithoutFx(t *testing.T) {
	t.Parallel()
	clients := []*azcosmos.Client{newClient(t), newClient(t)}
	plan := newPlan(t, sharedConfig(emulatortest.DatabaseID(t, clients[0], "registry")), registry.EntityOf[Note](), registry.EntityOf[Lookup](registry.In("lookups")))
	for _, client := range clients { // one plan serves any number of clients
		db, err := registry.Open(client, plan)
		must(t, err)
		must(t, db.Prepare(t.Context()))
		notes, err := registry.RepositoryOf[Note](db)
		must(t, err)
		must(t, notes.In("acme").Create(t.Context(), &Note{Title: "first"}))
		if _, err := registry.RepositoryOf[Person](db); err == nil || !strings.Contains(err.Error(), "registry.Entity[Person]()") {
			t.Errorf("an unregistered type: %v", err)
		}
	}
}

func TestApplicationThatCannotStart(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	tests := []struct {
		name    string
		options []fx.Option
		want    []string
	}{
		{"no client", []fx.Option{registry.Module(registry.Config{Database: "d"})}, []string{"*azcosmos.Client"}},
		{"a name twice", []fx.Option{supply(client), registry.Module(registry.Config{Database: "d"}), registry.Entity[Note](), registry.Entity[Person](registry.Named("Note"))}, []string{"registry.Entity[Note] (module_test.go:", "registry.Entity[Person] (module_test.go:"}},
		{"a type twice", []fx.Option{supply(client), registry.Module(registry.Config{Database: "d"}), registry.Entity[Note](), registry.Entity[Note]()}, []string{"RepositoryOf[", "Note]", "module_test.go", "already provided"}},
		{"a copy that nothing keeps", []fx.Option{supply(client), registry.Module(registry.Config{Database: "d"}), registry.Entity[Person](), registry.Entity[Task]()}, []string{"registry.Entity[Task]", "denorm.Module"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := fx.New(append(tc.options, fx.NopLogger)...).Err()
			if err == nil {
				t.Fatal("it can be wired")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestStartFailsOnDrift(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := emulatortest.DatabaseID(t, client, "registry")
	old := sharedConfig(id)
	old.Containers[0].PartitionKey = nil
	_, err := registry.Provision(t.Context(), client, newPlan(t, old))
	must(t, err)
	app := fx.New(fx.NopLogger, supply(client), registry.Module(sharedConfig(id)), registry.Entity[Lookup](registry.In("lookups")))
	must(t, app.Err())
	err = app.Start(t.Context())
	var drift *registry.DriftError
	if !errors.As(err, &drift) || drift.Differences[0].Property != "partition key" {
		t.Errorf("got %v", err)
	}
	must(t, app.Stop(t.Context()))
}

func TestExtensionsSeeEveryEntityType(t *testing.T) {
	t.Parallel()
	var seen []string
	client := newClient(t)
	app := fxtest.New(t,
		supply(client),
		registry.Module(registry.Config{Database: emulatortest.DatabaseID(t, client, "registry"), Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Person](), registry.Entity[Task](), registry.Entity[Note](),
		fx.Provide(fx.Annotate(func() registry.Extension {
			return extension(catalogue.Extension{
				Name:         "watcher",
				ServesCopies: true,
				Containers:   []catalogue.Container{{ID: "leases", PartitionKey: []string{"/id"}, By: "watcher"}},
				Open: func(db catalogue.Source) error {
					for _, s := range catalogue.Entities(db) {
						if err := s.Collection.SetValidator(engine.OwnerCopies, engine.ValidatorFunc(func(_ context.Context, tenant string, entities []any) error {
							seen = append(seen, tenant+"/"+s.EntityType)
							return nil
						})); err != nil {
							return err
						}
					}
					opened, isDatabase := db.(*registry.Database)
					if !isDatabase {
						return errors.New("no database")
					}
					_, ok := opened.Container("leases")
					if !ok {
						return errors.New("no container for leases")
					}
					return nil
				},
			})
		}, fx.ResultTags(catalogue.ExtensionGroup))),
		fx.Invoke(func(lc fx.Lifecycle, people *repository.Repository[Person]) {
			// The database is ready before the hooks of those who use it.
			lc.Append(fx.StartHook(func(ctx context.Context) error { return people.In("acme").Create(ctx, &Person{Name: "Ada"}) }))
		}),
	)
	app.RequireStart().RequireStop()
	if len(seen) != 1 || seen[0] != "acme/Person" {
		t.Errorf("seen %q", seen)
	}
}

// A process dies in the middle of a delete; the next one that starts, or one
// that runs already, finishes it.
func TestUpkeepFinishesDeletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := emulatortest.New(t)
		faults := account.Faults()
		cfg := registry.Config{Database: "d", Provision: true, Logger: slog.New(slog.DiscardHandler)}
		plan := newPlan(t, cfg, registry.EntityOf[Note](), registry.ChildOf[Comment, Note](parented.Cascade))
		db, err := registry.Open(account.Client(nil), plan)
		must(t, err)
		must(t, db.Prepare(t.Context()))
		notes, err := registry.RepositoryOf[Note](db)
		must(t, err)
		comments, err := registry.ChildrenOf[Comment, Note](db)
		must(t, err)
		die := func() { // after the mark, before anything is removed
			note := &Note{Title: "to go"}
			must(t, notes.In("acme").Create(t.Context(), note))
			must(t, comments.Under(note).Create(t.Context(), &Comment{Body: "to go too"}))
			broken := faults.Add(emulator.Answer(http.StatusBadRequest, 0).On(emulator.TransactionalBatch).Nth(2).Keep())
			if err := notes.In("acme").Delete(t.Context(), note.ID, nil); err == nil {
				t.Error("the delete was not interrupted")
			}
			broken.Disarm()
		}
		left := func() int64 {
			n, err := comments.In("acme").Count(t.Context(), repository.All())
			must(t, err)
			return n
		}
		die()
		if left() != 1 {
			t.Fatalf("%d comments after the first interruption", left())
		}
		app := fxtest.New(t, supply(account.Client(nil)), registry.Module(cfg), registry.Entity[Note](), registry.Child[Comment, Note](parented.Cascade))
		app.RequireStart()
		defer app.RequireStop()
		synctest.Wait()
		if left() != 0 {
			t.Errorf("%d comments after the next start", left())
		}
		die()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if left() != 0 {
			t.Errorf("%d comments after the next round", left())
		}
	})
}

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	clock := account.Clock()
	cfg := registry.Config{Database: "d", Containers: []registry.Container{{ID: "plain", DefaultTTL: registry.TTLOff}}}
	plan := newPlan(t, cfg, registry.EntityOf[Note](registry.TTL(time.Minute)), registry.EntityOf[Person](registry.In("plain")))
	db, err := registry.Open(account.Client(nil), plan)
	must(t, err)
	_, err = registry.Provision(t.Context(), db.Client(), plan)
	must(t, err)
	notes, err := registry.RepositoryOf[Note](db)
	must(t, err)
	people, err := registry.RepositoryOf[Person](db)
	must(t, err)

	brief, kept := &Note{Title: "brief"}, &Note{Title: "kept"}
	kept.TTL = new(-1)
	must(t, notes.In("acme").Create(t.Context(), brief))
	must(t, notes.In("acme").Create(t.Context(), kept))
	clock.Advance(2 * time.Minute)
	if _, err := notes.In("acme").Get(t.Context(), brief.ID); !errors.Is(err, repository.ErrNotFound) {
		t.Errorf("after its time: %v", err)
	}
	if _, err := notes.In("acme").Get(t.Context(), kept.ID); err != nil {
		t.Errorf("the one that is kept: %v", err)
	}

	mortal := &Person{Name: "Ada"}
	mortal.TTL = new(60)
	if err := people.In("acme").Create(t.Context(), mortal); !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), `"plain" is off`) {
		t.Errorf("a ttl that would do nothing: %v", err)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	faults := account.Faults()
	client := account.Client(nil)
	db, err := registry.Open(client, newPlan(t, sharedConfig(emulatortest.DatabaseID(t, client, "registry"))))
	must(t, err)
	if err := db.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("without its database: %v", err)
	}
	must(t, db.Prepare(t.Context()))
	must(t, db.Health(t.Context()))
	faults.Add(emulator.Answer(http.StatusUnauthorized, 0).On(emulator.ReadContainer))
	if err := db.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("without its key: %v", err)
	}
}

func TestChildren(t *testing.T) {
	t.Parallel()
	var (
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
		replies  *parented.Repository[Reply, Comment]
	)
	client := newClient(t)
	app := fxtest.New(t,
		supply(client),
		registry.Module(registry.Config{Database: emulatortest.DatabaseID(t, client, "registry"), Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Child[Reply, Comment](parented.Cascade),
		registry.Child[Comment, Note](parented.Cascade),
		registry.Entity[Note](),
		fx.Populate(&notes, &comments, &replies),
	)
	app.RequireStart()
	defer app.RequireStop()

	note := &Note{Title: "first"}
	must(t, notes.In("acme").Create(t.Context(), note))
	comment := &Comment{Body: "a comment"}
	must(t, comments.Under(note).Create(t.Context(), comment))
	reply := &Reply{Body: "a reply"}
	must(t, replies.Under(comment).Create(t.Context(), reply))

	must(t, notes.In("acme").Delete(t.Context(), note.ID, nil))
	if _, err := replies.In("acme").Get(t.Context(), reply.ID); !errors.Is(err, repository.ErrNotFound) {
		t.Errorf("the reply after its note was deleted: %v", err)
	}
}

// Mark is a small child without a base.
type Mark struct {
	Text string `json:"text"`
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	var (
		notes *repository.Repository[Note]
		marks *parented.Buckets[Mark, Note]
		db    *registry.Database
	)
	client := newClient(t)
	app := fxtest.New(t,
		supply(client),
		registry.Module(registry.Config{Database: emulatortest.DatabaseID(t, client, "registry"), Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Note](),
		registry.Buckets[Mark, Note](parented.Cascade, registry.Capacity(2)),
		fx.Populate(&notes, &marks, &db),
	)
	app.RequireStart()
	defer app.RequireStop()

	note := &Note{Title: "first"}
	must(t, notes.In("acme").Create(t.Context(), note))
	for _, text := range []string{"a", "b", "c"} {
		_, err := marks.Under(note).Append(t.Context(), Mark{Text: text})
		must(t, err)
	}
	documents := marks.Documents().In("acme")
	if n, err := documents.Count(t.Context(), repository.All()); err != nil || n != 2 {
		t.Errorf("%d documents for three marks (%v)", n, err)
	}
	must(t, notes.In("acme").Delete(t.Context(), note.ID, nil))
	if n, err := documents.Count(t.Context(), repository.All()); err != nil || n != 0 {
		t.Errorf("%d documents after their note was deleted (%v)", n, err)
	}
	if got := marks.Documents().EntityType(); got != "Mark" {
		t.Errorf("they are stored as %q", got)
	}
	if _, err := registry.BucketsOf[Note, Note](db); err == nil || !strings.Contains(err.Error(), "registry.Buckets[Note, Note](rule)") {
		t.Errorf("buckets that were not registered: %v", err)
	}
}
