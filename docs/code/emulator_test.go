package code

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// snippet: client
func TestAccount(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t) // *azcosmos.Client of a fresh, empty account
	name := emulatortest.DatabaseID(t, client, "notes")
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: name}, nil); err != nil {
		t.Fatal(err)
	}
}

// end snippet

func TestHandle(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it sets faults, the clock and partitions")
	created := func(client *azcosmos.Client) *azcosmos.ContainerClient {
		ctx := t.Context()
		if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil); err != nil {
			t.Fatal(err)
		}
		database, err := client.NewDatabase("db")
		if err != nil {
			t.Fatal(err)
		}
		_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "items",
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		items, err := database.NewContainer("items")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := items.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme"), []byte(`{"id":"1","tenantId":"acme"}`), nil); err != nil {
			t.Fatal(err)
		}
		return items
	}
	// snippet: handle
	emu := emulatortest.New(t, emulatortest.WithPartitions(4))
	items := created(emu.Client(nil)) // a container of database "db" with one item

	emulatortest.AssertPointRead(t, emu, func(ctx context.Context) { // one point read and nothing else
		if _, err := items.ReadItem(ctx, azcosmos.NewPartitionKeyString("acme"), "1", nil); err != nil {
			t.Error(err)
		}
	})
	emu.Fault(emulator.Cut().On(emulator.CreateItem).AfterEffect()) // the next one is written, its answer lost
	emu.Clock().Advance(time.Hour)                                  // what has a time to live expires
	emu.Split("db", "items", "0")                                   // 410/1002 for whoever names range 0
	// end snippet
}
