package cosmos

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// NewClient makes a client that signs in as an identity.
func NewClient(endpoint string, identity azcore.TokenCredential, o *azcosmos.ClientOptions) (*azcosmos.Client, error) {
	return azcosmos.NewClient(endpoint, identity, o)
}

// KeyCredential is an account key as the SDK takes it.
type KeyCredential = azcosmos.KeyCredential

// NewKeyCredential checks a key. Its error does not quote it.
func NewKeyCredential(key string) (KeyCredential, error) {
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return credential, errNotAKey
	}
	return credential, nil
}

// NewClientWithKey makes a client that signs its requests with an account key.
func NewClientWithKey(endpoint string, key KeyCredential, o *azcosmos.ClientOptions) (*azcosmos.Client, error) {
	return azcosmos.NewClientWithKey(endpoint, key, o)
}

// CloseClient gives up what a client shares with others of its account.
func CloseClient(c *azcosmos.Client) { c.Close() }

// Endpoint is the URL of a client's account.
func Endpoint(c *azcosmos.Client) string { return c.Endpoint() }
