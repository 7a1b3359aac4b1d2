package emulatortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/emulatortest"
)

// realEndpoint reports whether the environment names one.
func realEndpoint() bool {
	return os.Getenv("COSMOS_ENDPOINT")+os.Getenv("COSMOS_CONNECTION_STRING") != ""
}

func skipOnRealEndpoint(t testing.TB, reason string) {
	t.Helper()
	if realEndpoint() {
		t.Skip("the environment names a real endpoint: " + reason)
	}
}

// newContainer makes database "db" and a container "items" with the given key paths. A real endpoint, which tests share, gets
// a database of another name, deleted when the test ends.
func newContainer(t testing.TB, client *azcosmos.Client, paths ...string) *azcosmos.ContainerClient {
	t.Helper()
	ctx := t.Context()
	id := "db"
	if realEndpoint() {
		id = "grove-" + uuid.NewString()
	}
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil); err != nil {
		t.Fatalf("create the database: %v", err)
	}
	db, err := client.NewDatabase(id)
	if err != nil {
		t.Fatal(err)
	}
	if realEndpoint() {
		t.Cleanup(func() {
			if _, err := db.Delete(context.WithoutCancel(ctx), nil); err != nil {
				t.Errorf("delete the database: %v", err)
			}
		})
	}
	properties := azcosmos.ContainerProperties{
		ID:                     "items",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Version: 2},
	}
	if _, err := db.CreateContainer(ctx, properties, nil); err != nil {
		t.Fatalf("create the container: %v", err)
	}
	container, err := db.NewContainer("items")
	if err != nil {
		t.Fatal(err)
	}
	return container
}

func pk(levels ...string) azcosmos.PartitionKey {
	key := azcosmos.NewPartitionKey()
	for _, level := range levels {
		key = key.AppendString(level)
	}
	return key
}

func create(t testing.TB, c *azcosmos.ContainerClient, key azcosmos.PartitionKey, body string) azcosmos.ItemResponse {
	t.Helper()
	r, err := c.CreateItem(t.Context(), key, []byte(body), nil)
	if err != nil {
		t.Fatalf("create %s: %v", body, err)
	}
	return r
}

// wantStatus fails unless err is an answer of that status.
func wantStatus(t testing.TB, err error, status int) {
	t.Helper()
	_ = refusal(t, err, status)
}

// refusal is wantStatus for tests that look at the answer too.
func refusal(t testing.TB, err error, status int) *azcore.ResponseError {
	t.Helper()
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) || answer.StatusCode != status {
		t.Fatalf("want status %d, got %v", status, err)
	}
	return answer
}

func TestItemsThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newContainer(t, emulatortest.Client(t), "/tenantId", "/entityType")
	key := pk("acme", "Note")

	created := create(t, c, key, `{"id":"1","tenantId":"acme","entityType":"Note","n":1}`)
	if len(created.Value) != 0 || created.ETag == "" || created.SessionToken == nil || created.RequestCharge <= 0 {
		t.Errorf("create answered %d bytes, etag %q, charge %v", len(created.Value), created.ETag, created.RequestCharge)
	}
	read, err := c.ReadItem(ctx, key, "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		N    int    `json:"n"`
		ETag string `json:"_etag"`
		TS   int64  `json:"_ts"`
	}
	if err := json.Unmarshal(read.Value, &doc); err != nil || doc.N != 1 || doc.ETag != string(read.ETag) || doc.TS == 0 {
		t.Errorf("read %s (%v)", read.Value, err)
	}

	_, err = c.CreateItem(ctx, key, []byte(`{"id":"1","tenantId":"acme","entityType":"Note"}`), nil)
	wantStatus(t, err, http.StatusConflict)
	if _, err = c.ReplaceItem(ctx, key, "1", []byte(`{"id":"1","tenantId":"acme","entityType":"Note","n":2}`), nil); err != nil {
		t.Fatal(err)
	}
	_, err = c.ReplaceItem(ctx, key, "1", []byte(`{"id":"1","tenantId":"acme","entityType":"Note"}`),
		&azcosmos.ItemOptions{IfMatchEtag: &created.ETag})
	wantStatus(t, err, http.StatusPreconditionFailed)

	if _, err = c.DeleteItem(ctx, key, "1", nil); err != nil {
		t.Fatal(err)
	}
	_, err = c.ReadItem(ctx, key, "1", nil)
	wantStatus(t, err, http.StatusNotFound)
}

func TestAccountsAreApart(t *testing.T) {
	t.Parallel()
	skipOnRealEndpoint(t, "all clients share its account")
	one, other := emulatortest.Client(t), emulatortest.Client(t)
	newContainer(t, one, "/pk")
	db, err := other.NewDatabase("db")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Read(t.Context(), nil)
	wantStatus(t, err, http.StatusNotFound)
}

func TestClientKeepsToItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := emulatortest.Client(t).CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want the context's error, got %v", err)
	}
}
