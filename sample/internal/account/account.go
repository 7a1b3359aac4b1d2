// Package account gives the sample its database: an embedded one, or the
// account that the environment names.
package account

import (
	"context"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
)

// Account is where the sample works.
type Account struct {
	// Client is of the account; whoever opened it closes it.
	Client *azcosmos.Client
	// Name says which it is.
	Name string
	// Embedded is an account that ends with the program.
	Embedded bool
	// Meter counts every request of the client, in the background too.
	Meter *Meter
}

// Open makes a client of the account that the environment names, or of an
// embedded one when it names none.
func Open(ctx context.Context, getenv func(string) string) (*Account, error) {
	a := &Account{Meter: &Meter{}}
	options := azcore.ClientOptions{PerRetryPolicies: []policy.Policy{a.Meter}}
	cfg := registry.ClientConfig{Getenv: getenv}
	if getenv("COSMOS_ENDPOINT") == "" && getenv("COSMOS_CONNECTION_STRING") == "" {
		service, err := emulator.New(emulator.Options{})
		if err != nil {
			return nil, fmt.Errorf("start the embedded account: %w", err)
		}
		a.Name, a.Embedded = "an embedded account", true
		cfg.Endpoint, cfg.Key = "https://embedded.emulator.localhost/", service.Key()
		options.Transport = service
	}
	cfg.Options = &azcosmos.ClientOptions{ClientOptions: options}
	var err error
	if a.Client, err = registry.NewClient(ctx, cfg); err != nil {
		return nil, err
	}
	if !a.Embedded {
		a.Name = a.Client.Endpoint()
	}
	return a, nil
}

// Client is the client of [Open] for the process's own environment, as fx
// takes it.
func Client() (*azcosmos.Client, error) {
	a, err := Open(context.Background(), os.Getenv)
	if err != nil {
		return nil, err
	}
	return a.Client, nil
}
