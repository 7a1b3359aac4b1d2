package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// modelItem is what the model knows of an item.
type modelItem struct {
	n       int
	etag    string
	expires time.Time // zero means never
}

// machine runs random operations on a container and on a map, and two feed readers that follow the container through
// every split and merge.
type machine struct {
	b      *testBundle
	model  map[[3]string]modelItem // tenant, type, id
	latest *reader
	all    *reader
	next   int

	journal *memoryJournal
}

func newMachine(t *rapid.T, tb testing.TB) *machine {
	m := &machine{model: map[[3]string]modelItem{}, journal: &memoryJournal{}}
	m.b = setup(tb, store.Options{Partitions: rapid.IntRange(1, 3).Draw(t, "partitions"), Journal: m.journal},
		`{"id":"c","partitionKey":{"paths":["/t","/e"]},"defaultTtl":-1,"changeFeedPolicy":{"retentionDuration":100000}}`)
	m.latest = newReader(tb, m.b.c, (*store.Container).LatestVersions)
	m.all = newReader(tb, m.b.c, (*store.Container).AllVersions)
	return m
}

func (m *machine) live() map[[3]string]modelItem {
	maps.DeleteFunc(m.model, func(_ [3]string, it modelItem) bool {
		return !it.expires.IsZero() && !m.b.clock.Now().Before(it.expires)
	})
	return m.model
}

func drawKey(t *rapid.T) [3]string {
	return [3]string{
		rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "tenant"),
		rapid.SampledFrom([]string{"Note", "Person"}).Draw(t, "type"),
		rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"),
	}
}

func (m *machine) body(t *rapid.T, k [3]string) ([]byte, modelItem) {
	m.next++
	it := modelItem{n: m.next}
	ttl := ""
	if seconds := rapid.SampledFrom([]int{0, 0, 0, 3}).Draw(t, "ttl"); seconds > 0 {
		ttl = fmt.Sprintf(`,"ttl":%d`, seconds)
		it.expires = m.b.clock.Now().Add(time.Duration(seconds) * time.Second)
	}
	return fmt.Appendf(nil, `{"id":%q,"t":%q,"e":%q,"n":%d%s}`, k[2], k[0], k[1], it.n, ttl), it
}

func (m *machine) wrote(k [3]string, it modelItem, r store.Result) {
	it.etag = r.ETag
	m.live()[k] = it
}

