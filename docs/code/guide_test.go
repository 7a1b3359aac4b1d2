package code

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// snippet: wire
// Module is the service's data: what is stored, and where.
var Module = fx.Options(
	registry.Module(registry.Config{
		Database:  "notes",
		Provision: true, // creates what is missing
		Containers: []registry.Container{{
			ID:           "lookups",
			PartitionKey: []string{"/tenantId", "/lookupType"},
		}},
	}),
	registry.Entity[Person](),
	registry.Entity[Note](),
	registry.Child[Comment, Note](parented.Cascade),
	registry.Entity[LookupValue](registry.In("lookups")),
)

// end snippet

// snippet: run
func run(ctx context.Context) (err error) {
	var (
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
	)
	app := fx.New(
		fx.Provide(func() (*azcosmos.Client, error) { return registry.NewClient(ctx, registry.ClientConfig{}) }),
		Module,
		fx.Populate(&notes, &comments),
	)
	if err := app.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Stop(context.WithoutCancel(ctx))) }()
	return serve(ctx, notes, comments)
}

// end snippet

func serve(ctx context.Context, notes *repository.Repository[Note], comments *parented.Repository[Comment, Note]) error {
	note := &Note{Title: "served"}
	if err := notes.In("acme").Create(ctx, note); err != nil {
		return err
	}
	return comments.Under(note).Create(ctx, &Comment{Body: "first"})
}

