package changefeed_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
)

// putDocument stores a document as it is written.
func (b *testBundle) putDocument(tenant, body string) {
	b.t.Helper()
	upsert(b.t, b.items, azcosmos.NewPartitionKeyString(tenant).AppendString("k"), []byte(body))
}

// refuser notes the ids of what it is given, and refuses one for a reason that a test gives.
type refuser struct {
	id     string
	reason func() error

	mu  sync.Mutex
	ids []string
}

func (r *refuser) handle(_ context.Context, changes []changefeed.Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		if c.ID == r.id && r.reason != nil {
			return r.reason()
		}
	}
	for _, c := range changes {
		r.ids = append(r.ids, c.ID)
	}
	return nil
}

func (r *refuser) handled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.ids))
}

// JSON tells members by their exact names: those that differ by case are the application's own.
func TestMembersThatDifferByCaseAreNoneOfTheServices(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]string{
		"a number as ID": `"ID":7`, "a text as ID": `"ID":"legacy"`, "a text as _TS": `"_TS":"x"`, "a text as _LSN": `"_LSN":"x"`, "a number as _ETAG": `"_ETAG":7`, "an object as _Rid": `"_Rid":{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.put("t1", "a", 1)
			b.putDocument("t1", `{"id":"b","tenant":"t1","kind":"k",`+member+`}`)
			b.put("t2", "c", 1)
			var r refuser
			b.caughtUp(b.processor(b.config("case"), r.handle))
			if got := r.handled(); !slices.Equal(got, []string{"a", "b", "c"}) {
				t.Errorf("handled %v", got)
			}
			var watched []string
			for c, err := range changefeed.Watch(t.Context(), b.items, changefeed.WatchOptions{StartFrom: changefeed.Beginning()}) {
				if err != nil {
					t.Fatal(err)
				}
				if watched = append(watched, c.ID); len(watched) == 3 {
					break
				}
			}
			if slices.Sort(watched); !slices.Equal(watched, []string{"a", "b", "c"}) {
				t.Errorf("watched %v", watched)
			}
		})
	}
}

// A replay finds a document by its id, whatever members look like one.
func TestReplayOfADocumentWithAnIDInCapitals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.putDocument("t1", `{"id":"b","tenant":"t1","kind":"k","ID":"legacy"}`)
	refuses := true
	r := refuser{id: "b", reason: func() error {
		if refuses {
			return errors.New("not now")
		}
		return nil
	}}
	cfg := b.config("case")
	cfg.MaxAttempts = 1
	called := 0
	p := b.processor(cfg, func(ctx context.Context, changes []changefeed.Change) error { called++; return r.handle(ctx, changes) })
	b.caughtUp(p)
	if got := b.quarantined(p); !slices.Equal(got, []string{"b"}) {
		t.Errorf("quarantined %q", got)
	}
	refuses, called = false, 0
	if n, err := p.Replay(t.Context()); n != 1 || err != nil || called != 1 {
		t.Errorf("replayed %d after %d calls, %v", n, called, err)
	}
}
