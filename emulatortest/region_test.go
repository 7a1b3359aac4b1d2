package emulatortest_test

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// The SDK reads in the region that it prefers, writes in the one that takes writes, and follows a failover.
func TestTheSDKUsesRegions(t *testing.T) {
	t.Parallel()
	clock := emulator.NewClockAt(time.Now())
	emu := emulatortest.New(t, emulatortest.WithRegions("East US", "West Europe"), emulatortest.WithClock(clock),
		emulatortest.WithRegionLag(time.Second), emulatortest.WithClientOptions(azcosmos.ClientOptions{PreferredRegions: []string{"West Europe"}}))
	client := emu.Client(nil)
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "shop"}, nil); err != nil {
		t.Fatal(err)
	}
	shop, err := client.NewDatabase("shop")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shop.CreateContainer(t.Context(), azcosmos.ContainerProperties{
		ID: "orders", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/customer"}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	orders, key := containerOf(t, client, "orders"), azcosmos.NewPartitionKeyString("c1")
	if _, err := orders.CreateItem(t.Context(), key, []byte(`{"id":"1","customer":"c1"}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := orders.ReadItem(t.Context(), key, "1", nil); !isStatus(err, 404) {
		t.Errorf("a read in a region that is behind: %v", err)
	}
	clock.Advance(time.Second)
	if _, err := orders.ReadItem(t.Context(), key, "1", nil); err != nil {
		t.Error(err)
	}
	if err := emu.Service().Failover("Mars"); err == nil {
		t.Error("a failover to no region")
	}
	if err := emu.Service().Failover("West Europe"); err != nil {
		t.Fatal(err)
	}
	other := emu.Client(nil) // one that reads the account anew
	if _, err := containerOf(t, other, "orders").CreateItem(t.Context(), key, []byte(`{"id":"2","customer":"c1"}`), nil); err != nil {
		t.Error(err)
	}
}

func isStatus(err error, status int) bool {
	refusal, ok := err.(*azcore.ResponseError) //nolint:errorlint // the SDK returns it as it is
	return ok && refusal.StatusCode == status
}
