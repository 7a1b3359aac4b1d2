package parented_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// rawInto writes a document around Grove.
func rawInto(t testing.TB, g grove, entityType string, members map[string]any) {
	t.Helper()
	container, err := g.database.NewContainer("items")
	must(t, err)
	doc := map[string]any{"id": "x", "tenantId": "acme", "entityType": entityType, "body": "odd"}
	for k, v := range members {
		doc[k] = v
	}
	raw, err := json.Marshal(doc)
	must(t, err)
	_, err = container.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("acme").AppendString(entityType), raw, nil)
	must(t, err)
}

// A child whose parentId is no text names nobody. A sweep leaves it, and what is below it.
func TestASweepTakesNoChildOfNobody(t *testing.T) {
	t.Parallel()
	for name, parent := range map[string]any{"null": nil, "number": 5, "object": map[string]any{"id": "a"}, "false": false, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			g := plant(t, planting{client: e.Client(nil)})
			rawInto(t, g, "Comment", map[string]any{"parentId": parent})
			rawInto(t, g, "Reply", map[string]any{"parentId": "x"})
			e.Clock().Advance(time.Hour)
			before := g.stored(t, "acme")
			swept, err := g.forest.Sweep(t.Context(), "acme", nil)
			if after := g.stored(t, "acme"); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("before the sweep %v, after it %v; it said %v, %v", before, after, swept, err)
			}
		})
	}
}

// Documents that another program has written into a tree, before or after its soft delete: whatever they hold, no verb panics or goes on without end.
func TestMalformedDocumentsInATree(t *testing.T) {
	t.Parallel()
	odd := map[string]map[string]any{
		"hidden without a journal":   {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1},
		"hidden, journal a text":     {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1, "_deletion": "x"},
		"hidden, unknown phase":      {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1, "_deletion": map[string]any{"phase": "zzz"}},
		"hidden, phase 5":            {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1, "_deletion": map[string]any{"phase": 5}},
		"live":                       {"parentId": "a"},
		"live, retained journal":     {"parentId": "a", "_deletion": map[string]any{"phase": "retained", "run": "q"}},
		"live, journal text":         {"parentId": "a", "_deletion": "x"},
		"deciding without run":       {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1, "_deletion": map[string]any{"phase": "deciding"}},
		"reopening":                  {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1, "_deletion": map[string]any{"phase": "reopening"}},
		"returning":                  {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": -1, "_deletion": map[string]any{"phase": "returning"}},
		"retained without run":       {"parentId": "a", "deletedAt": "2020-01-01T00:00:00Z", "ttl": 1000, "_deletion": map[string]any{"phase": "retained"}},
		"live, deletedAt null":       {"parentId": "a", "deletedAt": nil},
		"live, deletedAt empty":      {"parentId": "a", "deletedAt": ""},
		"deletedAt number, ttl -1":   {"parentId": "a", "deletedAt": 5, "ttl": -1},
		"deletedAt null, ttl -1":     {"parentId": "a", "deletedAt": nil, "ttl": -1},
		"deletedAt null, ttl -1, no": {"parentId": "gone", "deletedAt": nil, "ttl": -1},
	}
	for name, members := range odd {
		for _, when := range []string{"before", "after"} {
			for _, verb := range []string{"sweep", "restore", "purge", "resume", "upsert", "create", "delete x", "restore x"} {
				for _, entityType := range []string{"Comment", "Label"} {
					t.Run(name+"/"+when+"/"+verb+"/"+entityType, func(t *testing.T) {
						t.Parallel()
						ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
						defer cancel()
						e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
						soft := parented.Policy{Retain: 24 * time.Hour}
						g := plant(t, planting{client: e.Client(nil), note: soft, child: soft, vote: parented.Cascade})
						n := &Note{}
						n.ID = "a"
						must(t, g.notes.In("acme").Create(ctx, n))
						if when == "before" {
							rawInto(t, g, entityType, members)
						}
						_ = g.notes.In("acme").Delete(ctx, "a", nil) // what is there may forbid it
						if when == "after" {
							rawInto(t, g, entityType, members)
						}
						e.Clock().Advance(time.Minute * 5)
						var err error
						switch verb {
						case "sweep":
							_, err = g.forest.Sweep(ctx, "acme", nil)
						case "restore":
							err = g.notes.In("acme").Restore(ctx, "a")
						case "purge":
							err = g.notes.In("acme").Purge(ctx, "a")
						case "resume":
							_, err = g.forest.Resume(ctx, "acme")
						case "delete x":
							err = g.comments.In("acme").Delete(ctx, "x", nil)
						case "restore x":
							err = g.comments.In("acme").Restore(ctx, "x")
						case "upsert":
							must(t, g.notes.In("acme").Restore(ctx, "a"))
							c := &Comment{}
							c.ID, c.ParentID = "x", "a"
							err = g.comments.In("acme").Upsert(ctx, c)
						case "create":
							_ = g.notes.In("acme").Restore(ctx, "a")
							c := &Comment{}
							c.ID, c.ParentID = "x", "a"
							err = g.comments.In("acme").Create(ctx, c)
						}
						if errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
					})
				}
			}
		}
	}
}
