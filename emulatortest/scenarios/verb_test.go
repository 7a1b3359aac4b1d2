package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type Note struct {
	tenantitem.TenantItem[Note]
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
	Count int64    `json:"count"`
}

// notesOf is the notes of a tenant as a process of its own sees them.
func notesOf(w *emulatortest.World) *repository.Scope[Note] {
	container, err := w.Client(repository.ClientOptions(nil)).NewContainer("db", "main")
	must(w, err)
	notes, err := repository.New[Note](container, repository.Config{})
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

// setupNotes leaves notes a, b and c.
func setupNotes(w *emulatortest.World) {
	ctx := w.Context()
	client := w.Client(nil)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil)
	must(w, err)
	db, err := client.NewDatabase("db")
	must(w, err)
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "main",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: repository.DefaultPartitionKey(), Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		},
	}, nil)
	must(w, err)
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

// verb is one call; have are the notes as they were read before it.
type verb struct {
	name string
	do   func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error
}

func verbs() []verb {
	return []verb{
		{"Create", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Create(ctx, note("new", "new", 1))
		}},
		{"Create without an id", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Create(ctx, &Note{Title: "new"})
		}},
		{"Replace", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = "changed"
			return notes.Replace(ctx, have["a"])
		}},
		{"Save, new", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Save(ctx, note("new", "new", 1))
		}},
		{"Save, changed", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = "changed"
			return notes.Save(ctx, have["a"])
		}},
		{"Upsert, new", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Upsert(ctx, note("new", "new", 1))
		}},
		{"Upsert, over another", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Upsert(ctx, note("a", "put", 1))
		}},
		{"Mutate", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Mutate(ctx, "a", func(n *Note) error { n.Count++; return nil })
			return err
		}},
		{"Patch, set", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Set("/title", "patched"))
			return err
		}},
		{"Patch, increment", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Increment("/count", 1))
			return err
		}},
		{"Patch, conditional", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Set("/title", "patched").If(repository.Eq("title", "old a")))
			return err
		}},
		{"Delete", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Delete(ctx, "a", nil)
		}},
		{"Delete with an etag", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			return notes.Delete(ctx, "a", &repository.DeleteOptions{ETag: have["a"].ETag})
		}},
		{"Batch", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["b"].Title = "changed"
			return notes.Batch().Create(note("new", "new", 1)).Replace(have["b"]).Delete("c", have["c"].ETag).Commit(ctx)
		}},
		{"Batch of patches", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Batch().Patch("a", repository.Increment("/count", 1)).Patch("b", repository.Increment("/count", 1)).Commit(ctx)
		}},
	}
}

// TestVerbsAreTrue: an error that is not ErrAmbiguous means that nothing was changed, and success that the change was made
// once, whatever becomes of a verb's requests.
func TestVerbsAreTrue(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			explore(t, trueVerb(v))
		})
	}
}

// trueVerb compares what is there with what was there before the verb and with what an undisturbed run left.
func trueVerb(v verb) emulatortest.Scenario {
	var before, after []string
	return emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupNotes(w)
			var err error
			before, err = contents(w)
			must(w, err)
		},
		Actors: []emulatortest.Actor{{Name: "caller", Do: func(w *emulatortest.World) error {
			notes, have := notesOf(w), map[string]*Note{}
			w.Undisturbed(func() {
				for n, err := range notes.Query(w.Context(), repository.All()) {
					must(w, err)
					have[n.ID] = n
				}
			})
			return v.do(w.Context(), notes, have)
		}}},
		Check: func(w *emulatortest.World) error {
			now, err := contents(w)
			if err != nil {
				return err
			}
			now = withoutRandomIDs(now)
			if after == nil { // undisturbed
				after = now
			}
			told := w.Outcome("caller")
			unchanged, changed := slices.Equal(now, before), slices.Equal(now, after)
			switch {
			case told == nil && !changed:
				return fmt.Errorf("%s succeeded, and left\n  %s\ninstead of\n  %s", v.name, strings.Join(now, "\n  "), strings.Join(after, "\n  "))
			case !unchanged && !changed:
				return fmt.Errorf("%s returned %w, and left\n  %s\nwhich is neither what was there nor\n  %s", v.name, told, strings.Join(now, "\n  "), strings.Join(after, "\n  "))
			case told != nil && !errors.Is(told, emulatortest.ErrKilled) && !errors.Is(told, repository.ErrAmbiguous) && !unchanged:
				return fmt.Errorf("%s failed definitely (%w), and the change is there", v.name, told)
			}
			return nil
		},
	}
}

// withoutRandomIDs takes the ids that Grove made out of the lines.
func withoutRandomIDs(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		id, rest, _ := strings.Cut(line, " ")
		if len(id) > 30 {
			id = "id"
		}
		out[i] = id + " " + rest
	}
	slices.Sort(out)
	return out
}

// explore tries every fault at every request and every overtaking. Pairs of faults and further orders, which take longer, are
// tried when EXPLORE names a budget, as CI does.
func explore(t *testing.T, s emulatortest.Scenario) {
	t.Helper()
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond})
}
