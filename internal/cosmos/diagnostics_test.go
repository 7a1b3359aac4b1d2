package cosmos_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// refusing answers every read of a document with 404.
type refusing struct{}

func (refusing) Do(req *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, []byte(`{"id":"here"}`)
	if req.URL.Path != "/" && req.URL.Path != "" {
		status = http.StatusNotFound
	}
	return &http.Response{
		StatusCode: status, Request: req, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// What the SDK notes of a request is left out of Grove's calls that are
// answered, and stays with those that fail and with an application's own.
func TestDiagnosticsOfCalls(t *testing.T) {
	t.Parallel()
	key := azcosmos.NewPartitionKeyString("k")
	answered, refused := containerOver(t, &recorder{}), containerOver(t, refusing{})
	ours := cosmos.NewAttempts().Context(t.Context(), new(cosmos.Exchange), true)

	resp, err := answered.ReadItem(t.Context(), key, "a", nil)
	if err != nil || resp.Diagnostics.String() == "" {
		t.Errorf("an application's own call: %q, %v", resp.Diagnostics.String(), err)
	}
	resp, err = answered.ReadItem(ours, key, "a", nil)
	if err != nil || resp.Diagnostics.String() != "" || string(resp.Value) != `{"id":"here"}` {
		t.Errorf("a call of Grove's: %q, %s, %v", resp.Diagnostics.String(), resp.Value, err)
	}
	_, err = refused.ReadItem(ours, key, "a", nil)
	if d, ok := azcosmos.DiagnosticsFromError(err); !ok || d.String() == "" {
		t.Errorf("a call of Grove's that is refused: %q, %v", d.String(), err)
	}
}

// The SDK's own tracing works through the context that is left out otherwise.
func TestTracedClientsKeepTheSDKsContext(t *testing.T) {
	t.Parallel()
	plain := cosmos.ClientOptions(nil)
	if n := len(cosmos.ClientOptions(plain).PerCallPolicies); n != 1 {
		t.Errorf("%d policies for each call after adding them twice", n)
	}
	o := &azcosmos.ClientOptions{}
	o.TracingProvider = tracing.NewProvider(func(string, string) tracing.Tracer { return tracing.Tracer{} }, nil)
	if n := len(cosmos.ClientOptions(o).PerCallPolicies); n != 0 {
		t.Errorf("%d policies for each call of a client that traces", n)
	}
}
