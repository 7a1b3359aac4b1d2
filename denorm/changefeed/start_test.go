package changefeed_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

func TestStartPositions(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(3))
	b.put("t", "old", 1)
	b.emu.Clock().Advance(time.Hour)
	middle := b.emu.Clock().Now()
	b.emu.Clock().Advance(time.Hour)
	b.put("t", "new", 1)
	for name, tt := range map[string]struct {
		start changefeed.Start
		sees  []string
	}{
		"beginning": {changefeed.Beginning(), []string{"t/new", "t/old"}},
		"time":      {changefeed.At(middle), []string{"t/new"}},
		"now":       {changefeed.Now(), nil},
	} {
		var s seen
		cfg := b.config(name)
		cfg.StartFrom = tt.start
		if err := b.processor(cfg, s.handle).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for key := range s.last {
			got = append(got, key)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.sees) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// From now means from what the service calls now: it does not matter how far
// its clock and this machine's are apart.
func TestNowAsksNoClock(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"the service is behind": -time.Hour, "the same": 0, "the service is ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, emulatortest.WithPartitions(3), emulatortest.WithClock(emulator.NewClockAt(time.Now().Add(skew))))
			b.fill(30)
			var s seen
			cfg := b.config("now")
			cfg.StartFrom = changefeed.Now()
			p := b.processor(cfg, s.handle)
			if _, err := p.Lag(t.Context()); err != nil { // makes the leases
				t.Fatal(err)
			}
			for i := range 7 {
				b.put(fmt.Sprint("t", i), "new", 1)
			}
			// A split before the first read must not make its children begin later.
			b.emu.Split(database, monitored, b.emu.Ranges(database, monitored)[1].ID)
			if err := p.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.count() != 7 {
				t.Errorf("seen: %v", s.last)
			}
		})
	}
}

// An instance that is killed while it makes the first leases leaves some of
// them. The next instance makes the others, also when ranges were split or
// merged meanwhile.
func TestHalfMadeLeasesAreCompleted(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*testBundle){
		"nothing happened": func(*testBundle) {},
		"a split":          func(b *testBundle) { b.emu.Split(database, monitored, b.emu.Ranges(database, monitored)[3].ID) },
		"a merge": func(b *testBundle) {
			ranges := b.emu.Ranges(database, monitored)
			b.emu.Merge(database, monitored, ranges[1].ID, ranges[2].ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, emulatortest.WithPartitions(4))
			b.fill(60)
			ctx, kill := context.WithCancel(t.Context())
			created := 0
			cfg := b.config("half")
			cfg.Container, cfg.Leases = b.through(b.emu.Endpoint(), transport(func(r *http.Request) (*http.Response, error) {
				resp, err := b.emu.Transport().Do(r)
				if r.Method == http.MethodPost && !isQuery(r) && err == nil && resp.StatusCode == http.StatusCreated {
					if created++; created == 3 { // where it begins, and two leases
						kill()
					}
				}
				return resp, err
			}))
			if err := b.processor(cfg, new(seen).handle).CatchUp(ctx); err == nil {
				t.Fatal("it was not killed")
			}
			if n := len(b.leaseDocuments()); n != 2 {
				t.Fatalf("%d leases were made", n)
			}
			meanwhile(b)
			var s seen
			if err := b.processor(b.config("half"), s.handle).CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.count() != 60 {
				t.Errorf("%d of 60 documents were seen", s.count())
			}
		})
	}
}

// Documents that others put into the lease container stop nothing, whatever
// their ids, and are told of once. A lease that was deleted is told of.
func TestForeignDocumentsInTheLeaseContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, foreignDocumentsInTheLeaseContainer)
}

