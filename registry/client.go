package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/Azure/azure-sdk-for-go/sdk/tracing/azotel"
	"go.opentelemetry.io/otel/trace"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/repository"
)

// ClientConfig says which account to talk to, and how. The zero value takes
// the account from the environment.
type ClientConfig struct {
	// Endpoint is the account's URL. With Key it is used with the account's
	// key, without one with Credential.
	Endpoint string
	// Key is the account's key, base64. Prefer an identity to a key where
	// there is one.
	Key string
	// AccountKey takes the place of Key where the key is to be rotated without
	// a restart; see [AccountKey].Replace. With a connection string, or with
	// the environment, use Key's forms alone.
	AccountKey *AccountKey
	// ConnectionString names endpoint and key in one text, as the portal shows
	// it. It excludes Endpoint and Key. A Database in it is passed over.
	ConnectionString string
	// AllowPlainHTTP lets a key be used over plain HTTP with another host than
	// this one, as with an emulator in a container of its own. Without it that
	// is refused.
	AllowPlainHTTP bool
	// Credential is used when there is no key. Defaults to
	// [azidentity.DefaultAzureCredential], which takes a workload's or managed
	// identity in Azure and the developer's own elsewhere.
	Credential azcore.TokenCredential
	// Options are the SDK's own: transport, regions, retries, telemetry.
	// repository.ClientOptions is added to them. Defaults to none.
	Options *azcosmos.ClientOptions
	// TracerProvider gets the spans that the SDK makes for its requests.
	// It takes the place of Options.TracingProvider. Defaults to none.
	TracerProvider trace.TracerProvider
	// ReadyTimeout is how long to wait for an account that does not answer, or
	// that does not know the identity's role yet; ctx may end sooner. A
	// negative one skips the probe. Defaults to 30 s.
	ReadyTimeout time.Duration
	// Getenv reads the environment. It is asked only when Endpoint, Key and
	// ConnectionString are empty, for COSMOS_CONNECTION_STRING, or else for
	// COSMOS_ENDPOINT and COSMOS_KEY. Defaults to [os.Getenv].
	Getenv func(string) string
}

const defaultReadyTimeout = 30 * time.Second

// probedDatabase is what the probe reads. It need not exist: the answer that
// it does not, or that the identity may not read databases, is as good a sign
// of life as any.
const probedDatabase = "grove-readiness-probe"

// NewClient makes a client of an account and returns it once the account
// answers. The SDK keeps the failure of a client's first request for minutes,
// so a client whose first request failed is thrown away and another one made,
// until one works or the time is over.
//
// A wrong key or a missing identity fails at once. Nothing switches the
// verification of certificates off: give Go the emulator's certificate in
// SSL_CERT_FILE. Close the client when it is no longer needed.
func NewClient(ctx context.Context, cfg ClientConfig) (*azcosmos.Client, error) {
	connect, err := cfg.connector()
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	if cfg.ReadyTimeout < 0 {
		return connect()
	}
	timeout := cfg.ReadyTimeout
	if timeout == 0 {
		timeout = defaultReadyTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last error
	for attempt := 1; ; attempt++ {
		client, err := connect()
		if err != nil {
			return nil, err
		}
		err = probe(ctx, client)
		if err == nil {
			return client, nil
		}
		cosmos.CloseClient(client)
		if !errors.Is(err, context.DeadlineExceeded) || last == nil {
			last = err // a probe cut off by the deadline says less than the one before it
		}
		if !mayBecomeReady(err) || pause(ctx, attempt) != nil {
			return nil, fmt.Errorf("registry: the account is not ready after %d attempts: %w", attempt, answer(last))
		}
	}
}

// connector checks the configuration once and returns what makes a client.
func (cfg ClientConfig) connector() (func() (*azcosmos.Client, error), error) {
	account, err := cfg.account()
	if err != nil {
		return nil, err
	}
	options := repository.ClientOptions(cfg.Options)
	if cfg.TracerProvider != nil {
		options.TracingProvider = azotel.NewTracingProvider(cfg.TracerProvider, nil)
	}
	if cfg.AccountKey != nil {
		return func() (*azcosmos.Client, error) {
			// Policy goes with the key that the SDK's credential copies here.
			signing := cfg.AccountKey.key.Policy()
			credential, err := cosmos.NewKeyCredential(signing.First())
			if err != nil {
				return nil, errNoKey()
			}
			o := *options
			o.PerRetryPolicies = append(slices.Clone(o.PerRetryPolicies), signing)
			return cosmos.NewClientWithKey(account.endpoint, credential, &o)
		}, nil
	}
	if account.key != "" {
		credential, err := cosmos.NewKeyCredential(account.key)
		if err != nil {
			return nil, errNoKey()
		}
		return func() (*azcosmos.Client, error) {
			return cosmos.NewClientWithKey(account.endpoint, credential, options)
		}, nil
	}
	credential := cfg.Credential
	if credential == nil {
		if credential, err = azidentity.NewDefaultAzureCredential(nil); err != nil {
			return nil, fmt.Errorf("no identity for the account (set COSMOS_KEY, or ClientConfig.Credential): %w", err)
		}
	}
	return func() (*azcosmos.Client, error) { return cosmos.NewClient(account.endpoint, credential, options) }, nil
}

func probe(ctx context.Context, client *azcosmos.Client) error {
	err := cosmos.ReadDatabase(ctx, client, probedDatabase)
	if statusOf(err) == http.StatusNotFound || isDenied(err) && !isAccountRead(err) {
		return nil
	}
	return err
}

// isAccountRead tells the SDK's own first request from the probe's. Every
// identity with a role anywhere in the account may make that, so one that gets
// past it is known, even if it may read no database.
func isAccountRead(err error) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.RawResponse != nil && response.RawResponse.Request != nil &&
		strings.Trim(response.RawResponse.Request.URL.Path, "/") == ""
}

// isDenied reports the refusal of an identity whose roles lack an action.
func isDenied(err error) bool { return cosmos.DenialOf(err) != nil }

// mayBecomeReady reports whether waiting may help. A role that was just
// assigned takes a while to be known, so 403 is waited out.
func mayBecomeReady(err error) bool {
	var authentication *azidentity.AuthenticationFailedError
	if errors.As(err, &authentication) {
		return false
	}
	return statusOf(err) == http.StatusForbidden || mayPass(err)
}
