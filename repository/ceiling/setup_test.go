package ceiling_test

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Note is what the examples store.
type Note struct {
	tenantitem.TenantItem[Note]
	Title string `json:"title"`
}

// exampleNotes opens a container in an account of the example's own.
func exampleNotes(cfg repository.Config) *repository.Repository[Note] {
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
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "notes"}, nil)
	check(err)
	database, err := client.NewDatabase("notes")
	check(err)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "documents", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
	}}, nil)
	check(err)
	container, err := database.NewContainer("documents")
	check(err)
	notes, err := repository.New[Note](container, cfg)
	check(err)
	return notes
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
