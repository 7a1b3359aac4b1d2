package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// newClient gives the SDK's client of a service.
func newClient(service *emulator.Service) (*azcosmos.Client, error) {
	credential, err := azcosmos.NewKeyCredential(service.Key())
	if err != nil {
		return nil, err
	}
	options := &azcosmos.ClientOptions{}
	options.Transport = service
	options.Retry = policy.RetryOptions{MaxRetries: -1}
	return azcosmos.NewClientWithKey("https://example.localhost", credential, options)
}

// newContainer gives the SDK's client of a new container in that account.
func newContainer(ctx context.Context, service *emulator.Service) (*azcosmos.ContainerClient, error) {
	client, err := newClient(service)
	if err != nil {
		return nil, err
	}
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "notes"}, nil); err != nil {
		return nil, err
	}
	database, err := client.NewDatabase("notes")
	if err != nil {
		return nil, err
	}
	ttl := int32(-1)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "items",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId"}, Version: 2},
		DefaultTimeToLive:      &ttl,
	}, nil)
	if err != nil {
		return nil, err
	}
	return database.NewContainer("items")
}

func statusOf(err error) int {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode
	}
	return 0
}

// The service is the transport of an unchanged SDK client.
func ExampleNew() {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	items, err := newContainer(ctx, service)
	if err != nil {
		log.Fatal(err)
	}
	acme := azcosmos.NewPartitionKeyString("acme")
	if _, err := items.CreateItem(ctx, acme, []byte(`{"id":"1","tenantId":"acme","title":"first"}`), nil); err != nil {
		log.Fatal(err)
	}
	_, err = items.CreateItem(ctx, acme, []byte(`{"id":"1","tenantId":"acme","title":"again"}`), nil)
	fmt.Println(statusOf(err))
	// Output: 409
}

// A write whose answer is lost took effect all the same.
func ExampleCut() {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	items, err := newContainer(ctx, service)
	if err != nil {
		log.Fatal(err)
	}
	service.Faults().Add(emulator.Cut().On(emulator.CreateItem).AfterEffect())
	acme := azcosmos.NewPartitionKeyString("acme")
	_, err = items.CreateItem(ctx, acme, []byte(`{"id":"1","tenantId":"acme"}`), nil)
	fmt.Println("created:", err == nil)
	_, err = items.ReadItem(ctx, acme, "1", nil)
	fmt.Println("there:", err == nil)
	// Output:
	// created: false
	// there: true
}

// Throttle makes the third create ask for patience.
func ExampleThrottle() {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	items, err := newContainer(ctx, service)
	if err != nil {
		log.Fatal(err)
	}
	service.Faults().Add(emulator.Throttle(time.Second).On(emulator.CreateItem).Nth(3))
	for i := range 4 {
		item := fmt.Appendf(nil, `{"id":"%d","tenantId":"acme"}`, i)
		_, err := items.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme"), item, nil)
		fmt.Println(i, statusOf(err) == http.StatusTooManyRequests)
	}
	// Output:
	// 0 false
	// 1 false
	// 2 true
	// 3 false
}

// Turning the clock lets items expire.
func ExampleClock_Advance() {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	items, err := newContainer(ctx, service)
	if err != nil {
		log.Fatal(err)
	}
	acme := azcosmos.NewPartitionKeyString("acme")
	if _, err := items.CreateItem(ctx, acme, []byte(`{"id":"1","tenantId":"acme","ttl":3600}`), nil); err != nil {
		log.Fatal(err)
	}
	service.Clock().Advance(2 * time.Hour)
	_, err = items.ReadItem(ctx, acme, "1", nil)
	fmt.Println(statusOf(err))
	// Output: 404
}

// Splitting a physical partition gives two with new ids.
func ExampleService_Split() {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	if _, err := newContainer(ctx, service); err != nil {
		log.Fatal(err)
	}
	children, err := service.Split("notes", "items", "0")
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range children {
		fmt.Printf("%s %q %q %v\n", r.ID, r.MinInclusive, r.MaxExclusive, r.Parents)
	}
	// Output:
	// 1 "" "20000000000000000000000000000000" [0]
	// 2 "20000000000000000000000000000000" "FF" [0]
}

// The log tells what a client asked for and what it cost.
func ExampleLog() {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	items, err := newContainer(ctx, service)
	if err != nil {
		log.Fatal(err)
	}
	mark := service.Log().Mark()
	_, err = items.ReadItem(ctx, azcosmos.NewPartitionKeyString("acme"), "1", nil)
	fmt.Println(statusOf(err))
	for _, x := range service.Log().Since(mark) {
		fmt.Println(x.Operation, x.Item, x.Status, x.Charge)
	}
	// Output:
	// 404
	// read item 1 404 1
}

// A fork goes on from where its origin is, and neither sees what is written in the other.
func ExampleService_Fork() {
	ctx := context.Background()
	origin, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer origin.Close()
	if _, err := newContainer(ctx, origin); err != nil {
		log.Fatal(err)
	}
	acme := azcosmos.NewPartitionKeyString("acme")
	for _, title := range []string{"first", "second"} {
		fork := origin.Fork(emulator.ForkOptions{})
		client, err := newClient(fork)
		if err != nil {
			log.Fatal(err)
		}
		items, err := client.NewContainer("notes", "items")
		if err != nil {
			log.Fatal(err)
		}
		_, err = items.CreateItem(ctx, acme, fmt.Appendf(nil, `{"id":"1","tenantId":"acme","title":%q}`, title), nil)
		fmt.Println(title, "created:", err == nil)
	}
	// Output:
	// first created: true
	// second created: true
}
