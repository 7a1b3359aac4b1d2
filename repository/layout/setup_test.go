package layout_test

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Ticket stands in containers that another team has made.
type Ticket struct {
	tenantitem.TenantItem[Ticket]
	Title  string `json:"title"`
	Opened string `json:"opened"`
}

// newTicket is a ticket with an id of the application's own.
func newTicket(id, opened string) *Ticket {
	t := &Ticket{Title: "It is dark", Opened: opened}
	t.ID = id
	return t
}

// ticketsIn makes a container with that partition key, as another team would, and opens it.
func ticketsIn(key string, l layout.Layout) (tickets *repository.Repository[Ticket], container *azcosmos.ContainerClient, done func()) {
	ctx := context.Background()
	service, err := emulator.New(emulator.Options{})
	check(err)
	credential, err := azcosmos.NewKeyCredential(service.Key())
	check(err)
	account, err := tenantitem.NewID() // the SDK shares caches between the clients of one endpoint
	check(err)
	options := repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
	client, err := azcosmos.NewClientWithKey("https://"+account+".emulator.localhost/", credential, options)
	check(err)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "theirs"}, nil)
	check(err)
	database, err := client.NewDatabase("theirs")
	check(err)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "tickets", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{key}},
	}, nil)
	check(err)
	container, err = database.NewContainer("tickets")
	check(err)
	tickets, err = repository.New[Ticket](container, repository.Config{PartitionKey: []string{key}, Layout: &l})
	check(err)
	return tickets, container, func() { client.Close(); check(service.Close()) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
