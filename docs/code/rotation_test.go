package code

import (
	"context"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
)

func TestRotation(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it replaces the account's key")
	server := emulatortest.Serve(t)
	rotate := func(ctx context.Context, endpoint, secret, newSecret string) error {
		// snippet: rotate
		key, err := registry.NewAccountKey(secret)
		if err != nil {
			return err
		}
		client, err := registry.NewClient(ctx, registry.ClientConfig{Endpoint: endpoint, AccountKey: key})
		if err != nil {
			return err
		}
		// When the vault, the file or the operator says so:
		err = key.Replace(newSecret)
		// end snippet
		defer client.Close()
		return err
	}
	if err := rotate(t.Context(), server.Endpoint(), server.Key(), server.Key()); err != nil {
		t.Fatal(err)
	}
}
