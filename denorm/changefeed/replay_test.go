package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// picky refuses documents while it is told to, and notes what it accepted.
type picky struct {
	mu      sync.Mutex
	refuses bool
	got     []string
}

func (h *picky) handle(_ context.Context, changes []changefeed.Change) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuses {
		return errors.New("not now")
	}
	for _, c := range changes {
		var i item
		if err := c.Decode(&i); err != nil {
			return err
		}
		h.got = append(h.got, fmt.Sprintf("%s/%s=%d", i.Tenant, i.ID, i.N))
	}
	return nil
}

func (h *picky) set(refuses bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuses, h.got = refuses, nil
}

// refused puts three versions of a document into quarantine.
func (b *testBundle) refused(h *picky) *changefeed.Processor {
	b.t.Helper()
	cfg := b.config("replay")
	cfg.MaxAttempts = 1
	cfg.Session = func() string { return b.session.joined(b.items) } // of what the test writes
	p := b.processor(cfg, h.handle)
	h.set(true)
	for n := range 3 {
		b.put("t1", "d", n+1)
		if err := p.CatchUp(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
	}
	if ids := b.quarantined(p); len(ids) != 3 {
		b.t.Fatalf("in quarantine: %v", ids)
	}
	h.set(false)
	return p
}

// By default a replay gives the document as it is now, once, so that no older
// version is handled after a newer one.
func TestReplayGivesTheDocumentAsItIs(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	var h picky
	p := b.refused(&h)
	b.put("t1", "d", 4)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Replay(t.Context()); n != 3 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
	if want := []string{"t1/d=4", "t1/d=4"}; !slices.Equal(h.got, want) {
		t.Errorf("handled %v", h.got)
	}
	if ids := b.quarantined(p); len(ids) != 0 {
		t.Errorf("still in quarantine: %v", ids)
	}
}

// A document that was deleted meanwhile is nothing to handle.
func TestReplayForgetsDeletedDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var h picky
	p := b.refused(&h)
	b.write(func(ctx context.Context) error {
		_, err := b.items.DeleteItem(ctx, azcosmos.NewPartitionKeyString("t1").AppendString("k"), "d", nil)
		return err
	})
	if n, err := p.Replay(t.Context()); n != 3 || err != nil || len(h.got) != 0 || len(b.quarantined(p)) != 0 {
		t.Errorf("replayed %d, %v, handled %v", n, err, h.got)
	}
}

// AsItWas gives every version in its order, and none after one that failed.
func TestReplayAsItWas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var h picky
	p := b.refused(&h)
	if n, err := p.Replay(t.Context(), changefeed.AsItWas()); n != 3 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
	if want := []string{"t1/d=1", "t1/d=2", "t1/d=3"}; !slices.Equal(h.got, want) {
		t.Errorf("handled %v", h.got)
	}
	p = b.refused(&h)
	h.set(true)
	if n, err := p.Replay(t.Context(), changefeed.AsItWas()); n != 0 || err == nil || strings.Count(err.Error(), "not now") != 1 {
		t.Errorf("replayed %d, %v", n, err)
	}
}

// While a document is replayed, its newer version waits, or has the last word.
func TestReplayAndANewerVersion(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"in this process": false, "in another process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var h picky
			b.refused(&h)
			var once sync.Once
			cfg := b.config("replay")
			p := b.processor(cfg, func(ctx context.Context, changes []changefeed.Change) error {
				once.Do(func() { b.put("t1", "d", 9) }) // while the replayed version is in hand
				return h.handle(ctx, changes)
			})
			runs := p
			if elsewhere {
				cfg.Instance = "elsewhere"
				runs = b.processor(cfg, h.handle)
			}
			if err := runs.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := runs.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, err := p.Replay(t.Context()); n != 3 || err != nil {
				t.Errorf("replayed %d, %v", n, err)
			}
			if err := runs.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := runs.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if last := h.got[len(h.got)-1]; last != "t1/d=9" {
				t.Errorf("handled %v", h.got)
			}
			if i := slices.Index(h.got, "t1/d=9"); !elsewhere && slices.Contains(h.got[i:], "t1/d=3") {
				t.Errorf("handled %v", h.got)
			}
		})
	}
}

