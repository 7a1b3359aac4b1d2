package registry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cosmosgrove/grove/registry"
)

// The zero ClientConfig takes the account from the environment, and without a
// key the process's Entra identity. Printed, it shows no secret.
func ExampleNewClient() {
	cfg := registry.ClientConfig{Endpoint: "https://name.documents.azure.com/", Key: "c2VjcmV0IGtleQ==", ReadyTimeout: -1}
	client, err := registry.NewClient(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.Endpoint())
	fmt.Println(cfg)
	// Output:
	// https://name.documents.azure.com/
	// ClientConfig{Endpoint:https://name.documents.azure.com/ Key:[redacted] ReadyTimeout:-1ns}
}
