package changefeed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

func TestMain(m *testing.M) {
	if endpoint := os.Getenv(childEndpoint); endpoint != "" {
		if err := runChild(endpoint, os.Getenv(childKey)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const database, monitored = "db", "items"

// testBundle is one account with a container to process and one for leases.
type testBundle struct {
	t      testing.TB
	emu    *emulatortest.Emulator
	client *azcosmos.Client
	items  *azcosmos.ContainerClient
	leases *azcosmos.ContainerClient

	session *session
}

func setup(t testing.TB, opts ...emulatortest.Option) *testBundle {
	t.Helper()
	b := &testBundle{t: t, emu: emulatortest.New(t, opts...), session: new(session)}
	b.client = b.clientOver(b.emu.Endpoint(), b.emu.Transport())
	b.items, b.leases = createContainers(t, b.client)
	return b
}

func createContainers(t testing.TB, client *azcosmos.Client) (items, leases *azcosmos.ContainerClient) {
	t.Helper()
	items, leases, err := makeContainers(t.Context(), client, emulatortest.DatabaseID(t, client, database))
	if err != nil {
		t.Fatal(err)
	}
	return items, leases
}

func makeContainers(ctx context.Context, client *azcosmos.Client, id string) (items, leases *azcosmos.ContainerClient, err error) {
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil); err != nil {
		return nil, nil, err
	}
	db, err := client.NewDatabase(id)
	if err != nil {
		return nil, nil, err
	}
	for id, paths := range map[string][]string{monitored: {"/tenant", "/kind"}, "leases": {"/id"}} {
		kind := azcosmos.PartitionKeyKindHash
		if len(paths) > 1 {
			kind = azcosmos.PartitionKeyKindMultiHash
		}
		if _, err := db.CreateContainer(ctx, azcosmos.ContainerProperties{
			ID:                     id,
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Kind: kind, Version: 2, Paths: paths},
		}, nil); err != nil {
			return nil, nil, err
		}
	}
	if items, err = db.NewContainer(monitored); err != nil {
		return nil, nil, err
	}
	leases, err = db.NewContainer("leases")
	return items, leases, err
}

// exampleClient is a client of an account in this process, for code without a *testing.T.
func exampleClient() (client *azcosmos.Client, done func()) {
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		panic(err)
	}
	credential, err := azcosmos.NewKeyCredential(service.Key())
	if err != nil {
		panic(err)
	}
	endpoint := "https://" + uuid.NewString() + ".emulator.localhost/"
	client, err = azcosmos.NewClientWithKey(endpoint, credential, &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); _ = service.Close() }
}

type item struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant"`
	Kind   string `json:"kind"`
	N      int    `json:"n"`
}

func (b *testBundle) put(tenant, id string, n int) {
	b.t.Helper()
	put(b.t, b.items, item{ID: id, Tenant: tenant, Kind: "k", N: n})
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func put(t testing.TB, container *azcosmos.ContainerClient, i item) {
	t.Helper()
	key := azcosmos.NewPartitionKeyString(i.Tenant).AppendString(i.Kind)
	upsert(t, container, key, encode(t, i))
}

// isRetryWith says that the service asks for the same request once more.
func isRetryWith(err error) bool {
	var answer *azcore.ResponseError
	return errors.As(err, &answer) && answer.StatusCode == 449
}

// upsert sends a write again for as long as the service answers 449, which the SDK leaves to its caller.
func upsert(t testing.TB, container *azcosmos.ContainerClient, key azcosmos.PartitionKey, body []byte) azcosmos.ItemResponse {
	t.Helper()
	for {
		stored, err := container.UpsertItem(context.WithoutCancel(t.Context()), key, body, nil)
		if isRetryWith(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
}

// seen records what a handler was given.
type seen struct {
	mu    sync.Mutex
	last  map[string]int // by document: the newest n
	calls int
}

func (s *seen) handle(_ context.Context, changes []changefeed.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[string]int{}
	}
	s.calls++
	for _, c := range changes {
		var i item
		if err := c.Decode(&i); err != nil {
			return err
		}
		key := i.Tenant + "/" + i.ID
		s.last[key] = max(s.last[key], i.N)
	}
	return nil
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.last)
}

// config has short intervals, and the leases of everyday length: an owner that
// the machine passes over for a moment keeps its range.
func (b *testBundle) config(name string) changefeed.Config {
	return changefeed.Config{
		Container: b.items, Leases: b.leases, Name: name,
		PollInterval: 5 * time.Millisecond, BalanceInterval: 20 * time.Millisecond, Backoff: time.Millisecond,
	}
}

// hasty is config for tests that wait for the leases of others to expire, by the
// clock of a bubble: by the machine's clock the living would lose theirs too.
func (b *testBundle) hasty(name string) changefeed.Config {
	cfg := b.config(name)
	cfg.LeaseDuration = 400 * time.Millisecond
	return cfg
}

func (b *testBundle) processor(cfg changefeed.Config, h changefeed.Handler) *changefeed.Processor {
	b.t.Helper()
	p, err := changefeed.New(cfg, h)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// caughtUp says that every change so far was handled or put into quarantine, in good time.
func (b *testBundle) caughtUp(p *changefeed.Processor) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	if err := p.CatchUp(ctx); err != nil {
		b.t.Fatal(err)
	}
}

func (b *testBundle) leaseDocuments() []map[string]any {
	b.t.Helper()
	var out []map[string]any
	for _, raw := range b.find(b.leases, "SELECT * FROM c WHERE IS_DEFINED(c.LeaseToken)") {
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			b.t.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

func (b *testBundle) fill(n int) {
	b.t.Helper()
	for i := range n {
		b.put(fmt.Sprint("t", i%7), fmt.Sprint("d", i), 1)
	}
}
