package ceiling_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/ceiling"
)

// A ceiling for all tenants together, one for each tenant, and a higher one for
// a tenant that pays for it.
func Example() {
	bound, err := ceiling.New(ceiling.Config{Total: 4000, PerTenant: 500, Tenants: map[string]float64{"acme": 2000}})
	if err != nil {
		log.Fatal(err)
	}
	notes := exampleNotes(repository.Config{Ceiling: bound}) // or registry.Config{Ceiling: bound}
	ctx := context.Background()
	if err := notes.In("acme").Create(ctx, &Note{Title: "first"}); err != nil {
		log.Fatal(err)
	}
	if _, err := notes.In("globex").Exists(ctx, "anything"); err != nil {
		log.Fatal(err)
	}
	spent := bound.Use()
	fmt.Println(spent["acme"].RequestUnits > spent["globex"].RequestUnits, spent["globex"].Requests)
	// Output: true 1
}

// A nightly job keeps to a ceiling of its own, besides that of its tenants.
func ExampleWith() {
	notes := exampleNotes(repository.Config{})
	nightly, err := ceiling.New(ceiling.Config{Total: 100})
	if err != nil {
		log.Fatal(err)
	}
	ctx := ceiling.With(context.Background(), nightly)
	_, err = notes.In("acme").Count(ctx, repository.All())
	fmt.Println(nightly.Use()["acme"].Requests, err)
	// Output: 1 <nil>
}

// Work whose turn does not come in time fails without having been sent.
func ExampleCeiling() {
	slow, err := ceiling.New(ceiling.Config{PerTenant: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	acme := exampleNotes(repository.Config{Ceiling: slow}).In("acme")
	fmt.Println(acme.Create(context.Background(), &Note{Title: "about 6 RU at once"}))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err = acme.Create(ctx, &Note{Title: "has to wait for minutes"})
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, repository.ErrAmbiguous))

	use := slow.Use()["acme"]
	fmt.Println(use.Requests, "requests were sent")
	// Output:
	// <nil>
	// true false
	// 1 requests were sent
}

// An import that gives way to users where the throughput is used up.
func ExampleWithThroughput() {
	ctx := ceiling.WithThroughput(context.Background(), azcosmos.PriorityLevelLow, 2)
	notes := exampleNotes(repository.Config{})
	fmt.Println(notes.In("acme").Create(ctx, &Note{Title: "imported"}))
	// Output: <nil>
}
