package repository_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type Address struct {
	City string `json:"city"`
}

type Note struct {
	tenantitem.TenantItem[Note]
	Title   string   `json:"title"`
	Tags    []string `json:"tags,omitempty"`
	Count   int64    `json:"count"`
	Address *Address `json:"address,omitempty"`
}

// noteBundle is a fresh account with one container for notes.
type noteBundle struct {
	emulator  *emulatortest.Emulator
	client    *azcosmos.Client
	container *azcosmos.ContainerClient
	notes     *repository.Repository[Note]
	acme      *repository.Scope[Note]
}

func setupNotes(t testing.TB, opts ...emulatortest.Option) *noteBundle {
	t.Helper()
	opts = append([]emulatortest.Option{emulatortest.WithClientOptions(*repository.ClientOptions(nil))}, opts...)
	b := &noteBundle{emulator: emulatortest.New(t, opts...)}
	b.client = b.emulator.Client(nil)
	b.container = newContainer(t, b.client, []string{"/tenantId", "/entityType"}...)
	b.notes = newRepository(t, b.container, repository.Config{})
	b.acme = b.notes.In("acme")
	return b
}

// newContainer makes container "main" in a database, in process "db", with a partition key of those paths.
func newContainer(t testing.TB, client *azcosmos.Client, paths ...string) *azcosmos.ContainerClient {
	t.Helper()
	ctx := context.Background()
	id := emulatortest.DatabaseID(t, client, "db")
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	db, err := client.NewDatabase(id)
	must(t, err)
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "main",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	container, err := db.NewContainer("main")
	must(t, err)
	return container
}

func newRepository(t testing.TB, container *azcosmos.ContainerClient, cfg repository.Config) *repository.Repository[Note] {
	t.Helper()
	notes, err := repository.New[Note](container, cfg)
	must(t, err)
	return notes
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// notesFrom makes n notes titled by their index.
func notesFrom(n int) []*Note {
	out := make([]*Note, n)
	for i := range out {
		out[i] = &Note{Title: fmt.Sprintf("n%05d", i)}
	}
	return out
}
