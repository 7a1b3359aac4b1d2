// Package account gives the sample its database: an embedded one, or the
// account that the environment names.
package account

import (
	"context"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
)

// Open returns a client and words that say of what.
func Open(ctx context.Context, getenv func(string) string) (client *azcosmos.Client, where string, err error) {
	cfg := registry.ClientConfig{Getenv: getenv}
	where = "a real account"
	if getenv("COSMOS_ENDPOINT") == "" && getenv("COSMOS_CONNECTION_STRING") == "" {
		service, err := emulator.New(emulator.Options{})
		if err != nil {
			return nil, "", fmt.Errorf("start the embedded database: %w", err)
		}
		cfg.Endpoint, cfg.Key = "https://embedded.emulator.localhost/", service.Key()
		cfg.Options = &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}}
		where = "an embedded database"
	}
	client, err = registry.NewClient(ctx, cfg)
	if err != nil {
		return nil, "", err
	}
	if where == "a real account" {
		where = client.Endpoint()
	}
	return client, where, nil
}

// Client is Open with the process's own environment, as fx takes it.
func Client() (*azcosmos.Client, error) {
	client, _, err := Open(context.Background(), os.Getenv)
	return client, err
}
