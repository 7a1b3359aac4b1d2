package emulatortest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// Client gives a client of a fresh, empty account in this process, or of the endpoint that the environment names. It is
// closed when the test ends.
func Client(t testing.TB, opts ...Option) *azcosmos.Client {
	t.Helper()
	e := New(t, opts...)
	return e.Client(nil)
}

// Emulator is a handle on an emulated account, for the length of one test. Against a real endpoint only Client, Endpoint
// and Key work; the other methods skip the test.
type Emulator struct {
	t         testing.TB
	service   *emulator.Service // nil against a real endpoint
	transport policy.Transporter
	endpoint  string
	key       string
	identity  string // the object id that clients sign in with; empty is the account key
	options   azcosmos.ClientOptions
}

// New makes a fresh, empty account in this process, or takes the endpoint that the environment names. It is gone when the
// test ends.
func New(t testing.TB, opts ...Option) *Emulator {
	t.Helper()
	s := settingsOf(opts)
	if external, ok := endpointFromEnvironment(t); ok {
		if s.inProcess != "" {
			t.Skipf("%s is set: %s can be served by the emulator in this process only", external.variable, s.inProcess)
		}
		e := &Emulator{t: t, endpoint: external.endpoint, key: external.key, options: s.client}
		if e.options.Transport == nil {
			e.options.Transport = externalTransport(t)
		}
		return e
	}
	service := newService(t, s)
	e := &Emulator{
		t:       t,
		service: service,
		// The SDK shares what it knows of containers between all clients of an endpoint, so each account needs its own.
		endpoint:  "https://" + strings.ReplaceAll(uuid.NewString(), "-", "")[:16] + ".emulator.localhost/",
		key:       service.Key(),
		options:   s.client,
		identity:  s.identity,
		transport: service,
	}
	if s.routing {
		e.transport = service.RoutingTransport()
	}
	return e
}

func newService(t testing.TB, s *settings) *emulator.Service {
	t.Helper()
	s.applyUnkind(t)
	service, err := emulator.New(s.service)
	if err != nil {
		t.Fatalf("emulatortest: make the emulator: %v", err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Errorf("emulatortest: close the emulator: %v", err)
		}
	})
	if s.identity != "" {
		service.AssignRoles(s.identity, s.roles...)
	}
	for _, f := range s.faults {
		service.Faults().Add(f)
	}
	return service
}

// Client gives another client of the account. Its options are those of [WithClientOptions] unless some are given here; nil
// gives the former. Where neither gives any, they are those of repository.ClientOptions, without which Grove refuses to
// write. The client is closed when the test ends.
func (e *Emulator) Client(o *azcosmos.ClientOptions) *azcosmos.Client {
	e.t.Helper()
	if e.identity != "" {
		return newEntraClient(e.t, e.endpoint, e.service.EntraToken(e.identity), e.clientOptions(o))
	}
	return newClient(e.t, e.endpoint, e.key, e.clientOptions(o))
}

// clientOptions are the options given, or those of the emulator, with its door as the transport.
func (e *Emulator) clientOptions(o *azcosmos.ClientOptions) *azcosmos.ClientOptions {
	options := e.options
	if o != nil {
		options = *o
	}
	switch {
	case e.transport != nil:
		options.Transport = e.transport
	case options.Transport == nil:
		options.Transport = e.options.Transport
	}
	return &options
}

// ClientNamed is [Emulator.Client] under a name, by which faults ([emulator.Fault]'s Client method) and the request log tell
// its requests from those of others: a process of its own, as it were.
func (e *Emulator) ClientNamed(name string, o *azcosmos.ClientOptions) *azcosmos.Client {
	e.t.Helper()
	service := e.inProcess("ClientNamed")
	options := e.options
	if o != nil {
		options = *o
	}
	options.Transport = service.Named(name)
	return newClient(e.t, e.endpoint, e.key, &options)
}

