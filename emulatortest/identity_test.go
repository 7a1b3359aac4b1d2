package emulatortest_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// A client whose identity has the reader's role of one container reads it, and nothing else.
func TestIdentityOfANarrowRole(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t, emulatortest.WithIdentity(emulator.DataReader("/dbs/shop/colls/orders")))
	if _, err := emu.KeyClient(nil).CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "shop"}, nil); err != nil {
		t.Fatal(err)
	}
	shop, err := emu.KeyClient(nil).NewDatabase("shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"orders", "customers"} {
		if _, err := shop.CreateContainer(t.Context(), azcosmos.ContainerProperties{
			ID: id, PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/customer"}},
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	key := azcosmos.NewPartitionKeyString("c1")
	writer := emu.ClientWithRoles(nil, emulator.DataContributor("/dbs/shop"))
	orders := containerOf(t, writer, "orders")
	if _, err := orders.CreateItem(t.Context(), key, []byte(`{"id":"1","customer":"c1"}`), nil); err != nil {
		t.Fatal(err)
	}

	reader := emu.Client(nil)
	orders = containerOf(t, reader, "orders")
	if _, err := orders.ReadItem(t.Context(), key, "1", nil); err != nil {
		t.Error(err)
	}
	if _, err := orders.NewQueryItemsPager("SELECT * FROM c", key, nil).NextPage(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := orders.Read(t.Context(), nil); err != nil {
		t.Error(err)
	}
	_, err = orders.ReadThroughput(t.Context(), nil)
	wantForbidden(t, "reading the throughput", err)
	_, err = orders.CreateItem(t.Context(), key, []byte(`{"id":"2","customer":"c1"}`), nil)
	wantForbidden(t, "writing", err)
	_, err = containerOf(t, reader, "customers").ReadItem(t.Context(), key, "1", nil)
	wantForbidden(t, "reading another container", err)
	_, err = reader.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "x"}, nil)
	wantForbidden(t, "creating a database", err)
}

func containerOf(t *testing.T, client *azcosmos.Client, id string) *azcosmos.ContainerClient {
	t.Helper()
	container, err := client.NewContainer("shop", id)
	if err != nil {
		t.Fatal(err)
	}
	return container
}

func wantForbidden(t *testing.T, what string, err error) {
	t.Helper()
	var refusal *azcore.ResponseError
	if !errors.As(err, &refusal) || refusal.StatusCode != http.StatusForbidden {
		t.Errorf("%s: %v", what, err)
	}
}
