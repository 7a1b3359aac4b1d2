package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// clock stands still until a test turns it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// testBundle is an account with one container whose key is /pk, unless the properties say otherwise.
type testBundle struct {
	t       testing.TB
	clock   *clock
	account *store.Account
	db      *store.Database
	c       *store.Container
}

func setup(t testing.TB, opts store.Options, properties string) *testBundle {
	t.Helper()
	b := &testBundle{t: t, clock: newClock()}
	opts.Now = b.clock.Now
	b.account = must(store.Open(opts))(t)
	b.db = must(b.account.CreateDatabase([]byte(`{"id":"db"}`), store.Throughput{}))(t)
	if properties == "" {
		properties = `{"id":"c","partitionKey":{"paths":["/pk"]}}`
	}
	b.c = must(b.db.CreateContainer([]byte(properties), store.Throughput{}))(t)
	return b
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func key(parts ...string) store.Key {
	k := make(store.Key, len(parts))
	for i, p := range parts {
		k[i] = epk.String(p)
	}
	return k
}

func at(parts ...string) store.Call { return store.Call{Key: key(parts...)} }

func doc(id, pk string, n int) []byte {
	return fmt.Appendf(nil, `{"id":%q,"pk":%q,"n":%d}`, id, pk, n)
}

// wantError checks status and substatus; status 0 wants success.
func wantError(t testing.TB, err error, status, substatus int) {
	t.Helper()
	if status == 0 {
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return
	}
	var e *store.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want status %d/%d", err, status, substatus)
	}
	if e.Status != status || e.Substatus != substatus {
		t.Fatalf("got %d/%d (%s), want %d/%d", e.Status, e.Substatus, e.Message, status, substatus)
	}
	if e.Code == "" || e.Message == "" {
		t.Fatalf("an error without code or message: %#v", e)
	}
}

func parse(t testing.TB, text []byte) value.Value {
	t.Helper()
	return must(value.Parse(text))(t)
}

// ids lists what a scope holds, in the order of the rids.
func ids(t testing.TB, c *store.Container, s store.Scope) []string {
	t.Helper()
	snapshot := must(c.Snapshot(s, ""))(t)
	out := []string{}
	for d := range snapshot.Items("") {
		out = append(out, d.ID)
	}
	return out
}
