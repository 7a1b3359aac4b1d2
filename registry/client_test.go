package registry_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

func through(account *emulatortest.Emulator) *azcosmos.ClientOptions {
	return &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: account.Transport(),
		Retry:     policy.RetryOptions{MaxRetries: -1},
	}}
}

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestClientFindsItsAccount(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	options := through(account)
	connection := "AccountEndpoint=" + account.Endpoint() + ";AccountKey=" + account.Key() + ";"
	tests := []struct {
		name string
		cfg  registry.ClientConfig
	}{
		{"endpoint and key", registry.ClientConfig{Endpoint: account.Endpoint(), Key: account.Key()}},
		{"connection string", registry.ClientConfig{ConnectionString: connection}},
		{"connection string with a database", registry.ClientConfig{ConnectionString: connection + "Database=notes;"}},
		{"connection string in another order", registry.ClientConfig{ConnectionString: "accountkey=" + account.Key() + "; accountendpoint=" + account.Endpoint()}},
		{"environment: endpoint and key", registry.ClientConfig{Getenv: environment(map[string]string{"COSMOS_ENDPOINT": account.Endpoint(), "COSMOS_KEY": account.Key()})}},
		{"environment: connection string", registry.ClientConfig{Getenv: environment(map[string]string{"COSMOS_CONNECTION_STRING": connection})}},
		{"identity", registry.ClientConfig{Endpoint: account.Endpoint(), Credential: identity{}}},
		{"identity, endpoint from the environment", registry.ClientConfig{Credential: identity{}, Getenv: environment(map[string]string{"COSMOS_ENDPOINT": account.Endpoint()})}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.cfg.Getenv == nil {
				tc.cfg.Getenv = func(name string) string {
					t.Errorf("the environment was asked for %s", name)
					return ""
				}
			}
			tc.cfg.Options = options
			client, err := registry.NewClient(t.Context(), tc.cfg)
			must(t, err)
			defer client.Close()
			if client.Endpoint() != account.Endpoint() {
				t.Errorf("it talks to %s", client.Endpoint())
			}
		})
	}
}

// identity gives tokens of the form that Microsoft's emulators take.
type identity struct{}

func (identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	now := time.Now()
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims := fmt.Sprintf(`{"aud":"https://localhost.localhost","iss":"https://sts.fake-issuer.net/","nbf":%d,"exp":%d}`, now.Add(-time.Minute).Unix(), now.Add(time.Hour).Unix())
	token := part(`{"typ":"JWT","alg":"RS256"}`) + "." + part(claims) + "." + part(emulator.DefaultKey)
	return azcore.AccessToken{Token: token, ExpiresOn: now.Add(time.Hour)}, nil
}

func TestClientConfigThatCannotWork(t *testing.T) {
	t.Parallel()
	const secret = "bm90IGEga2V5"
	nowhere := environment(nil)
	tests := []struct {
		name string
		cfg  registry.ClientConfig
		want string
	}{
		{"nothing", registry.ClientConfig{Getenv: nowhere}, "COSMOS_ENDPOINT"},
		{"a key alone", registry.ClientConfig{Key: secret, Getenv: nowhere}, "COSMOS_ENDPOINT"},
		{"both forms", registry.ClientConfig{Endpoint: "https://a.example/", ConnectionString: "AccountEndpoint=https://a.example/;AccountKey=" + secret}, "ConnectionString is set with"},
		{"a connection string without a key", registry.ClientConfig{ConnectionString: "AccountEndpoint=https://a.example/"}, "AccountKey"},
		{"a connection string that turns verification off", registry.ClientConfig{ConnectionString: "AccountEndpoint=https://a.example/;AccountKey=" + secret + ";DisableServerCertificateValidation=True"}, "SSL_CERT_FILE"},
		{"no URL", registry.ClientConfig{Endpoint: "account", Key: secret}, "https://NAME.documents.azure.com/"},
		{"a key that is not base64", registry.ClientConfig{Endpoint: "https://a.example/", Key: secret + "!"}, "base64"},
		{"an identity over plain HTTP", registry.ClientConfig{Endpoint: "http://a.example/", Credential: identity{}}, "plain HTTP"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.NewClient(t.Context(), tc.cfg)
			if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error quotes the key: %v", err)
			}
		})
	}
}

// The SDK would repeat the first failure for minutes, however well the account is by then.
func TestClientWaitsForTheAccount(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"unavailable":         emulator.Answer(http.StatusServiceUnavailable, 0),
		"no connection":       emulator.Cut(),
		"role not yet known":  emulator.Answer(http.StatusForbidden, 0),
		"throttled":           emulator.Throttle(time.Second),
		"the database's read": emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadDatabase),
	} {
		synctest.Test(t, func(t *testing.T) {
			if name != "the database's read" {
				fault = fault.On(emulator.ReadAccount)
			}
			account := emulatortest.New(t, emulatortest.WithFault(fault.Times(6)))
			client, err := registry.NewClient(t.Context(), registry.ClientConfig{Endpoint: account.Endpoint(), Key: account.Key(), Options: through(account)})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			defer client.Close()
			if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "d"}, nil); err != nil {
				t.Errorf("%s: the first request: %v", name, err)
			}
		})
	}
}

func TestClientGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := emulatortest.New(t, emulatortest.WithFault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadAccount).Keep()))
		begin := time.Now()
		_, err := registry.NewClient(t.Context(), registry.ClientConfig{Endpoint: account.Endpoint(), Key: account.Key(), Options: through(account), ReadyTimeout: 10 * time.Second})
		if err == nil || !strings.Contains(err.Error(), "HTTP 503") || !strings.Contains(err.Error(), "attempts") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestClientWithAWrongKeyFailsAtOnce(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	const wrong = "d3Jvbmcga2V5IG9mIHRoaXMgYWNjb3VudA=="
	_, err := registry.NewClient(t.Context(), registry.ClientConfig{Endpoint: account.Endpoint(), Key: wrong, Options: through(account)})
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != http.StatusUnauthorized || !strings.Contains(err.Error(), "after 1 attempts") {
		t.Fatalf("got %v", err)
	}
	if strings.Contains(err.Error(), wrong) {
		t.Errorf("the error quotes the key: %v", err)
	}
}
