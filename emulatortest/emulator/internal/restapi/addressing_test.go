package restapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// self reads _self out of an answer; it serves as a path.
func self(t *testing.T, a *Answer) string {
	t.Helper()
	var resource struct {
		Self string `json:"_self"`
	}
	if err := json.Unmarshal(a.Body, &resource); err != nil || resource.Self == "" {
		t.Fatalf("no _self in %d %s", a.Status, a.Body)
	}
	return "/" + resource.Self
}

// What the service calls a resource's own link leads to it, with every verb.
func TestSelfLinksServeEveryVerb(t *testing.T) {
	t.Parallel()
	b := setup(t)
	item := b.do(t, "POST", "/dbs/db/colls/items/docs", `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	db, container := self(t, b.do(t, "GET", "/dbs/db", "")), self(t, b.do(t, "GET", "/dbs/db/colls/items", ""))
	document, key := self(t, item), []string{keyHeader, `["a"]`}
	ranges := b.do(t, "GET", container+"pkranges", "")
	var listed struct {
		PartitionKeyRanges []struct {
			Self string `json:"_self"`
		}
	}
	if err := json.Unmarshal(ranges.Body, &listed); err != nil || len(listed.PartitionKeyRanges) != 1 {
		t.Fatalf("%d %s", ranges.Status, ranges.Body)
	}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		want               int
	}{
		{"GET", db, "", nil, 200},
		{"GET", db + "colls", "", nil, 200},
		{"POST", db + "colls", `{"id":"new","partitionKey":{"paths":["/pk"]}}`, nil, 201},
		{"POST", db + "colls", `{"query":"SELECT * FROM c"}`, []string{"Content-Type", "application/query+json"}, 200},
		{"GET", container, "", nil, 200},
		{"PUT", container, `{"id":"items","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1}`, nil, 200},
		{"GET", container + "docs", "", nil, 200},
		{"GET", container + "docs", "", []string{"A-IM", "Incremental Feed"}, 200},
		{"POST", container + "docs", `{"id":"2","pk":"a"}`, key, 201},
		{"POST", container + "docs", `{"query":"SELECT * FROM c"}`, []string{"Content-Type", "application/query+json", keyHeader, `["a"]`}, 200},
		{"POST", container + "docs", `[{"operationType":"Read","id":"2"}]`, []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True", keyHeader, `["a"]`}, 200},
		{"GET", "/" + listed.PartitionKeyRanges[0].Self, "", nil, 200},
		{"GET", "/dbs/db/colls/items/pkranges/0", "", nil, 200},
		{"GET", "/dbs/db/colls/items/pkranges/7", "", nil, 404},
		{"GET", document, "", key, 200},
		{"GET", document, "", []string{keyHeader, `["b"]`}, 404},
		{"PUT", document, `{"id":"1","pk":"a","n":1}`, key, 200},
		{"PATCH", document, `[{"op":"incr","path":"/n","value":1}]`, key, 200},
		{"DELETE", document, "", key, 204},
		{"GET", document, "", key, 404},
		{"DELETE", document, "", key, 404},
		{"POST", container + "operations/partitionkeydelete", "", key, 200},
		{"DELETE", container, "", nil, 204},
		{"GET", container, "", nil, 404},
		{"GET", document, "", key, 404},
		{"DELETE", db, "", nil, 204},
		{"GET", db, "", nil, 404},
	} {
		a := b.do(t, c.method, c.path, c.body, c.headers...)
		if a.Status != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, a.Status, a.Body, c.want)
		}
	}
	for _, x := range b.log {
		if strings.Contains(x.Database+x.Container, "=") && x.Status < 400 {
			t.Errorf("the log has a rid for a name: %+v", x)
		}
	}
}

// The database's segment decides what all the others are.
func TestNamesAndRIDsDoNotMix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	item := b.do(t, "POST", "/dbs/db/colls/items/docs", `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	path := strings.Split(self(t, item), "/")
	db, container, document := path[2], path[4], path[6]
	other := strings.Split(self(t, b.do(t, "POST", "/dbs", `{"id":"other"}`)), "/")[2]
	for _, c := range []struct {
		path string
		want int
		text string
	}{
		{"/dbs/" + db + "/colls/items", 400, "Failed to parse the value 'items' as ResourceId."},
		{"/dbs/" + db + "/colls/items/docs", 400, "'items'"},
		{"/dbs/" + db + "/colls/" + container + "/docs/1", 400, "'1'"},
		{"/dbs/" + db + "/colls/" + db, 400, "'" + db + "'"},
		{"/dbs/" + db + "/colls/" + document, 400, "'" + document + "'"},
		{"/dbs/db/colls/" + container, 401, ""},
		{"/dbs/db/colls/" + container + "/docs/1", 401, ""},
		{"/dbs/db/colls/items/docs/" + document, 401, ""},
		{"/dbs/db/colls/AAAAAAAAAAA=", 404, ""},
		{"/dbs/" + other + "/colls/" + container, 404, ""},
		{"/dbs/AAAAAA==/colls/" + container, 404, ""},
		{"/dbs/AAAAAA==", 404, ""},
		{"/dbs/" + strings.TrimSuffix(db, "=="), 404, ""}, // a name
	} {
		a := b.do(t, "GET", c.path, "", keyHeader, `["a"]`)
		if a.Status != c.want || !strings.Contains(string(a.Body), c.text) {
			t.Errorf("%s: %d %s, want %d %s", c.path, a.Status, a.Body, c.want, c.text)
		}
	}
}

// A client of the same process may write the names of headers as it likes, as one behind a network may.
func TestHeadersInAnyCase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, change := range []func(string) string{strings.ToLower, strings.ToUpper} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://emulator.test/dbs/db/colls/items/docs/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		date := time.Now().UTC().Format(http.TimeFormat)
		r.Header = http.Header{
			change("x-ms-date"):     {date},
			change("authorization"): {sign(t, testKey, "GET", "docs", "dbs/db/colls/items/docs/1", date)},
			change(keyHeader):       {`["a"]`},
		}
		a, err := b.h.Exchange(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != http.StatusNotFound {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}

func TestLowerCaseAnswers(t *testing.T) {
	t.Parallel()
	for _, lower := range []bool{false, true} {
		b := setup(t)
		b.h.cfg.LowerCase = lower
		server := httptest.NewServer(b.h)
		t.Cleanup(server.Close)
		address := strings.TrimPrefix(server.URL, "http://")
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		date := time.Now().UTC().Format(http.TimeFormat)
		fmt.Fprintf(connection, "GET /dbs/db HTTP/1.1\r\nHost: %s\r\nx-ms-date: %s\r\nauthorization: %s\r\nConnection: close\r\n\r\n",
			address, date, sign(t, testKey, "GET", "dbs", "dbs/db", date))
		reader := textproto.NewReader(bufio.NewReader(connection))
		status, err := reader.ReadLine()
		if err != nil || !strings.Contains(status, "200") {
			t.Fatal(status, err)
		}
		seen := map[string]int{}
		for line, err := reader.ReadLine(); line != ""; line, err = reader.ReadLine() {
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(line, ":")
			seen[strings.ToLower(name)]++
			// Those of the connection are net/http's own.
			if own := name == "Content-Length" || name == "Connection"; !own && (name == strings.ToLower(name)) != lower {
				t.Errorf("lower case %v: %s", lower, name)
			}
		}
		for _, name := range []string{"x-ms-activity-id", "etag", "date", "content-type", "content-length"} {
			if seen[name] != 1 {
				t.Errorf("lower case %v: %s comes %d times", lower, name, seen[name])
			}
		}
	}
}
