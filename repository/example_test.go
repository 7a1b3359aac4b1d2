package repository_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// exampleTB lets an Example use what tests use: it fails by panicking, and
// what was made is closed by the returned function.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func exampleTest() (testing.TB, func()) {
	e := &exampleTB{}
	return e, func() {
		for i := len(e.cleanups) - 1; i >= 0; i-- {
			e.cleanups[i]()
		}
	}
}

func (e *exampleTB) Context() context.Context  { return context.Background() }
func (e *exampleTB) Helper()                   {}
func (e *exampleTB) Cleanup(f func())          { e.cleanups = append(e.cleanups, f) }
func (e *exampleTB) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (e *exampleTB) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (e *exampleTB) Errorf(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) }
func (e *exampleTB) Skipf(f string, a ...any)  { panic(fmt.Sprintf(f, a...)) }

// exampleNotes gives a tenant's notes in an account of the example's own.
func exampleNotes() (acme *repository.Scope[Note], done func()) {
	t, done := exampleTest()
	return setupNotes(t).acme, done
}

// exampleScopeAndContainer gives the container too, through which another
// program writes.
func exampleScopeAndContainer() (acme *repository.Scope[Note], container *azcosmos.ContainerClient, done func()) {
	t, done := exampleTest()
	b := setupNotes(t)
	return b.acme, b.container, done
}

// exampleKeptNotes are notes that are kept for a while once they are deleted.
func exampleKeptNotes() (acme *repository.Scope[Note], done func()) {
	t, done := exampleTest()
	plan, err := registry.NewPlan(registry.Config{Database: "kept", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{
		registry.EntityOf[Note](registry.SoftDelete(30 * 24 * time.Hour)),
	})
	must(t, err)
	e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	db, err := registry.Open(e.Client(nil), plan)
	must(t, err)
	must(t, db.Prepare(t.Context()))
	notes, err := registry.RepositoryOf[Note](db)
	must(t, err)
	return notes.In("acme"), done
}