func newClient(t testing.TB, endpoint, key string, o *azcosmos.ClientOptions) *azcosmos.Client {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		t.Fatalf("emulatortest: the account key is not base64 (is COSMOS_KEY complete?)")
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, o)
	if err != nil {
		t.Fatalf("emulatortest: make the client: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}

// Endpoint is the account's URL. In this process it leads nowhere but through [Emulator.Transport].
func (e *Emulator) Endpoint() string { return e.endpoint }

// Key is the account key, base64.
func (e *Emulator) Key() string { return e.key }

// Transport is the door into this process, for clients that a test makes itself: it answers requests to [Emulator.Endpoint].
func (e *Emulator) Transport() policy.Transporter {
	e.t.Helper()
	e.inProcess("Transport")
	return e.transport
}

// Handler is the account as an HTTP handler.
func (e *Emulator) Handler() http.Handler {
	e.t.Helper()
	return e.inProcess("Handler")
}

// Service is the emulator itself.
func (e *Emulator) Service() *emulator.Service {
	e.t.Helper()
	return e.inProcess("Service")
}

// inProcess gives the service, and skips the test when there is a real endpoint in its place.
func (e *Emulator) inProcess(method string) *emulator.Service {
	e.t.Helper()
	if e.service == nil {
		e.t.Skipf("the environment names a real endpoint: Emulator.%s works with the emulator in this process only", method)
	}
	return e.service
}

// Fault arms a fault and gives a handle that tells how often it happened.
func (e *Emulator) Fault(f emulator.Fault) *emulator.ArmedFault {
	e.t.Helper()
	return e.inProcess("Fault").Faults().Add(f)
}

// Faults are all faults of the emulator.
func (e *Emulator) Faults() *emulator.Faults {
	e.t.Helper()
	return e.inProcess("Faults").Faults()
}

// Clock is the emulator's time.
func (e *Emulator) Clock() *emulator.Clock {
	e.t.Helper()
	return e.inProcess("Clock").Clock()
}

// Requests is the log of requests.
func (e *Emulator) Requests() *emulator.Log {
	e.t.Helper()
	return e.inProcess("Requests").Log()
}

// Ranges gives the physical partitions of a container.
func (e *Emulator) Ranges(database, container string) []emulator.Range {
	e.t.Helper()
	ranges, err := e.inProcess("Ranges").Ranges(database, container)
	if err != nil {
		e.t.Fatalf("emulatortest: %v", err)
	}
	return ranges
}

// Split cuts a physical partition of a container in two and gives the new ones.
func (e *Emulator) Split(database, container, rangeID string) []emulator.Range {
	e.t.Helper()
	children, err := e.inProcess("Split").Split(database, container, rangeID)
	if err != nil {
		e.t.Fatalf("emulatortest: %v", err)
	}
	return children
}

// SplitAt cuts a physical partition at an effective partition key; see [emulator.Service.SplitAt].
func (e *Emulator) SplitAt(database, container, rangeID, bound string) []emulator.Range {
	e.t.Helper()
	children, err := e.inProcess("SplitAt").SplitAt(database, container, rangeID, bound)
	if err != nil {
		e.t.Fatalf("emulatortest: %v", err)
	}
	return children
}

// Merge joins two neighbouring physical partitions of a container and gives the new one.
func (e *Emulator) Merge(database, container, rangeA, rangeB string) emulator.Range {
	e.t.Helper()
	merged, err := e.inProcess("Merge").Merge(database, container, rangeA, rangeB)
	if err != nil {
		e.t.Fatalf("emulatortest: %v", err)
	}
	return merged
}

// LimitThroughput holds the requests on a container to so many request units a second, whatever it was created with: above
// that they are 429 with a retry time. Zero takes the limit away.
func (e *Emulator) LimitThroughput(database, container string, unitsPerSecond float64) {
	e.t.Helper()
	if err := e.inProcess("LimitThroughput").LimitThroughput(database, container, unitsPerSecond); err != nil {
		e.t.Fatalf("emulatortest: %v", err)
	}
}