// Keys of every kind are read back for a replay.
func TestReplayFindsDocumentsOfAnyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db, err := b.client.NewDatabase(database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "keys", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Version: 2, Paths: []string{"/key"}}}, nil); err != nil {
		t.Fatal(err)
	}
	keys, err := db.NewContainer("keys")
	if err != nil {
		t.Fatal(err)
	}
	for id, key := range map[string]azcosmos.PartitionKey{
		`"text"`: azcosmos.NewPartitionKeyString("text"), `"grün\"x"`: azcosmos.NewPartitionKeyString(`grün"x`),
		"1.5": azcosmos.NewPartitionKeyNumber(1.5), "true": azcosmos.NewPartitionKeyBool(true), "null": azcosmos.NullPartitionKey,
	} {
		body := fmt.Sprintf(`{"id":%s,"key":%s}`, encode(t, "k"+strings.Trim(id, `"`)[:1]+fmt.Sprint(len(id))), id)
		b.write(func(ctx context.Context) error {
			_, err := keys.CreateItem(ctx, key, []byte(body), nil)
			return err
		})
	}
	refuses := true
	got := 0
	cfg := b.config("keys")
	cfg.Container, cfg.MaxAttempts = keys, 1
	p := b.processor(cfg, func(_ context.Context, changes []changefeed.Change) error {
		if refuses {
			return errors.New("not now")
		}
		got += len(changes)
		return nil
	})
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	refuses = false
	if n, err := p.Replay(t.Context()); n != 5 || err != nil || got != 5 {
		t.Errorf("replayed %d, handled %d, %v", n, got, err)
	}
}

// Processors of one name over two containers share the lease container, and
// keep their quarantines apart; also what an earlier version has stored.
func TestQuarantineBelongsToItsContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // it writes into the lease container itself
	db, err := b.client.NewDatabase(database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "other", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2, Paths: []string{"/tenant", "/kind"}}}, nil); err != nil {
		t.Fatal(err)
	}
	other, err := db.NewContainer("other")
	if err != nil {
		t.Fatal(err)
	}
	b.put("t1", "here", 1)
	put(t, other, item{ID: "there", Tenant: "t1", Kind: "k", N: 1})
	var here, there picky
	here.set(true)
	there.set(true)
	cfg := b.config("both")
	cfg.MaxAttempts = 1
	p := b.processor(cfg, here.handle)
	cfg.Container = other
	q := b.processor(cfg, there.handle)
	for _, each := range []*changefeed.Processor{p, q} {
		if err := each.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// As an earlier version stored it: the container is not named.
	for quarantined, err := range q.Quarantined(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b.drop(quarantined.ID)
		former := map[string]any{"id": "quarantine.both..abc", "processor": "both", "range": "-FF", "attempts": 1, "reason": "x", "document": quarantined.Document}
		if _, err := b.leases.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("quarantine.both..abc"), encode(t, former), nil); err != nil {
			t.Fatal(err)
		}
	}
	if ids := b.quarantined(p); !slices.Equal(ids, []string{"here"}) {
		t.Errorf("one shows %v", ids)
	}
	if ids := b.quarantined(q); !slices.Equal(ids, []string{"there"}) {
		t.Errorf("the other shows %v", ids)
	}
	here.set(false)
	there.set(false)
	if n, err := p.Replay(t.Context()); n != 1 || err != nil || len(there.got) != 0 {
		t.Errorf("replayed %d, %v, and the other handled %v", n, err, there.got)
	}
	if ids := b.quarantined(q); len(ids) != 1 {
		t.Errorf("the other's quarantine holds %v", ids)
	}
	if n, err := q.Replay(t.Context()); n != 1 || err != nil || !slices.Equal(there.got, []string{"t1/there=1"}) {
		t.Errorf("replayed %d, %v, handled %v", n, err, there.got)
	}
}

// Processors over one container keep their quarantines apart, also where one's name begins as the other's.
func TestQuarantineBelongsToItsProcessor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("t1", "d", 1)
	handlers, processors := map[string]*picky{}, map[string]*changefeed.Processor{}
	for _, name := range []string{"a", "a.", "a..b", "ab"} {
		handlers[name] = &picky{}
		handlers[name].set(true)
		cfg := b.config(name)
		cfg.MaxAttempts = 1
		processors[name] = b.processor(cfg, handlers[name].handle)
		if err := processors[name].CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, p := range processors {
		if ids := b.quarantined(p); !slices.Equal(ids, []string{"d"}) {
			t.Errorf("%q shows %v", name, ids)
		}
		handlers[name].set(false)
		if n, err := p.Replay(t.Context()); n != 1 || err != nil || len(handlers[name].got) != 1 {
			t.Errorf("%q replayed %d, %v", name, n, err)
		}
	}
}

