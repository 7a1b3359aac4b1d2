package emulatortest_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// The tests of the environment are not parallel: they set variables that every other test reads.

func TestEnvironmentNamesAnEndpoint(t *testing.T) {
	server := emulatortest.Serve(t)
	for _, c := range []struct{ name, endpoint, key, connection string }{
		{"endpoint and key", server.Endpoint(), server.Key(), ""},
		{"connection string", "", "", "AccountEndpoint=" + server.Endpoint() + ";AccountKey=" + server.Key() + ";"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("COSMOS_ENDPOINT", c.endpoint)
			t.Setenv("COSMOS_KEY", c.key)
			t.Setenv("COSMOS_CONNECTION_STRING", c.connection)
			// The SDK's default transport keeps connections open, so the client gets the server's own.
			options := azcosmos.ClientOptions{}
			options.Transport = server.HTTPClient()
			client := emulatortest.Client(t, emulatortest.WithClientOptions(options))
			mark := server.Requests().Mark()
			if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: strings.ReplaceAll(c.name, " ", "-")}, nil); err != nil {
				t.Fatal(err)
			}
			if len(server.Requests().Since(mark)) == 0 {
				t.Error("the client went elsewhere")
			}
		})
	}
}

func TestRealEndpointSkipsWhatItCannotServe(t *testing.T) {
	t.Setenv("COSMOS_CONNECTION_STRING", "")
	t.Setenv("COSMOS_ENDPOINT", "https://cosmos.test/")
	t.Setenv("COSMOS_KEY", emulator.DefaultKey)
	//nolint:paralleltest // the environment is the whole process's
	for _, c := range []struct {
		name string
		use  func(testing.TB)
	}{
		{"WithPartitions", func(t testing.TB) { emulatortest.New(t, emulatortest.WithPartitions(2)) }},
		{"WithClock", func(t testing.TB) { emulatortest.Client(t, emulatortest.WithClock(emulator.NewClock())) }},
		{"WithFault", func(t testing.TB) { emulatortest.New(t, emulatortest.WithFault(emulator.Cut())) }},
		{"WithReplicaLag", func(t testing.TB) { emulatortest.New(t, emulatortest.WithReplicaLag(time.Second)) }},
		{"WithThroughputLimit", func(t testing.TB) { emulatortest.New(t, emulatortest.WithThroughputLimit()) }},
		{"WithLogicalPartitionLimit", func(t testing.TB) { emulatortest.New(t, emulatortest.WithLogicalPartitionLimit(1)) }},
		{"WithConsistency", func(t testing.TB) { emulatortest.New(t, emulatortest.WithConsistency(azcosmos.ConsistencyLevelStrong)) }},
		{"WithRoutingGateway", func(t testing.TB) { emulatortest.New(t, emulatortest.WithRoutingGateway()) }},
		{"WithDataDir", func(t testing.TB) { emulatortest.New(t, emulatortest.WithDataDir("x")) }},
		{"Fault", func(t testing.TB) { emulatortest.New(t).Fault(emulator.Cut()) }},
		{"Clock", func(t testing.TB) { emulatortest.New(t).Clock() }},
		{"Requests", func(t testing.TB) { emulatortest.New(t).Requests() }},
		{"Split", func(t testing.TB) { emulatortest.New(t).Split("db", "items", "0") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &skipped{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.use(w)
				t.Error("went on")
			}()
			<-done
			if !strings.Contains(w.reason, c.name) || !strings.Contains(w.reason, "in this process only") {
				t.Errorf("the reason is %q", w.reason)
			}
		})
	}
	emulatortest.New(t).Client(nil) // works: making a client asks for nothing
}

// skipped is a testing.TB that notes why it was skipped, and ends its goroutine as testing does.
type skipped struct {
	testing.TB
	reason string
}

func (s *skipped) Helper() {}

func (s *skipped) Skipf(format string, args ...any) {
	s.reason = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestPipelinePoliciesAreKept(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	o := azcosmos.ClientOptions{}
	o.PerCallPolicies = []policy.Policy{counting{&calls}}
	client := emulatortest.Client(t, emulatortest.WithClientOptions(o))
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "db"}, nil); err != nil {
		t.Fatal(err)
	}
	if calls.Load() == 0 {
		t.Error("the policy was never called")
	}
}

type counting struct{ calls *atomic.Int32 }

func (c counting) Do(r *policy.Request) (*http.Response, error) {
	c.calls.Add(1)
	return r.Next()
}
