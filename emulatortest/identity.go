package emulatortest

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// WithIdentity makes [Emulator.Client] give clients that sign in with an Entra ID token instead of the account key, of an identity that has
// these roles and no other. What such a client may not do is 403 with the service's words: making databases and containers among it, for
// which [Emulator.KeyClient] is.
func WithIdentity(roles ...emulator.Role) Option {
	return optionFunc(func(s *settings) {
		s.identity, s.roles = uuid.NewString(), roles
		s.needs("WithIdentity")
	})
}

// KeyClient gives a client that signs with the account key, whatever [WithIdentity] says. Its options are those of [Emulator.Client].
func (e *Emulator) KeyClient(o *azcosmos.ClientOptions) *azcosmos.Client {
	e.t.Helper()
	return newClient(e.t, e.endpoint, e.key, e.clientOptions(o))
}

// ClientWithRoles gives a client that signs in with an Entra ID token, of an identity that has these roles and no other; see [WithIdentity].
func (e *Emulator) ClientWithRoles(o *azcosmos.ClientOptions, roles ...emulator.Role) *azcosmos.Client {
	e.t.Helper()
	id := uuid.NewString()
	e.inProcess("ClientWithRoles").AssignRoles(id, roles...)
	return newEntraClient(e.t, e.endpoint, e.service.EntraToken(id), e.clientOptions(o))
}

func newEntraClient(t testing.TB, endpoint, token string, o *azcosmos.ClientOptions) *azcosmos.Client {
	t.Helper()
	client, err := azcosmos.NewClient(endpoint, tokenCredential(token), o)
	if err != nil {
		t.Fatalf("emulatortest: make the client: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}

// tokenCredential has one token for all scopes.
type tokenCredential string

// GetToken implements [azcore.TokenCredential].
func (c tokenCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}
