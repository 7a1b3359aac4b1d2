package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/registry"
)

// client makes the client of the account that the environment names.
func client() (*azcosmos.Client, error) {
	return registry.NewClient(context.Background(), registry.ClientConfig{})
}