// What the SDK says of an answer holds the URL and the body. None of it comes
// into a log, a quarantine or the text of an error.
func TestAnswersAreNotQuoted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("t1", "secret-id", 1)
	var log logged
	cfg := b.config("quotes")
	cfg.MaxAttempts, cfg.Logger = 1, logger(&log)
	p := b.processor(cfg, func(ctx context.Context, _ []changefeed.Change) error {
		_, err := b.items.CreateItem(ctx, azcosmos.NewPartitionKeyString("t1").AppendString("k"), []byte(`{"id":"secret-id","tenant":"t1","kind":"k"}`), nil)
		var answer *azcore.ResponseError
		if !errors.As(err, &answer) {
			t.Errorf("no answer: %v", err)
		}
		return errors.Join(fmt.Errorf("writing: %w", err), fmt.Errorf("pasted: %v", err)) //nolint:errorlint // some handlers do that
	})
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	texts := []string{log.String()}
	for q, err := range p.Quarantined(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, q.Reason)
	}
	b.emu.Fault(emulator.Answer(403, 0).Container("leases").Keep())
	for _, err := range p.Quarantined(t.Context()) {
		texts = append(texts, err.Error())
	}
	_, err := p.Lag(t.Context())
	texts = append(texts, err.Error())
	if len(texts) != 4 || !strings.Contains(texts[1], "writing: HTTP 409 Conflict") || !strings.Contains(texts[3], "HTTP 403") {
		t.Errorf("texts: %q", texts)
	}
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		t.Errorf("%v does not unwrap to the answer", err)
	}
	for _, text := range texts {
		if strings.Contains(text, "://") || strings.Contains(text, "ERROR CODE") || strings.Contains(text, "-----") {
			t.Errorf("an answer is quoted:\n%s", text)
		}
	}
}

// What a processor has put into quarantine, it finds there, whichever replica answers.
func TestQuarantineIsReadFromReplicasThatHaveIt(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // it sets a fault of its own
	var h picky
	p := b.refused(&h)
	b.emu.Faults().Add(emulator.Behind(3).On(emulator.QueryItems).Container("leases"))
	if ids := b.quarantined(p); len(ids) != 3 {
		t.Errorf("in quarantine: %v", ids)
	}
	b.emu.Faults().Add(emulator.Behind(1).On(emulator.ReadItem).Container("leases"))
	if n, err := p.Replay(t.Context(), changefeed.AsItWas()); n != 3 || err != nil || len(h.got) != 3 {
		t.Errorf("replayed %d, %v, handled %v", n, err, h.got)
	}
	// Where no replica comes as far, any one will do.
	b.emu.Faults().Add(emulator.Behind(1).On(emulator.QueryItems).Container("leases").Keep())
	if ids := b.quarantined(p); len(ids) != 1 {
		t.Errorf("in quarantine by a replica that is behind: %v", ids)
	}
}

// While a document changes, replays read it again, and never what was before.
func TestReplayReadsNoOlderVersion(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // it sets a fault of its own
	var h picky
	b.refused(&h)
	var once sync.Once
	p := b.processor(b.config("replay"), func(ctx context.Context, changes []changefeed.Change) error {
		once.Do(func() { b.put("t1", "d", 9) })
		return h.handle(ctx, changes)
	})
	b.emu.Faults().Add(emulator.Behind(1).On(emulator.ReadItem).Container(monitored).Nth(3)) // the one after 9 was handled
	if n, err := p.Replay(t.Context()); n != 3 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
	if want := []string{"t1/d=3", "t1/d=9"}; !slices.Equal(h.got, want) {
		t.Errorf("handled %v", h.got)
	}
}

// A change that was accepted is removed, also when the service asks for that once more.
func TestReplayRemovesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // it sets faults of its own
	var h picky
	p := b.refused(&h)
	b.emu.Faults().Add(emulator.Answer(449, 0).On(emulator.DeleteItem).Container("leases"))
	if n, err := p.Replay(t.Context()); n != 3 || err != nil || len(h.got) != 1 {
		t.Errorf("replayed %d, %v, handled %v", n, err, h.got)
	}
}
