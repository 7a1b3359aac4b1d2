package denorm_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// assertion remembers what an assertion said.
type assertion struct {
	testing.TB
	said string
}

func (a *assertion) Helper()                      {}
func (a *assertion) Errorf(f string, args ...any) { a.said = fmt.Sprintf(f, args...) }

// A thousand times beside a keeper that follows changes without a pause, the cost of a read is that of the read, and a second query is noticed.
func TestCostAssertionsWhileTheKeeperWorks(t *testing.T) {
	t.Parallel()
	var authors *repository.Repository[Author]
	var books *repository.Repository[Book]
	e := emulatortest.FX(t, fx.Options(
		fx.Supply(denorm.Config{Processor: changefeed.Config{PollInterval: time.Millisecond}}),
		registry.Module(registry.Config{Database: "library", Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Author](), registry.Entity[Book](), denorm.Module,
		fx.Populate(&authors, &books),
	), emulatortest.Calm()) // its requests are counted
	ctx, scope := t.Context(), books.In("acme")
	editor := &Author{Name: "Ada"}
	editor.ID = "ada"
	if err := authors.In("acme").Create(ctx, editor); err != nil {
		t.Fatal(err)
	}
	book := &Book{Title: "Notes", EditorID: "ada"}
	if err := scope.Create(ctx, book); err != nil {
		t.Fatal(err)
	}

	renaming, stop := context.WithCancel(ctx)
	var writer sync.WaitGroup
	writer.Go(func() { // the keeper has something to do
		for i := 0; renaming.Err() == nil; i++ {
			_, err := authors.In("acme").Mutate(renaming, "ada", func(a *Author) error { a.Name = fmt.Sprint("Ada ", i); return nil })
			if err != nil && renaming.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	defer writer.Wait()
	defer stop()
	get := func(ctx context.Context) {
		if _, err := scope.Get(ctx, book.ID); err != nil {
			t.Error(err)
		}
	}
	query := func(ctx context.Context) {
		if _, err := scope.Count(ctx, repository.All()); err != nil {
			t.Error(err)
		}
	}
	before := e.Requests().Mark()
	for run := range 1000 {
		emulatortest.AssertPointRead(t, e, get)
		emulatortest.AssertSinglePartition(t, e, query)
		a := &assertion{TB: t}
		emulatortest.AssertPointRead(a, e, func(ctx context.Context) { get(ctx); query(ctx) })
		if a.said == "" {
			t.Fatalf("run %d: a second query was not noticed", run)
		}
		if t.Failed() {
			t.Fatalf("in run %d", run)
		}
	}
	const own = 4 * 1000
	if all := len(e.Requests().Since(before)); all < own+1000 {
		t.Errorf("%d requests in all, %d of them the test's: nobody was at work beside it", all, own)
	}
}
