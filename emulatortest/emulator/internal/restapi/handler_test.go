package restapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// bundle is a handler with database "db" and two containers: "items" (/pk) and "tree" (/a, /b).
type bundle struct {
	h       *Handler
	account *store.Account
	mu      *sync.Mutex // of log, while requests are under way
	log     []Exchange
	host    string // that requests name; empty is emulator.test
}

func setup(t testing.TB) *bundle {
	t.Helper()
	b := &bundle{account: store.New(store.Options{}), mu: &sync.Mutex{}}
	h, err := New(Config{
		Account:   b.account,
		Key:       testKey,
		WallClock: time.Now,
		Clock:     time.Now,
		Wait:      func(context.Context, time.Duration) error { return nil },
		Faults:    &faults.Set{},
		Record: func(e Exchange) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.log = append(b.log, e)
		},
		Consistency: "Session",
		MaxBody:     4 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.h = h
	for _, r := range []struct{ path, body string }{
		{"/dbs", `{"id":"db"}`},
		{"/dbs/db/colls", `{"id":"items","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`},
		{"/dbs/db/colls", `{"id":"tree","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}}`},
	} {
		if a := b.do(t, http.MethodPost, r.path, r.body); a.Status != http.StatusCreated {
			t.Fatalf("POST %s: %d %s", r.path, a.Status, a.Body)
		}
	}
	return b
}

// do sends a signed request; headers are pairs of name and text.
func (b *bundle) do(t testing.TB, method, path, body string, headers ...string) *Answer {
	t.Helper()
	a := b.exchange(t, method, path, body, headers...)
	if a.Status >= http.StatusBadRequest {
		var e struct{ Code, Message string }
		if err := json.Unmarshal(a.Body, &e); err != nil || e.Message == "" || e.Code == "" {
			t.Errorf("%s %s: the error's body is %q", method, path, a.Body)
		}
	}
	if a.Header.Get("x-ms-activity-id") == "" || a.Header.Get("x-ms-request-charge") == "" {
		t.Errorf("%s %s: the answer lacks its activity id or charge", method, path)
	}
	return a
}

func (b *bundle) exchange(t testing.TB, method, path, body string, headers ...string) *Answer {
	t.Helper()
	return b.exchangeUntil(t.Context(), t, method, path, body, headers...)
}

// exchangeUntil sends a request of a client that leaves when the context ends.
func (b *bundle) exchangeUntil(ctx context.Context, t testing.TB, method, path, body string, headers ...string) *Answer {
	t.Helper()
	pathOnly, _, _ := strings.Cut(path, "?")
	request := &http.Request{
		Method: method,
		URL:    &url.URL{Scheme: "http", Host: "emulator.test", Opaque: ""},
		Host:   cmp.Or(b.host, "emulator.test"),
		Header: http.Header{},
		Body:   http.NoBody,
	}
	if decoded, err := url.PathUnescape(pathOnly); err == nil {
		request.URL.Path, request.URL.RawPath = decoded, pathOnly
	} else {
		request.URL.Path = pathOnly
	}
	if body != "" {
		request.Body = readCloser{bytes.NewReader([]byte(body))}
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	request.Header.Set("x-ms-date", date)
	if l, err := parseLink(request.URL.EscapedPath()); err == nil {
		typ, signed := l.signed()
		request.Header.Set("Authorization", sign(t, testKey, method, typ, signed, date))
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	a, err := b.h.Exchange(request.WithContext(ctx))
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

const keyHeader = "x-ms-documentdb-partitionkey"

func TestMalformedRequestsGetTheErrorShape(t *testing.T) {
	t.Parallel()
	const docs, item = "/dbs/db/colls/items/docs", "/dbs/db/colls/items/docs/1"
	cases := []struct {
		name, method, path, body string
		headers                  []string
		want                     int
		substatus                string
	}{
		{"unknown path", "GET", "/nothing", "", nil, 400, ""},
		{"half an escape", "GET", "/dbs/%z", "", nil, 404, ""},
		{"unknown verb", "PATCH", "/dbs/db", "", nil, 405, ""},
		{"unknown method", "BREW", docs, "", nil, 405, ""},
		{"a user of no database", "GET", "/dbs/none/users/u", "", nil, 404, "1003"},
		{"a missing user", "GET", "/dbs/db/users/u", "", nil, 404, ""},
		{"a permission of no user", "GET", "/dbs/db/users/u/permissions", "", nil, 404, "1003"},
		{"attachments", "GET", item + "/attachments", "", nil, 501, ""},
		{"stored procedure", "POST", "/dbs/db/colls/items/sprocs/s", "[]", nil, 404, ""},
		{"trigger", "POST", docs, `{"id":"1","pk":"a"}`, []string{keyHeader, `["a"]`, "x-ms-documentdb-pre-trigger-include", "t"}, 400, ""},
		{"old API version", "GET", "/dbs/db", "", []string{"x-ms-version", "2015-01-01"}, 400, ""},
		{"garbage API version", "GET", "/dbs/db", "", []string{"x-ms-version", "x"}, 400, ""},
		{"garbage consistency", "GET", item, "", []string{keyHeader, `["a"]`, "x-ms-consistency-level", "Loose"}, 400, ""},
		{"garbage directive", "POST", docs, `{"id":"1","pk":"a"}`, []string{keyHeader, `["a"]`, "x-ms-indexing-directive", "Perhaps"}, 400, ""},
		{"garbage A-IM", "GET", docs, "", []string{"A-IM", "Everything"}, 400, ""},
		{"garbage feed etag", "GET", docs, "", []string{"A-IM", "Incremental Feed", "If-None-Match", `"x"`}, 400, ""},
		{"page of -2", "GET", docs, "", []string{"x-ms-max-item-count", "-2"}, 400, ""},
		{"page beyond int32", "GET", docs, "", []string{"x-ms-max-item-count", "2147483648"}, 400, ""},
		{"page of words", "GET", docs, "", []string{"x-ms-max-item-count", "many"}, 400, ""},
		{"foreign continuation", "GET", docs, "", []string{"x-ms-continuation", "abc"}, 400, ""},
		{"foreign continuation of a metadata feed", "GET", "/dbs", "", []string{"x-ms-continuation", "m1--4"}, 400, ""},
		{"garbage session token", "GET", item, "", []string{keyHeader, `["a"]`, "x-ms-session-token", "x"}, 400, ""},
		{"unknown range", "GET", docs, "", []string{"x-ms-documentdb-partitionkeyrangeid", "77"}, 410, "1002"},
		{"garbage hash", "GET", docs, "", []string{"x-ms-start-epk", "xyz", "x-ms-end-epk", "FF", "x-ms-read-key-type", "EffectivePartitionKeyRange"}, 400, ""},
		{"key header of words", "GET", item, "", []string{keyHeader, "a"}, 400, ""},
		{"no key", "GET", item, "", nil, 400, ""},
		{"no key on a create", "POST", docs, `{"id":"1","pk":"a"}`, nil, 400, ""},
		{"too many levels", "GET", item, "", []string{keyHeader, `["a","b"]`}, 400, ""},
		{"prefix on a point read", "GET", "/dbs/db/colls/tree/docs/1", "", []string{keyHeader, `["a"]`}, 400, "1001"},
		{"prefix on a feed", "GET", "/dbs/db/colls/tree/docs", "", []string{keyHeader, `["a"]`}, 400, "1001"},
		{"other key than the document's", "POST", docs, `{"id":"1","pk":"a"}`, []string{keyHeader, `["b"]`}, 400, "1001"},
		{"no body", "POST", docs, "", []string{keyHeader, `["a"]`}, 400, ""},
		{"body of an array", "POST", docs, `[]`, []string{keyHeader, `["a"]`}, 400, ""},
		{"body cut short", "POST", docs, `{"id":`, []string{keyHeader, `["a"]`}, 400, ""},
		{"no id", "POST", docs, `{"pk":"a"}`, []string{keyHeader, `["a"]`}, 400, ""},
		{"large item", "POST", docs, `{"id":"1","pk":"a","x":"` + strings.Repeat("x", 2<<20) + `"}`, []string{keyHeader, `["a"]`}, 413, ""},
		{"large body", "POST", docs, `{"id":"1","pk":"a","x":"` + strings.Repeat("x", 4<<20) + `"}`, []string{keyHeader, `["a"]`}, 413, ""},
		{"missing item", "GET", item, "", []string{keyHeader, `["a"]`}, 404, ""},
		{"missing container of an item", "GET", "/dbs/db/colls/none/docs/1", "", []string{keyHeader, `["a"]`}, 404, "1003"},
		{"missing container", "GET", "/dbs/db/colls/none", "", nil, 404, ""},
		{"missing database of a container", "GET", "/dbs/none/colls/items", "", nil, 404, "1003"},
		{"missing database", "GET", "/dbs/none", "", nil, 404, ""},
		{"missing offer", "GET", "/offers/none", "", nil, 404, ""},
		{"another container of that name", "GET", item, "", []string{keyHeader, `["a"]`, "x-ms-cosmos-intended-collection-rid", "AAAAAA=="}, 400, "1024"},
		{"database again", "POST", "/dbs", `{"id":"db"}`, nil, 409, "3206"},
		{"database without id", "POST", "/dbs", `{}`, nil, 400, ""},
		{"both throughputs", "POST", "/dbs", `{"id":"x"}`, []string{"x-ms-offer-throughput", "400", "x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":4000}`}, 400, ""},
		{"garbage autoscale", "POST", "/dbs", `{"id":"x"}`, []string{"x-ms-cosmos-offer-autopilot-settings", `{}`}, 400, ""},
		{"empty batch", "POST", docs, `[]`, []string{keyHeader, `["a"]`, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}, 400, ""},
		{"batch of words", "POST", docs, `["x"]`, []string{keyHeader, `["a"]`, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}, 400, ""},
		{"unknown operation", "POST", docs, `[{"operationType":"Execute"}]`, []string{keyHeader, `["a"]`, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}, 400, ""},
		{"bulk with a key of words", "POST", docs, `[{"operationType":"Read","id":"1","partitionKey":"x"}]`, []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "false"}, 400, ""},
		{"patch of words", "PATCH", item, `"x"`, []string{keyHeader, `["a"]`}, 400, ""},
		{"patch with broken condition", "PATCH", item, `{"condition":"from c where c.n = \"","operations":[{"op":"set","path":"/n","value":1}]}`, []string{keyHeader, `["a"]`}, 400, ""},
		{"query of words", "POST", docs, `SELECT`, []string{"Content-Type", "application/query+json"}, 400, ""},
		{"query that does not parse", "POST", docs, `{"query":"SELECT * FROM"}`, []string{"Content-Type", "application/query+json"}, 400, ""},
		{"delete by no key", "POST", "/dbs/db/colls/items/operations/partitionkeydelete", "", nil, 400, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := setup(t).do(t, c.method, c.path, c.body, c.headers...)
			if a.Status != c.want || strings.TrimLeft(a.Header.Get("x-ms-substatus"), "0") != c.substatus {
				t.Errorf("got %d/%s %s, want %d/%s", a.Status, a.Header.Get("x-ms-substatus"), a.Body, c.want, c.substatus)
			}
		})
	}
}

func TestMinimalAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs = "/dbs/db/colls/items/docs"
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"POST", docs, 201}, {"PUT", docs + "/1", 200},
	} {
		a := b.do(t, c.method, c.path, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`, "Prefer", "return=minimal")
		if a.Status != c.status || len(a.Body) != 0 || a.Header.Get("etag") == "" {
			t.Errorf("%s: %d, %d bytes, etag %q", c.method, a.Status, len(a.Body), a.Header.Get("etag"))
		}
	}
	a := b.do(t, "GET", docs+"/1", "", keyHeader, `["a"]`, "Prefer", "return=minimal")
	if len(a.Body) == 0 {
		t.Error("a read was emptied")
	}
	a = b.do(t, "GET", docs+"/1", "", keyHeader, `["a"]`, "If-None-Match", a.Header.Get("etag"))
	if a.Status != http.StatusNotModified || len(a.Body) != 0 || a.Header.Get("etag") == "" {
		t.Errorf("an unchanged read: %d, %d bytes", a.Status, len(a.Body))
	}
}

func TestErrorsKeepTheSessionToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, "POST", "/dbs/db/colls/items/docs", `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	a := b.do(t, "GET", "/dbs/db/colls/items/docs/none", "", keyHeader, `["a"]`)
	for _, name := range []string{"x-ms-session-token", "lsn", "x-ms-content-path", "x-ms-alt-content-path"} {
		if a.Header.Get(name) == "" {
			t.Errorf("a missing item's answer has no %s", name)
		}
	}
}

func TestRangesEndWith304(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/dbs/db/colls/items/pkranges"
	first := b.do(t, "GET", path, "", "A-IM", "Incremental Feed", "x-ms-max-item-count", "-1")
	etag := first.Header.Get("etag")
	second := b.do(t, "GET", path, "", "A-IM", "Incremental Feed", "If-None-Match", etag)
	if first.Status != 200 || etag == "" || second.Status != http.StatusNotModified || second.Header.Get("etag") != etag {
		t.Errorf("first %d etag %q, then %d etag %q", first.Status, etag, second.Status, second.Header.Get("etag"))
	}
}

func TestRoutingGatewayCannotAddressSomeIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.h = b.h.RoutingGateway()
	for _, c := range []struct {
		id   string
		want int
	}{
		{"plain", 404}, {"in the middle", 404}, {" before", 404}, {"after ", 401}, {"a?b", 404}, {"a/b", 401}, {`a\b`, 401},
		{"a#b", 401}, {"a%20b", 401}, {"100%", 404}, {"a\tb", 400}, {"a\nb", 400}, {"鱀", 404},
	} {
		a := b.do(t, "GET", "/dbs/db/colls/items/docs/"+url.PathEscape(c.id), "", keyHeader, `["a"]`)
		if a.Status != c.want {
			t.Errorf("%q: %d, want %d", c.id, a.Status, c.want)
		}
	}
}

func TestAccountNamesTheAddressThatWasUsed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct{ host, want string }{
		{"localhost:8081", "http://127.0.0.1:8081/"},
		{"cosmos.test:1234", "http://cosmos.test:1234/"},
		{"cosmos.test", "http://cosmos.test/"},
	} {
		r := &http.Request{URL: &url.URL{}, Host: c.host}
		if got := b.h.endpoint(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.host, got, c.want)
		}
	}
}

// Whatever is sent, the answer is none of the service's failures and has the service's shape.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/dbs/db/colls/items/docs/1", keyHeader, `["a"]`, "")
	f.Add("POST", "/dbs/db/colls/items/docs", keyHeader, `["a"]`, `{"id":"1","pk":"a"}`)
	f.Add("PATCH", "/dbs/db/colls/items/docs/1", keyHeader, `["a"]`, `[{"op":"add","path":"/x/-","value":1}]`)
	f.Add("POST", "/dbs/db/colls/items/docs", "Content-Type", "application/query+json", `{"query":"SELECT * FROM c WHERE c.n = 1"}`)
	f.Add("PUT", "/dbs/db/colls/items", "If-Match", `"x"`, `{"id":"items"}`)
	f.Add("POST", "/dbs/db/colls/items/docs", "x-ms-cosmos-is-batch-request", "True", `[{"operationType":"Read","id":"1","partitionKey":"[\"a\"]"}]`)
	f.Fuzz(func(t *testing.T, method, path, name, text, body string) {
		if method == "" || strings.HasPrefix(path, "http") {
			return
		}
		began := time.Now()
		a := setup(t).do(t, method, path, body, name, text)
		if d := time.Since(began); d > time.Minute {
			t.Errorf("%s %q %q: %q %q took %v", method, path, body, name, text, d)
		}
		if a.Status >= http.StatusInternalServerError && a.Status != http.StatusNotImplemented {
			t.Errorf("%s %q %q: %q %q gave %d %s", method, path, body, name, text, a.Status, a.Body)
		}
	})
}
