package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type Note struct {
	tenantitem.TenantItem[Note]
	Title string `json:"title"`
}

type Comment struct {
	parented.ParentedItem[Comment, Note]
	Body string `json:"body"`
}

// bundle is a database of notes, whose comments keep them from being deleted.
type bundle struct {
	emulator *emulatortest.Emulator
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
}

func setup(t testing.TB) *bundle {
	t.Helper()
	e := emulatortest.New(t)
	client := e.Client(repository.ClientOptions(&azcosmos.ClientOptions{}))
	plan, err := registry.NewPlan(registry.Config{Database: emulatortest.DatabaseID(t, client, "httpapi"), Provision: true, Logger: slog.New(slog.DiscardHandler)},
		[]registry.Declaration{registry.EntityOf[Note](), registry.ChildOf[Comment, Note](parented.Restrict)})
	check(t, err)
	db, err := registry.Open(client, plan)
	check(t, err)
	check(t, db.Prepare(t.Context()))
	b := &bundle{emulator: e}
	b.notes, err = registry.RepositoryOf[Note](db)
	check(t, err)
	b.comments, err = registry.ChildrenOf[Comment, Note](db)
	check(t, err)
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// exampleTB lets an Example use what tests use: it fails by panicking, and
// what was made is closed by the returned function.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func exampleSetup() (*bundle, func()) {
	e := &exampleTB{}
	return setup(e), func() {
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