func statusOf(err error) int {
	var e *store.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// expect compares the outcome with what the model says and reports whether the write happened.
func expect(t *rapid.T, err error, refused bool, status int) bool {
	if refused && statusOf(err) != status || !refused && err != nil {
		t.Fatalf("got %v, want refusal %v with %d", err, refused, status)
	}
	return !refused
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"create": func(t *rapid.T) {
			k := drawKey(t)
			body, it := m.body(t, k)
			_, exists := m.live()[k]
			r, err := m.b.c.CreateItem(at(k[0], k[1]), body)
			if expect(t, err, exists, 409) {
				m.wrote(k, it, r)
			}
		},
		"upsert": func(t *rapid.T) {
			k := drawKey(t)
			body, it := m.body(t, k)
			r, err := m.b.c.UpsertItem(at(k[0], k[1]), body)
			expect(t, err, false, 0)
			m.wrote(k, it, r)
		},
		"replace": func(t *rapid.T) {
			k, call := drawKey(t), store.Call{}
			body, it := m.body(t, k)
			was, exists := m.live()[k]
			call.Key, call.IfMatch = key(k[0], k[1]), was.etag
			stale := exists && rapid.Bool().Draw(t, "stale")
			if stale {
				call.IfMatch = `"stale"`
			}
			r, err := m.b.c.ReplaceItem(call, k[2], body)
			switch {
			case stale:
				expect(t, err, true, 412)
			case expect(t, err, !exists, 404):
				m.wrote(k, it, r)
			}
		},
		"rename": func(t *rapid.T) {
			from := drawKey(t)
			to := [3]string{from[0], from[1], rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "to")}
			body, it := m.body(t, to)
			_, exists := m.live()[from]
			_, taken := m.live()[to]
			r, err := m.b.c.ReplaceItem(at(from[0], from[1]), from[2], body)
			switch {
			case !exists:
				expect(t, err, true, 404)
			case expect(t, err, taken && from != to, 409):
				delete(m.model, from)
				m.wrote(to, it, r)
			}
		},
		"delete": func(t *rapid.T) {
			k := drawKey(t)
			_, exists := m.live()[k]
			_, err := m.b.c.DeleteItem(at(k[0], k[1]), k[2])
			if expect(t, err, !exists, 404) {
				delete(m.model, k)
			}
		},
		"patch": func(t *rapid.T) {
			k := drawKey(t)
			was, exists := m.live()[k]
			r, err := m.b.c.PatchItem(at(k[0], k[1]), k[2], store.Patch{Operations: []store.PatchOperation{{Kind: "incr", Path: "/n", Value: []byte("1")}}})
			if expect(t, err, !exists, 404) {
				m.next++
				if life := was.expires; !life.IsZero() {
					was.expires = m.b.clock.Now().Add(3 * time.Second)
				}
				was.n++
				m.wrote(k, was, r)
			}
		},
		"batch":   m.batch,
		"read":    m.read,
		"restart": m.restart,
		"split":   m.split,
		"merge":   m.merge,
		"advance": func(t *rapid.T) {
			m.b.clock.Advance(time.Duration(rapid.IntRange(1, 2).Draw(t, "seconds")) * time.Second)
		},
		"follow": func(*rapid.T) { m.latest.drain(); m.all.drain() },
		"":       m.check,
	}
}

// batch upserts one item and creates another, which fails as a whole when that one exists.
func (m *machine) batch(t *rapid.T) {
	k := drawKey(t)
	other := [3]string{k[0], k[1], rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "other")}
	body, it := m.body(t, k)
	otherBody, otherItem := m.body(t, other)
	_, exists := m.live()[other]
	out, err := m.b.c.Batch(at(k[0], k[1]), []store.Operation{{Kind: store.OpUpsert, Body: body}, {Kind: store.OpCreate, Body: otherBody}})
	if err != nil {
		t.Fatal(err)
	}
	if refused := exists || other == k; refused != out.Failed {
		t.Fatalf("batch failed: %v, want %v", out.Failed, refused)
	}
	if !out.Failed {
		m.wrote(k, it, out.Results[0].Result)
		m.wrote(other, otherItem, out.Results[1].Result)
	}
}

func (m *machine) read(t *rapid.T) {
	k := drawKey(t)
	it, exists := m.live()[k]
	r, err := m.b.c.ReadItem(at(k[0], k[1]), k[2])
	if !expect(t, err, !exists, 404) {
		return
	}
	v, _ := value.Parse(r.Body)
	if n, _ := v.Get("n").Number(); int(n) != it.n || r.ETag != it.etag {
		t.Fatalf("%v: read %v %s, model %+v", k, n, r.ETag, it)
	}
}

// restart goes on with an account that knows only what the journal holds.
func (m *machine) restart(t *rapid.T) {
	account, err := store.Open(store.Options{Now: m.b.clock.Now, Journal: m.journal})
	if err != nil {
		t.Fatal(err)
	}
	db, err := account.Database("db")
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Container("c")
	if err != nil {
		t.Fatal(err)
	}
	before, beforeETag := m.b.c.Ranges()
	after, afterETag := c.Ranges()
	if !slices.EqualFunc(before, after, func(a, b store.Range) bool { return string(a.Body) == string(b.Body) }) || beforeETag != afterETag {
		t.Fatalf("ranges were %+v and are %+v", before, after)
	}
	if was, is := m.b.c.Usage(), c.Usage(); was != is {
		t.Fatalf("usage was %+v and is %+v", was, is)
	}
	m.b.account, m.b.db, m.b.c = account, db, c
	m.latest.c, m.all.c = c, c
}