// It reads the environment, so it runs alone.
func TestRun(t *testing.T) {
	server := emulatortest.Serve(t)
	t.Setenv("COSMOS_CONNECTION_STRING", "")
	t.Setenv("COSMOS_ENDPOINT", server.Endpoint())
	t.Setenv("COSMOS_KEY", server.Key())
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// service is the application of the guide over an account of the test's own.
type service struct {
	emu      *emulatortest.Emulator
	client   *azcosmos.Client
	people   *repository.Repository[Person]
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	lookups  *repository.Repository[LookupValue]
	tenants  *registry.Tenants
}

func setup(t *testing.T, more ...fx.Option) *service {
	t.Helper()
	return setupOn(t, nil, more...)
}

// setupOn is setup on an account with these options.
func setupOn(t *testing.T, account []emulatortest.Option, more ...fx.Option) *service {
	t.Helper()
	s := &service{}
	s.emu = emulatortest.FX(t, fx.Options(
		Module,
		fx.Options(more...),
		fx.Populate(&s.client, &s.people, &s.notes, &s.comments, &s.lookups),
	), account...)
	return s
}

func note(t *testing.T, acme *repository.Scope[Note], title string, stars int, tags ...string) *Note {
	t.Helper()
	n := &Note{Title: title, Stars: stars, Tags: tags}
	if err := acme.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBindATenant(t *testing.T) {
	t.Parallel()
	s := setup(t)
	notes, lookups, ctx := s.notes, s.lookups, t.Context()
	// snippet: scopes
	acme := notes.In("acme")                 // the full default key: every verb works
	reds := lookups.In("acme", "color")      // the full key of a container with its own
	all := lookups.In("acme")                // a prefix: queries only
	ctx = repository.WithTenant(ctx, "acme") // in the middleware: any other tenant's scope now fails
	// end snippet
	red := &LookupValue{Label: "red"}
	if err := errors.Join(acme.Create(ctx, &Note{}), reds.Create(ctx, red)); err != nil {
		t.Fatal(err)
	}
	if n, err := all.Count(ctx, repository.All()); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := all.Get(ctx, red.ID); !errors.Is(err, repository.ErrInvalid) {
		t.Error("a point read of a prefix: ", err)
	}
	if _, err := notes.In("globex").Get(ctx, "x"); !errors.Is(err, repository.ErrTenantMismatch) {
		t.Error("another tenant's scope: ", err)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	ctx, acme := t.Context(), setup(t).notes.In("acme")
	b := note(t, acme, "b", 1)
	c := note(t, acme, "c", 1)
	id := note(t, acme, "Draft", 1).ID
	a, many := &Note{Title: "a"}, []*Note{{Title: "d"}, {Title: "e"}}
	write := func() (n *Note, receipt *repository.Receipt, err error) {
		// snippet: write
		if _, err = acme.Mutate(ctx, id, func(n *Note) error { n.Stars++; return nil }); err != nil {
			return nil, nil, err
		}
		n, err = acme.Patch(ctx, id, repository.Set("/title", "Final").If(repository.Eq("title", "Draft")))
		if err != nil {
			return nil, nil, err
		}
		err = acme.Batch().Create(a).Replace(b).Delete(c.ID, c.ETag).Commit(ctx) // all or none, up to 100 in one partition
		if err != nil {
			return nil, nil, err
		}
		receipt, err = acme.SaveAll(ctx, slices.Values(many), nil) // any number, a receipt for each
		// end snippet
		return n, receipt, err
	}
	n, receipt, err := write()
	if err != nil {
		t.Fatal(err)
	}
	if n.Title != "Final" || n.Stars != 2 || receipt.Succeeded != 2 {
		t.Error(n.Title, n.Stars, receipt)
	}
}

type Card struct {
	Title string `json:"title"`
}

func TestRead(t *testing.T) {
	t.Parallel()
	ctx, acme := t.Context(), setup(t).notes.In("acme")
	var ids []string
	for i := range 30 {
		ids = append(ids, note(t, acme, fmt.Sprint("note ", i), i, "go").ID)
	}
	id := ids[0]
	read := func() error {
		// snippet: get
		n, err := acme.Get(ctx, id) // a point read, the cheapest request there is
		if err != nil {
			return err
		}
		many, err := acme.GetMany(ctx, ids...) // one request, in the order of the ids
		var missing *repository.MissingError
		if errors.As(err, &missing) {
			err = nil // the others are in many; missing names the ids that are not there
		}
		// end snippet
		if err != nil {
			return err
		}
		if n.ID != ids[0] || len(many) != 30 {
			t.Error(n.ID, len(many))
		}
		// snippet: query
		best := repository.Where(repository.Contains("tags", "go"), repository.Gt("stars", 3)).OrderByDesc("stars")
		for n, err := range acme.Query(ctx, best.Limit(10)) { // nothing is sent before the loop
			if err != nil {
				return err // an error of the service comes once and ends it
			}
			fmt.Println(n.Title)
		}
		matching, err := acme.Count(ctx, best)
		if err != nil {
			return err
		}
		for card, err := range repository.Project[Card](ctx, &acme.Reader, best) { // only the members of Card
			if err != nil {
				return err
			}
			fmt.Println(card.Title)
		}
		long := repository.SQL("ARRAY_LENGTH(c.tags) > @n", repository.P("n", 2))
		// end snippet
		if n, err := acme.Count(ctx, long); n != 0 || err != nil {
			t.Error(n, err)
		}
		if matching != 26 {
			t.Error(matching)
		}
		// snippet: page
		cursor := "" // the request's, empty for the first page
		page, err := acme.Page(ctx, best, repository.PageOptions{Size: 25, Cursor: cursor})
		if err != nil {
			return err
		}
		cursor = page.Cursor // for the link to the next page; empty when there is none
		// end snippet
		if len(page.Items) != 25 || cursor == "" {
			t.Error(len(page.Items), cursor)
		}
		return nil
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if _, err := acme.GetMany(ctx, id, "nowhere"); !errors.Is(err, repository.ErrNotFound) {
		t.Error(err)
	}
}

// snippet: errors
func respond(err error) (status int, say string) {
	var conflict *repository.ConflictError[Note]
	switch {
	case err == nil:
		return 200, ""
	case errors.Is(err, repository.ErrAmbiguous): // first: it wraps what became of the last attempt
		return 504, "sent, and no answer: read before you repeat it"
	case errors.As(err, &conflict):
		return 412, "changed meanwhile; now: " + conflict.Current.Title
	case errors.Is(err, repository.ErrPreconditionFailed):
		return 412, "changed meanwhile"
	case errors.Is(err, repository.ErrNotFound), errors.Is(err, repository.ErrEntityMismatch):
		return 404, "not there, or a document of another type"
	case errors.Is(err, repository.ErrConflict):
		return 409, "there already"
	case errors.Is(err, repository.ErrHasChildren), errors.Is(err, repository.ErrReferenced):
		return 409, "others belong to it or refer to it"
	case errors.Is(err, repository.ErrDanglingRef):
		return 409, "what it refers to is gone"
	case errors.Is(err, repository.ErrTenantMismatch):
		return 403, "another tenant's"
	case errors.Is(err, repository.ErrTooLarge): // before ErrInvalid: it can be both
		return 413, "too large"
	case errors.Is(err, repository.ErrInvalid), errors.Is(err, repository.ErrUnsupported):
		return 400, "bad input; nothing was sent"
	case errors.Is(err, repository.ErrBudget):
		return 422, "too expensive: ask for less"
	case errors.Is(err, repository.ErrThrottled):
		return 429, "later"
	case repository.IsRetryable(err):
		return 503, "later"
	default:
		return 500, "our fault"
	}
}

// end snippet

func TestHandleErrors(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), setup(t)
	acme := s.notes.In("acme")
	n := note(t, acme, "first", 1)
	stale := *n
	if err := acme.Save(ctx, n); err != nil {
		t.Fatal(err)
	}
	twice := &Note{}
	twice.ID = n.ID
	_, missing := acme.Get(ctx, "nowhere")
	_, foreign := s.notes.In("globex").Get(repository.WithTenant(ctx, "acme"), n.ID)
	budget, _ := repository.WithBudget(ctx, 0.5)
	_, first := acme.Get(budget, n.ID)
	_, second := acme.Get(budget, n.ID)
	for status, err := range map[int]error{412: acme.Save(ctx, &stale), 409: acme.Create(ctx, twice), 404: missing, 403: foreign,
		400: acme.Create(ctx, &Note{Title: "\xff"}), 200: first, 422: second} {
		if got, say := respond(err); got != status {
			t.Errorf("%v: %d %s, want %d", err, got, say, status)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	acme := setup(t).notes.In("acme")
	n := note(t, acme, "first", 1)
	cost := func(ctx context.Context, log *slog.Logger) error {
		// snippet: cost
		ctx, tally := repository.WithBudget(ctx, 500) // ErrBudget once 500 RU are used up; WithTally only counts
		if _, err := acme.Get(ctx, n.ID); err != nil {
			return err
		}
		log.InfoContext(ctx, "done", "requests", tally.Requests(), "requestUnits", tally.RequestUnits())
		// end snippet
		if tally.Requests() != 1 {
			t.Error(tally.Requests())
		}
		return nil
	}
	if err := cost(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

func TestFollowChanges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	note(t, s.notes.In("acme"), "first", 1)
	documents, err := s.client.NewContainer("notes", "documents")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	follow := func() error {
		// snippet: watch
		for change, err := range changefeed.Watch(ctx, documents, changefeed.WatchOptions{StartFrom: changefeed.Beginning()}) {
			if err != nil {
				return err
			}
			fmt.Println(change.ID)
			// end snippet
			seen++
			cancel()
		}
		return nil
	}
	if err := follow(); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("nothing was seen")
	}
}

// snippet: test
func TestListingNotesIsCheap(t *testing.T) {
	t.Parallel()
	var notes *repository.Repository[Note]
	emu := emulatortest.FX(t, fx.Options(Module, fx.Populate(&notes))) // a fresh account in this process
	acme := notes.In("acme")
	if err := acme.Create(t.Context(), &Note{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	emulatortest.AssertSinglePartition(t, emu, func(ctx context.Context) {
		if _, err := acme.Page(ctx, repository.All(), repository.PageOptions{Size: 25}); err != nil {
			t.Error(err)
		}
	})
}

// end snippet
