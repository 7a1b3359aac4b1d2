package scenarios_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type Note struct {
	tenantitem.TenantItem[Note]
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
	Count int64    `json:"count"`
	City  string   `json:"city"` // where it is a part of the key
}

// form is the layout of a run's documents; Grove's own unless Setup says otherwise.
type form struct{ layout *layout.Layout }

// notesOf is the notes of a tenant as a process of its own sees them.
func notesOf(w *emulatortest.World) *repository.Scope[Note] {
	notes, err := repository.New[Note](containerOf(w, "main"), repository.Config{Layout: emulatortest.State[form](w).layout})
	must(w, err)
	return notes.In("acme")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func note(id, title string, count int64) *Note {
	n := &Note{Title: title, Count: count}
	n.ID = id
	return n
}

// createContainer makes a container, and its database before the first.
func createContainer(w *emulatortest.World, id string, properties azcosmos.ContainerProperties, key ...string) {
	ctx := w.Context()
	client := w.Client(nil)
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil); err != nil {
		var answer *azcore.ResponseError
		if !errors.As(err, &answer) || answer.StatusCode != http.StatusConflict {
			w.Fatal(err)
		}
	}
	db, err := client.NewDatabase("db")
	must(w, err)
	createIn(w, db, properties, id, key...)
}

func createIn(w *emulatortest.World, db *azcosmos.DatabaseClient, properties azcosmos.ContainerProperties, id string, key ...string) {
	kind := azcosmos.PartitionKeyKindMultiHash
	if len(key) == 1 {
		kind = azcosmos.PartitionKeyKindHash
	}
	properties.ID = id
	properties.PartitionKeyDefinition = azcosmos.PartitionKeyDefinition{Paths: key, Kind: kind, Version: 2}
	_, err := db.CreateContainer(w.Context(), properties, nil)
	must(w, err)
}

// containerOf is a container as a new client sees it.
func containerOf(w *emulatortest.World, id string) *azcosmos.ContainerClient {
	container, err := w.Client(repository.ClientOptions(nil)).NewContainer("db", id)
	must(w, err)
	return container
}

// setupNotes leaves notes a, b and c.
func setupNotes(w *emulatortest.World) {
	ctx := w.Context()
	createContainer(w, "main", azcosmos.ContainerProperties{}, []string{"/tenantId", "/entityType"}...)
	notes := notesOf(w)
	for i, id := range []string{"a", "b", "c"} {
		must(w, notes.Create(ctx, note(id, "old "+id, int64(10*i))))
	}
}

// contents is what a reader of the notes sees, a line for each.
func contents(w *emulatortest.World) ([]string, error) {
	var lines []string
	for n, err := range notesOf(w).Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%s %q %d %v", n.ID, n.Title, n.Count, n.Tags))
	}
	slices.Sort(lines)
	return lines, nil
}

// explore tries every fault at every request and every overtaking. Pairs of faults and further orders, which take longer, are
// tried when EXPLORE names a budget, as CI does.
func explore(t *testing.T, s emulatortest.Scenario) {
	t.Helper()
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond})
}

// inFull says whether all cases are explored, as CI does and as a replay may need, or what fits into go test.
func inFull() bool { return os.Getenv("EXPLORE") != "" || os.Getenv("EXPLORE_SEED") != "" }

// exploreWith is explore where Check has to notice what is broken in one of these ways: for scenarios that make a write that was forgotten
// again.
func exploreWith(t *testing.T, s emulatortest.Scenario, sabotage map[string]func(w *emulatortest.World)) {
	t.Helper()
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Sabotage: sabotage})
}

// kindsOf are the kinds of faults whose names begin so.
func kindsOf(prefixes ...string) []emulatortest.FaultKind {
	return slices.DeleteFunc(emulatortest.FaultKinds(), func(k emulatortest.FaultKind) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(k.Name, prefix) })
	})
}