func (m *machine) split(t *rapid.T) {
	ranges, _ := m.b.c.Ranges()
	if len(ranges) > 8 {
		t.Skip("enough ranges")
	}
	if _, err := m.b.c.Split(rapid.SampledFrom(ranges).Draw(t, "range").ID); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) merge(t *rapid.T) {
	ranges, _ := m.b.c.Ranges()
	if len(ranges) < 2 {
		t.Skip("one range")
	}
	i := rapid.IntRange(0, len(ranges)-2).Draw(t, "range")
	if _, err := m.b.c.Merge(ranges[i].ID, ranges[i+1].ID); err != nil {
		t.Fatal(err)
	}
}

// check compares everything that can be listed.
func (m *machine) check(t *rapid.T) {
	ranges, _ := m.b.c.Ranges()
	bound := epk.Min
	for _, r := range ranges {
		if r.Min != bound {
			t.Fatalf("a gap between %q and %q", bound, r.Min)
		}
		bound = r.Max
	}
	if bound != epk.Max {
		t.Fatalf("the ranges end at %q", bound)
	}
	scopes := []store.Scope{{}, {Key: key("t1")}, {Key: key("t2", "Note")}}
	for _, r := range ranges {
		scopes = append(scopes, store.Scope{RangeID: r.ID})
	}
	inRanges := 0
	for i, s := range scopes {
		got, err := m.b.c.Snapshot(s, "")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		last := ""
		for d := range got.Items("") {
			tenant, _ := d.Value().Get("t").Str()
			kind, _ := d.Value().Get("e").Str()
			number, _ := d.Value().Get("n").Number()
			it, exists := m.live()[[3]string{tenant, kind, d.ID}]
			if !exists || it.n != int(number) || it.etag != d.ETag() || !matches(s.Key, tenant, kind) {
				t.Fatalf("scope %+v yields %s/%s/%s n=%v, model %+v %v", s, tenant, kind, d.ID, number, it, exists)
			}
			n++
			last = d.RID
		}
		for range got.Items(last) {
			if last != "" {
				t.Fatalf("more items behind the last one, %s", last)
			}
		}
		if want := m.count(s.Key); i < 3 && n != want {
			t.Fatalf("scope %+v yields %d items, model has %d", s, n, want)
		}
		if s.RangeID != "" {
			inRanges += n
		}
	}
	if inRanges != len(m.live()) {
		t.Fatalf("the ranges hold %d items, the model %d", inRanges, len(m.live()))
	}
}

func matches(k store.Key, parts ...string) bool {
	return slices.Equal(k, key(parts[:len(k)]...))
}

func (m *machine) count(k store.Key) int {
	n := 0
	for at := range m.live() {
		if matches(k, at[0], at[1]) {
			n++
		}
	}
	return n
}

// verifyReaders drains the feeds and compares what they told with the model. The latest-version feed does not tell
// deletes, so what it told may be more than there is, but never less or older.
func (m *machine) verifyReaders(t *rapid.T) {
	m.latest.drain()
	m.all.drain()
	if len(m.all.seen) != len(m.live()) {
		t.Fatalf("all versions lead to %v, model %v", m.all.seen, m.live())
	}
	latest, all := m.latest.told(), m.all.told()
	for k, it := range m.live() {
		if want := (told{key: k, n: it.n}); !latest[want] || !all[want] {
			t.Fatalf("the latest versions told %+v: %v; all versions lead to it: %v", want, latest[want], all[want])
		}
	}
}

// TestModel is the store against a map, with feeds that must lose nothing over splits, merges and restarts.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(rt, t)
		rt.Repeat(m.actions())
		m.verifyReaders(rt)
	})
}
