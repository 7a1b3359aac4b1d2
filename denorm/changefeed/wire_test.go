package changefeed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// recorder notes the headers of the feed's requests, and can answer in the
// place of the service.
type recorder struct {
	mu      sync.Mutex
	headers []http.Header
}

func (r *recorder) through(b *testBundle) (items, leases *azcosmos.ContainerClient) {
	return b.through(b.emu.Endpoint(), transport(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("A-IM") != "" && strings.HasSuffix(req.URL.Path, "/colls/"+monitored+"/docs") {
			r.mu.Lock()
			r.headers = append(r.headers, req.Header.Clone())
			r.mu.Unlock()
		}
		return b.emu.Transport().Do(req)
	}))
}

func (r *recorder) taken() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.headers
	r.headers = nil
	return out
}

// A range as large as its partition is named by the partition's id alone; a
// smaller one by its bounds as well, which are never empty, with the type of
// bounds that the gateway knows.
func TestBoundsOnTheWire(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	var sent recorder
	cfg := b.config("bounds")
	cfg.Container, cfg.Leases = sent.through(b)
	p := b.processor(cfg, new(seen).handle)
	catchUp := func() []http.Header {
		t.Helper()
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		return sent.taken()
	}
	for _, h := range catchUp() {
		if h.Get("X-Ms-Start-Epk") != "" || h.Get("X-Ms-End-Epk") != "" || h.Get("X-Ms-Read-Key-Type") != "" || h.Get("X-Ms-Documentdb-Partitionkeyrangeid") == "" {
			t.Errorf("a range that is a whole partition: %v", h)
		}
	}
	ranges := b.emu.Ranges(database, monitored)
	middle := strings.TrimRight(ranges[1].MinInclusive, "0") + "0"
	b.emu.Merge(database, monitored, ranges[0].ID, ranges[1].ID)
	catchUp() // learns of the merge
	b.fill(20)
	got := map[string]bool{}
	for _, h := range catchUp() {
		start, end := h.Get("X-Ms-Start-Epk"), h.Get("X-Ms-End-Epk")
		if start == "" || end == "" || h.Get("X-Ms-Read-Key-Type") != "EffectivePartitionKeyRange" || h.Get("X-Ms-Documentdb-Partitionkeyrangeid") == "" {
			t.Errorf("a part of a partition: %v", h)
		}
		got[start+"-"+end] = true
	}
	if len(got) != 2 || !got["00-"+middle] || !got[middle+"-"+epk.Max] {
		t.Errorf("the bounds are %v", got)
	}
}

// padded is a gateway that pads every other bound of a listing to its full width, another one each time.
func (b *testBundle) padded() (items, leases *azcosmos.ContainerClient) {
	listings := 0
	const width = 2 * 2 * 16 // two levels of 16 bytes
	return b.through(b.emu.Endpoint(), transport(func(r *http.Request) (*http.Response, error) {
		resp, err := b.emu.Transport().Do(r)
		if err != nil || !strings.HasSuffix(r.URL.Path, "/pkranges") || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		listings++
		var page map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		ranges, _ := page["PartitionKeyRanges"].([]any)
		for i, r := range ranges {
			bounds, _ := r.(map[string]any)
			for _, name := range []string{"minInclusive", "maxExclusive"} {
				if bound, _ := bounds[name].(string); (i+listings)%2 == 0 && bound != "" && bound != epk.Max {
					bounds[name] = bound + strings.Repeat("0", width-len(bound))
				}
			}
		}
		body := encode(b.t, page)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp.Header.Del("Content-Length")
		return resp, nil
	}))
}

// Bounds that the service pads, some of a listing and not always the same, are those that were there before: nothing is lost or taken
// up twice over splits and merges, and the leases are found.
func TestPaddedBounds(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(3), emulatortest.Calm()) // its ranges are those of the test
	cfg := b.config("padded")
	cfg.Container, cfg.Leases = b.padded()
	var s seen
	for version := 1; version < 9; version++ {
		p := b.processor(cfg, s.handle)
		for i := range 40 {
			b.put(fmt.Sprint("t", i%7), fmt.Sprint("d", i), version)
		}
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for key, n := range s.last {
			if n != version {
				t.Fatalf("%s was seen in version %d of %d", key, n, version)
			}
		}
		if leases := b.estimator("padded"); s.count() != 40 || len(leases) != len(b.scaler("padded")) || len(leases) > 8 {
			t.Errorf("%d documents were seen, the leases are %v", s.count(), leases)
		}
		ranges := b.emu.Ranges(database, monitored)
		if version%4 == 3 {
			b.emu.Merge(database, monitored, ranges[0].ID, ranges[1].ID)
		} else {
			b.emu.Split(database, monitored, ranges[version%len(ranges)].ID)
		}
	}
}

