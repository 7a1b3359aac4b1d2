package restapi

import (
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

const sessionHeader = "x-ms-session-token"

// items gives the handle of the container "items", for splits and merges.
func (b *bundle) items(t *testing.T) *store.Container {
	t.Helper()
	db, err := b.account.Database("db")
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Container("items")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A split keeps the version of the tokens and a merge makes a new one, to which what was seen of the old one is nothing new, and of which
// the old partitions have seen nothing.
func TestVersionsOfSessionTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs, item = "/dbs/db/colls/items/docs", "/dbs/db/colls/items/docs/1"
	token := func() string {
		return b.do(t, "POST", docs, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`, "x-ms-documentdb-is-upsert", "true").Header.Get(sessionHeader)
	}
	read := func(token string) string {
		a := b.do(t, "GET", item, "", keyHeader, `["a"]`, sessionHeader, token)
		return a.Header.Get("x-ms-substatus")
	}
	first := token()
	if first != "0:-1#2" {
		t.Errorf("the first write gave %s", first)
	}
	if _, err := b.items(t).Split("0", "20"); err != nil {
		t.Fatal(err)
	}
	split := token() // "a" hashes to 3A...
	if split != "2:-1#3" {
		t.Errorf("a write after the split gave %s", split)
	}
	if _, err := b.items(t).Merge("1", "2"); err != nil {
		t.Fatal(err)
	}
	merged := token()
	if merged != "3:0#4" {
		t.Errorf("a write after the merge gave %s", merged)
	}
	fork := *b
	fork.account = b.account.Fork(time.Now)
	fork.h = b.h.Fork(func(c *Config) { c.Account = fork.account })
	if a := fork.do(t, "GET", item, "", keyHeader, `["a"]`); a.Header.Get(sessionHeader) != merged {
		t.Errorf("a read of a fork gave %s", a.Header.Get(sessionHeader))
	}
	for _, c := range []struct{ name, token, substatus string }{
		{"of the grandparent", first, ""},
		{"of the parent", split, ""},
		{"of the parent, with an LSN that only the old version knew", "2:-1#900", ""},
		{"its own", merged, ""},
		{"its own, ahead", "3:0#5", "1002"},
		{"its own, of the next version", "3:1#1", "1002"},
		{"its own, of the old version", "3:-1#900", ""},
		{"without a version", "3:4", ""},
		{"without a version, ahead", "3:5", "1002"},
		{"composite", "1:-1#1,2:-1#3,3:0#4", ""},
		{"composite, ahead here", "1:-1#1,3:0#5", "1002"},
		{"with regions", "3:0#4#1=4#2=-1", ""},
	} {
		if got := read(c.token); got != c.substatus {
			t.Errorf("a token %s (%s): substatus %q, want %q", c.name, c.token, got, c.substatus)
		}
	}
}

// A part of a composite token that is about another partition says nothing about this one.
func TestCompositeTokensCountByPartition(t *testing.T) {
	t.Parallel()
	b := divided(t)
	const docs = "/dbs/db/colls/items/docs"
	query := func(rangeID, token string) string {
		return b.do(t, "POST", docs, `{"query":"SELECT * FROM c"}`, "Content-Type", "application/query+json", rangeHeader, rangeID,
			sessionHeader, token).Header.Get("x-ms-substatus")
	}
	for _, c := range []struct{ rangeID, token, substatus string }{
		{"1", "2:-1#900", ""},
		{"2", "2:-1#900", "1002"},
		{"1", "1:-1#2,2:-1#900", ""},
		{"1", "1:-1#900,2:-1#2", "1002"},
		{"1", "0:-1#900", "1002"},
	} {
		if got := query(c.rangeID, c.token); got != c.substatus {
			t.Errorf("range %s with %s: %q, want %q", c.rangeID, c.token, got, c.substatus)
		}
	}
}

// Clients take the session token out of refusals too.
func TestRefusalsCarryASessionToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs, item, none = "/dbs/db/colls/items/docs", "/dbs/db/colls/items/docs/1", "/dbs/db/colls/items/docs/none"
	const body = `{"id":"1","pk":"a"}`
	want := b.do(t, "POST", docs, body, keyHeader, `["a"]`).Header.Get(sessionHeader)
	batch := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"read", "GET", none, "", nil, 404},
		{"replace", "PUT", none, `{"id":"none","pk":"a"}`, nil, 404},
		{"delete", "DELETE", none, "", nil, 404},
		{"patch", "PATCH", none, `[{"op":"set","path":"/n","value":1}]`, nil, 404},
		{"create", "POST", docs, body, nil, 409},
		{"replace of another version", "PUT", item, body, []string{"If-Match", `"x"`}, 412},
		{"delete of another version", "DELETE", item, "", []string{"If-Match", `"x"`}, 412},
		{"upsert of another version", "POST", docs, body, []string{"If-Match", `"x"`, "x-ms-documentdb-is-upsert", "true"}, 412},
		{"patch with a condition", "PATCH", item, `{"condition":"from c where c.n = 2","operations":[{"op":"set","path":"/n","value":1}]}`, nil, 412},
		{"batch", "POST", docs, `[{"operationType":"Create","resourceBody":` + body + `}]`, batch, 207},
	} {
		a := b.do(t, c.method, c.path, c.body, append(c.headers, keyHeader, `["a"]`)...)
		if a.Status != c.status || a.Header.Get(sessionHeader) != want || a.Header.Get("x-ms-content-path") == "" {
			t.Errorf("%s: %d with the token %q of %q, want %d with %q", c.name, a.Status, a.Header.Get(sessionHeader),
				a.Header.Get("x-ms-content-path"), c.status, want)
		}
	}
	if strings.Contains(want, ",") {
		t.Errorf("a write gave the token %s", want)
	}
}
