package emulatortest

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// external is a real endpoint that the environment names.
type external struct{ variable, endpoint, key string }

// endpointFromEnvironment reads COSMOS_CONNECTION_STRING, or COSMOS_ENDPOINT with COSMOS_KEY. Half of a setting fails the
// test, since a run that was meant for a real endpoint must not pass in this process.
func endpointFromEnvironment(t testing.TB) (external, bool) {
	t.Helper()
	if text := os.Getenv("COSMOS_CONNECTION_STRING"); text != "" {
		e := external{variable: "COSMOS_CONNECTION_STRING"}
		for field := range strings.SplitSeq(text, ";") {
			name, setting, _ := strings.Cut(field, "=")
			switch {
			case strings.EqualFold(name, "AccountEndpoint"):
				e.endpoint = setting
			case strings.EqualFold(name, "AccountKey"):
				e.key = setting
			}
		}
		if e.endpoint == "" || e.key == "" {
			t.Fatal("COSMOS_CONNECTION_STRING lacks AccountEndpoint or AccountKey: set AccountEndpoint={url};AccountKey={key}")
		}
		return e, true
	}
	e := external{variable: "COSMOS_ENDPOINT", endpoint: os.Getenv("COSMOS_ENDPOINT"), key: os.Getenv("COSMOS_KEY")}
	if (e.endpoint == "") != (e.key == "") {
		t.Fatal("only one of COSMOS_ENDPOINT and COSMOS_KEY is set: set both for a real endpoint, none for the emulator in this process")
	}
	return e, e.endpoint != ""
}

// externalTransport is a transport of the test's own, so that no connection outlives it: the SDK's is shared by the whole
// process and keeps idle ones.
func externalTransport(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// InProcess skips a test that can't run against a real endpoint when the environment names one, and says why: it needs a
// transport of its own, or time that stands still.
func InProcess(t testing.TB, why string) {
	t.Helper()
	if external, ok := endpointFromEnvironment(t); ok {
		t.Skipf("%s is set, and this test runs in this process only: %s", external.variable, why)
	}
}