// The time to start from goes out in the one form that the service is known to
// understand, and not together with a continuation.
func TestStartTimeOnTheWire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var sent recorder
	cfg := b.config("start")
	cfg.Container, cfg.Leases = sent.through(b)
	cfg.StartFrom = changefeed.At(time.Date(2026, 3, 1, 1, 2, 3, 0, time.FixedZone("", 3600)))
	b.fill(3)
	if err := b.processor(cfg, new(seen).handle).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	headers := sent.taken()
	for i, h := range headers {
		since, etag := h.Get("If-Modified-Since"), h.Get("If-None-Match")
		if since != "" && (since != "Sun, 01 Mar 2026 00:02:03 GMT" || etag != "") || since == "" && etag == "" {
			t.Errorf("request %d: since %q, etag %q", i, since, etag)
		}
	}
	if headers[0].Get("If-Modified-Since") == "" {
		t.Error("the first read has no time")
	}
}

// tokens gathers the session tokens of a test's writes, as an application does
// that uses the SDK alone.
type tokens struct {
	mu   sync.Mutex
	last map[string]string
}

func (s *tokens) note(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _, _ := strings.Cut(token, ":")
	if s.last == nil {
		s.last = map[string]string{}
	}
	s.last[id] = token
}

func (s *tokens) joined() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, token := range s.last {
		all = append(all, token)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func (s *tokens) put(b *testBundle, tenant, id string, n int) {
	b.t.Helper()
	i := item{ID: id, Tenant: tenant, Kind: "k", N: n}
	resp := upsert(b.t, b.items, azcosmos.NewPartitionKeyString(tenant).AppendString("k"), encode(b.t, i))
	s.note(*resp.SessionToken)
}

// While replicas are behind, catching up waits until they show what this
// process wrote, with tokens that name their own partition alone; also after
// that was split or merged.
func TestCatchUpSeesOwnWritesBehindALaggingReplica(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testBundle){
		"nothing changes": func(*testBundle) {},
		"a split":         func(b *testBundle) { b.emu.Split(database, monitored, b.emu.Ranges(database, monitored)[1].ID) },
		"a merge": func(b *testBundle) {
			r := b.emu.Ranges(database, monitored)
			b.emu.Merge(database, monitored, r[0].ID, r[1].ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.WithReplicaLag(3*time.Second), emulatortest.WithPartitions(3))
				var written tokens
				var sent recorder
				var s seen
				cfg := b.config("own")
				cfg.Container, cfg.Leases = sent.through(b)
				cfg.Session, cfg.LeaseDuration = written.joined, 20*time.Second
				p := b.processor(cfg, s.handle)
				for round := 1; round <= 3; round++ {
					for i := range 12 {
						written.put(b, fmt.Sprint("t", i), "d", round)
					}
					if round == 2 {
						change(b)
						for i := range 6 {
							written.put(b, fmt.Sprint("t", i), "d", round)
						}
					}
					if err := p.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
					for i := range 12 {
						if n := s.last[fmt.Sprintf("t%d/d", i)]; n != round {
							t.Errorf("round %d: t%d was seen as %d", round, i, n)
						}
					}
				}
				tokens := 0
				for _, h := range sent.taken() {
					if token := h.Get("X-Ms-Session-Token"); token != "" {
						tokens++
						// The SDK sends a request again as it is when it learns that the partition is gone.
						id, _, _ := strings.Cut(token, ":")
						to := h.Get("X-Ms-Documentdb-Partitionkeyrangeid")
						parent := slices.ContainsFunc(b.emu.Ranges(database, monitored), func(r emulator.Range) bool { return r.ID == to && slices.Contains(r.Parents, id) })
						if strings.Contains(token, ",") || id != to && !parent {
							t.Errorf("partition %s was asked with the token %s", h.Get("X-Ms-Documentdb-Partitionkeyrangeid"), token)
						}
					}
				}
				if tokens == 0 {
					t.Error("no read had a token")
				}
			})
		})
	}
}

// A position never goes back, whichever replica answers: not when the range
// comes to a process that knows no session.
func TestPositionsDoNotGoBackOnALaggingReplica(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithClock(emulator.NewClockAt(time.Now())))
	b.fill(10)
	var first, second seen
	if err := b.processor(b.config("back"), first.handle).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	continuation := func() any { return b.leaseDocuments()[0]["ContinuationToken"] }
	doc := b.leaseDocuments()[0]
	doc["ContinuationToken"] = `"1000"` // another replica had come as far
	b.storeLease(doc)
	if err := b.processor(b.config("back"), second.handle).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if continuation() != `"1000"` || second.count() != 0 {
		t.Errorf("the position is %v, and %d changes came again", continuation(), second.count())
	}
}
