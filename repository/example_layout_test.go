package repository_test

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Ticket struct {
	tenantitem.TenantItem[Ticket]
	Title  string `json:"title"`
	Opened string `json:"opened"`
}

// ticketsIn makes a container as another team would, and opens it.
func ticketsIn(key string, layout layout.Layout) (*repository.Repository[Ticket], *azcosmos.ContainerClient, func()) {
	tb, done := exampleTest()
	ctx := context.Background()
	client := emulatortest.Client(tb)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "theirs"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	database, err := client.NewDatabase("theirs")
	if err != nil {
		log.Fatal(err)
	}
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "tickets", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{key}}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	container, err := client.NewContainer("theirs", "tickets")
	if err != nil {
		log.Fatal(err)
	}
	tickets, err := repository.New[Ticket](container, repository.Config{PartitionKey: []string{key}, Layout: &layout})
	if err != nil {
		log.Fatal(err)
	}
	return tickets, container, done
}

func withID(id string) tenantitem.TenantItem[Ticket] {
	return tenantitem.TenantItem[Ticket]{Meta: tenantitem.Meta{ID: id}}
}

func ExampleRepositoryOf_Global() {
	ctx := context.Background()
	tickets, _, done := ticketsIn("/kind", layout.Layout{
		Key:     []layout.KeySource{layout.Constant("ticket")},
		Untyped: layout.AllUntyped,
		Global:  true,
	})
	defer done()
	if err := tickets.Global().Create(ctx, &Ticket{TenantItem: withID("1"), Title: "It is dark"}); err != nil {
		log.Fatal(err)
	}
	ticket, err := tickets.Global().Get(ctx, "1")
	if err != nil {
		log.Fatal(err)
	}
	_, err = tickets.Global().Get(repository.WithTenant(ctx, "acme"), "1")
	fmt.Printf("%s %q %v\n", ticket.Title, ticket.TenantID, err != nil)
	// Output: It is dark "" true
}

func ExampleRepositoryOf_Decode() {
	tickets, _, done := ticketsIn("/org", layout.Layout{Names: map[string]string{"tenantId": "org"}})
	defer done()
	ticket, err := tickets.Decode([]byte(`{"id":"1","org":"acme","entityType":"Ticket","title":"It is dark"}`))
	if err != nil {
		log.Fatal(err)
	}
	_, err = tickets.Decode([]byte(`{"id":"2","org":"acme","entityType":"Person"}`))
	fmt.Println(ticket.TenantID, ticket.Title, err != nil)
	// Output: acme It is dark true
}
