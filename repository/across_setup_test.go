package repository_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Lookup is an entity type whose container is keyed by tenant and lookup type, so
// that a tenant alone is a prefix of the key.
type Lookup struct {
	tenantitem.TenantItem[Lookup]
	LookupType string  `json:"lookupType"`
	Name       string  `json:"name"`
	Rank       int     `json:"rank"`
	Score      float64 `json:"score,omitempty"`
	// Mixed holds whatever the test wrote there.
	Mixed any `json:"mixed,omitempty"`
}

// lookupBundle is an account with room for lookups in several layouts.
type lookupBundle struct {
	emulator *emulatortest.Emulator
	db       *azcosmos.DatabaseClient
}

func setupLookups(t *testing.T, opts ...emulatortest.Option) *lookupBundle {
	t.Helper()
	opts = append([]emulatortest.Option{emulatortest.WithClientOptions(*repository.ClientOptions(nil))}, opts...)
	e := emulatortest.New(t, opts...)
	client := e.Client(nil)
	id := emulatortest.DatabaseID(t, client, "db")
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: id}, nil); err != nil {
		t.Fatal(err)
	}
	db, err := client.NewDatabase(id)
	if err != nil {
		t.Fatal(err)
	}
	return &lookupBundle{emulator: e, db: db}
}

// fataler is the part that *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// container makes a container whose composite indexes serve the sorts by two
// fields that the tests use.
func (b *lookupBundle) container(ctx contextSource, t fataler, id string, paths ...string) *azcosmos.ContainerClient {
	t.Helper()
	composite := func(first, second azcosmos.CompositeIndexOrder) []azcosmos.CompositeIndex {
		return []azcosmos.CompositeIndex{{Path: "/rank", Order: first}, {Path: "/name", Order: second}}
	}
	_, err := b.db.CreateContainer(ctx.Context(), azcosmos.ContainerProperties{
		ID:                     id,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Version: 2},
		IndexingPolicy: &azcosmos.IndexingPolicy{
			Automatic:     true,
			IndexingMode:  azcosmos.IndexingModeConsistent,
			IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}},
			CompositeIndexes: [][]azcosmos.CompositeIndex{
				composite(azcosmos.CompositeIndexAscending, azcosmos.CompositeIndexAscending),
				composite(azcosmos.CompositeIndexDescending, azcosmos.CompositeIndexAscending),
			},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	container, err := b.db.NewContainer(id)
	if err != nil {
		t.Fatal(err)
	}
	return container
}

func (b *lookupBundle) lookups(ctx contextSource, t fataler, id string, paths ...string) *repository.Repository[Lookup] {
	t.Helper()
	repo, err := repository.New[Lookup](b.container(ctx, t, id, paths...), repository.Config{PartitionKey: paths})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// rawLookup is a document as a foreign writer stores it: members may be
// missing or of any type.
type rawLookup map[string]any

func newLookup(n int, tenant, lookupType string) rawLookup {
	return rawLookup{"id": fmt.Sprintf("%03d", n), "tenantId": tenant, "entityType": "Lookup", "lookupType": lookupType, "name": fmt.Sprintf("n%03d", n), "rank": 0}
}

// store writes documents around the repository, in order, and tells the repository of them: what it reads is not older.
func store(ctx contextSource, t fataler, repo *repository.Repository[Lookup], levels []string, docs ...rawLookup) {
	t.Helper()
	for _, doc := range docs {
		body, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		key := azcosmos.NewPartitionKey()
		for _, level := range levels {
			key = key.AppendString(doc[level].(string))
		}
		stored, err := createPatiently(ctx.Context(), repo.Container(), key, body)
		if err != nil {
			t.Fatal(err)
		}
		engine.CollectionOf(repo).Saw(*stored.SessionToken)
	}
}

// createPatiently creates an item without Grove; 449 asks the client to send it again, which the SDK leaves to its user.
func createPatiently(ctx context.Context, container *azcosmos.ContainerClient, key azcosmos.PartitionKey, body []byte) (azcosmos.ItemResponse, error) {
	for {
		stored, err := container.CreateItem(ctx, key, body, nil)
		var answer *azcore.ResponseError
		if !errors.As(err, &answer) || answer.StatusCode != 449 {
			return stored, err
		}
	}
}

// ids are the documents' ids, and their place among documents of the same id.
func ids(docs []*Lookup) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.TenantID + "/" + d.LookupType + "/" + d.ID
	}
	return out
}