func foreignDocumentsInTheLeaseContainer(t *testing.T) {
	b := setup(t, emulatortest.WithPartitions(2), emulatortest.Calm()) // it writes into the lease container itself
	var log logged
	cfg := b.config("mixed")
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var s seen
	p := b.processor(cfg, s.handle)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease := b.leaseDocuments()[0]
	id, _ := lease["id"].(string)
	prefix, _, _ := strings.Cut(id, "..")
	for _, doc := range []map[string]any{
		{"id": "something else"},
		{"id": prefix + "..note", "text": "a note"},
		{"id": prefix + "..0", "LeaseToken": "0", "Owner": "another", "version": 0},
		{"id": prefix + "..broken", "FeedRange": "00-FF", "properties": 1},
		{"id": "other..-FF", "LeaseToken": "-FF", "FeedRange": map[string]any{"Range": map[string]string{"min": "", "max": "FF"}}},
	} {
		id, _ := doc["id"].(string)
		if _, err := b.leases.CreateItem(t.Context(), azcosmos.NewPartitionKeyString(id), encode(t, doc), nil); err != nil {
			t.Fatal(err)
		}
	}
	b.fill(40)
	for range 2 {
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s.count() != 40 {
		t.Errorf("%d of 40 documents were seen", s.count())
	}
	if n := strings.Count(log.String(), "is not a lease"); n != 3 || strings.Contains(log.String(), "a note") {
		t.Errorf("%d documents were told of:\n%s", n, log.String())
	}

	if _, err := b.leases.DeleteItem(t.Context(), azcosmos.NewPartitionKeyString(id), id, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.eventually(func() bool { return strings.Contains(log.String(), "a lease is gone") }, "the missing lease is told of")
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A continuation that can't be sent, which something else wrote, holds up its own range alone, and is told of with the way out.
func TestALeaseWithAContinuationThatIsNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, emulatortest.WithPartitions(2), emulatortest.Calm()) // it writes into the lease container itself
		b.fill(20)
		var log logged
		cfg := b.config("continuation")
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		if err := b.processor(cfg, new(seen).handle).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		lease := b.leaseDocuments()[0]
		id, _ := lease["id"].(string)
		lease["ContinuationToken"] = "\"7\"\r\nx: y"
		upsert(t, b.leases, azcosmos.NewPartitionKeyString(id), encode(t, lease))
		for i := range 7 {
			b.put(fmt.Sprint("t", i), "late", 2)
		}
		var s seen
		p := b.processor(cfg, s.handle)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if n := s.count(); n == 0 || n >= 7 || strings.Count(log.String(), "lease="+strconv.Quote(id))+strings.Count(log.String(), "lease="+id) != 1 {
			t.Errorf("%d changes were handled; the log:\n%s", n, log.String())
		}
		b.drop(id)
		<-time.After(2 * time.Minute)
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.count(); n < 7 {
			t.Errorf("%d changes were handled once the lease was deleted", n)
		}
	})
}

// logged is a log that may be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// An instance that is killed while it puts children's leases in the place of
// their parent's leaves the parent's and one of them. The next instance
// finishes it: nothing is lost, no child begins before its parent is gone, and
// the epochs go on growing.
func TestHalfMadeSplitIsCompleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, halfMadeSplitIsCompleted)
}

func halfMadeSplitIsCompleted(t *testing.T) {
	b := setup(t, emulatortest.Calm()) // it writes leases itself
	book := newLedger(b.emu.Handler())
	ctx, kill := context.WithCancel(t.Context())
	splitting := false
	cfg := b.hasty("half")
	cfg.Container, cfg.Leases = b.through(b.emu.Endpoint(), transport(func(r *http.Request) (*http.Response, error) {
		resp, err := book.Do(r)
		if splitting && r.Method == http.MethodPost && !isQuery(r) && err == nil {
			kill()
		}
		return resp, err
	}))
	_, b.leases = b.through(b.emu.Endpoint(), book)
	witness := newWitness(book)
	handler := tell(func(l line) error { witness.hear(l); return nil })
	p := b.processor(cfg, handler)
	if err := p.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	written := map[string]int{}
	write := func(from int) {
		for n := from; n < from+20; n++ {
			b.put("t", fmt.Sprint("d", n), n)
			written[fmt.Sprint("t/d", n)] = n
		}
	}
	write(1)
	b.emu.Split(database, monitored, b.emu.Ranges(database, monitored)[0].ID)
	splitting = true
	if err := p.CatchUp(ctx); err == nil {
		t.Fatal("it was not killed")
	}
	if n := len(b.leaseDocuments()); n != 2 {
		t.Fatalf("%d leases are left", n)
	}
	write(21)
	// The next ones take the parent's range and are killed before they notice
	// the split; their epochs are the parent's.
	for range 3 {
		b.own("half")
	}
	cfg.Container, cfg.Leases = b.through(b.emu.Endpoint(), book)
	if err := b.processor(cfg, handler).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	witness.complete(written)
	for _, v := range append(witness.violations, book.violations...) {
		t.Error(v)
	}
	docs := b.leaseDocuments()
	if len(docs) != 2 {
		t.Errorf("%d leases are left", len(docs))
	}
	for _, doc := range docs {
		// After two runs, three owners that were killed, and the one that split it.
		if n, err := strconv.Atoi(doc["properties"].(map[string]any)["epoch"].(string)); err != nil || n < 6 {
			t.Errorf("%v is in epoch %d: %v", doc["id"], n, err)
		}
	}
}

// own takes the lease of the whole container for an instance that dies at once.
func (b *testBundle) own(name string) {
	b.t.Helper()
	for _, doc := range b.leaseDocuments() {
		id, _ := doc["id"].(string)
		properties, _ := doc["properties"].(map[string]any)
		if strings.HasPrefix(id, name) && strings.HasSuffix(id, "..-FF") {
			n, _ := strconv.Atoi(properties["epoch"].(string))
			doc["Owner"], properties["epoch"] = fmt.Sprint("killed", n+1), strconv.Itoa(n+1)
			b.storeLease(doc)
		}
	}
}
