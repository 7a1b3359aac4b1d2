package restapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

const docsPath = "/dbs/db/colls/items/docs"

// grow adds n items of each of the keys to container "items" and splits it in two: ranges 1 and 2.
func grow(t testing.TB, b *bundle, n int, keys ...string) {
	t.Helper()
	for i := range n {
		for _, k := range keys {
			a := b.do(t, "POST", docsPath, fmt.Sprintf(`{"id":"%d","pk":%q,"n":%d}`, i, k, i), keyHeader, fmt.Sprintf(`[%q]`, k))
			if a.Status != 201 {
				t.Fatalf("create: %d %s", a.Status, a.Body)
			}
		}
	}
	db, err := b.account.Database("db")
	if err != nil {
		t.Fatal(err)
	}
	container, err := db.Container("items")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := container.Split("0"); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) query(t testing.TB, text string, headers ...string) *Answer {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": text})
	if err != nil {
		t.Fatal(err)
	}
	return b.do(t, "POST", docsPath, string(body), append([]string{"Content-Type", "application/query+json"}, headers...)...)
}

func count(t testing.TB, a *Answer) int {
	t.Helper()
	var page struct {
		Documents []json.RawMessage
		Count     int    `json:"_count"`
		RID       string `json:"_rid"`
	}
	if err := json.Unmarshal(a.Body, &page); err != nil || page.Count != len(page.Documents) || page.RID == "" {
		t.Fatalf("the page is %s (%v)", a.Body, err)
	}
	return page.Count
}

func TestQueryOfOneRange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	grow(t, b, 3, "a", "hello", "t1", "") // the hashes of these begin with 3A, 0A, 3D and 32
	for _, c := range []struct {
		name, text string
		headers    []string
		status     int
		want       int
	}{
		{"all of a range", "SELECT * FROM c", []string{rangeHeader, "1"}, 200, 3},
		{"all of the other", "SELECT * FROM c", []string{rangeHeader, "2"}, 200, 9},
		{"what the gateway leaves to clients", "SELECT VALUE COUNT(1) FROM c ORDER BY 1", []string{rangeHeader, "2"}, 400, 0},
		{"an aggregate", "SELECT VALUE COUNT(1) FROM c", []string{rangeHeader, "2"}, 200, 1},
		{"a key that it owns", "SELECT * FROM c WHERE c.pk = 'a'", []string{rangeHeader, "2"}, 200, 3},
		{"a key that it does not own", "SELECT * FROM c WHERE c.pk = 'a'", []string{rangeHeader, "1"}, 200, 0},
		{"two keys", "SELECT * FROM c WHERE c.pk IN ('a', 't1')", []string{rangeHeader, "2"}, 200, 6},
		{"the parent", "SELECT * FROM c", []string{rangeHeader, "0"}, 410, 0},
		{"a range of hashes", "SELECT * FROM c", []string{"x-ms-start-epk", "3A", "x-ms-end-epk", "3D", "x-ms-read-key-type", "EffectivePartitionKeyRange"}, 200, 3},
		{"hashes within a range", "SELECT * FROM c", []string{rangeHeader, "2", "x-ms-start-epk", "30", "x-ms-end-epk", "3B", "x-ms-read-key-type", "EffectivePartitionKeyRange"}, 200, 6},
	} {
		a := b.query(t, c.text, c.headers...)
		if a.Status != c.status || (a.Status == 200 && count(t, a) != c.want) {
			t.Errorf("%s: %d %.200s, want %d of %d items", c.name, a.Status, a.Body, c.status, c.want)
		}
	}
}

func TestBoundsHoldTheKeysAndLittleElse(t *testing.T) {
	t.Parallel()
	key := func(levels ...string) []epk.Component {
		var k []epk.Component
		for _, l := range levels {
			k = append(k, epk.String(l))
		}
		return k
	}
	hello, t1 := epk.Hash(epk.MultiHash, key("hello", "x")...), epk.Hash(epk.MultiHash, key("t1", "x")...)
	for _, c := range []struct {
		name            string
		keys            plan.Keys
		inside, outside []string
	}{
		{"any", plan.Keys{Any: true}, []string{hello, t1}, nil},
		{"one key", plan.Keys{Prefixes: [][]epk.Component{key("hello", "x")}}, []string{hello}, []string{t1, epk.Hash(epk.MultiHash, key("hello", "y")...)}},
		{"one prefix", plan.Keys{Prefixes: [][]epk.Component{key("hello")}}, []string{hello, epk.Hash(epk.MultiHash, key("hello", "y")...)}, []string{t1}},
		{"two keys", plan.Keys{Prefixes: [][]epk.Component{key("t1", "x"), key("hello", "x")}}, []string{hello, t1}, []string{"", "3F"}},
	} {
		low, high := bounds(c.keys, epk.MultiHash, 2)
		holds := func(h string) bool {
			return epk.Compare(low, h) <= 0 && (high == "" || epk.Compare(h, high) < 0)
		}
		for _, h := range c.inside {
			if !holds(h) {
				t.Errorf("%s: [%s, %s) lacks %s", c.name, low, high, h)
			}
		}
		for _, h := range c.outside {
			if holds(h) {
				t.Errorf("%s: [%s, %s) holds %s", c.name, low, high, h)
			}
		}
	}
}

// A query for one key counts as one of a single logical partition, however it is narrowed to it.
func TestQueryOfOneKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	grow(t, b, 20, "a", "t1", "")
	for _, headers := range [][]string{
		{keyHeader, `["a"]`},
		{"x-ms-documentdb-partitionkeyrangeid", "2"},
		{"x-ms-documentdb-query-enablecrosspartition", "true"},
	} {
		a := b.query(t, "SELECT * FROM c WHERE c.pk = 'a'", headers...)
		if metrics := a.Header.Get("x-ms-documentdb-query-metrics"); !strings.Contains(metrics, "retrievedDocumentCount=20;") {
			t.Errorf("%v: %s", headers, metrics)
		}
		if last := b.log[len(b.log)-1]; last.FanOut || last.Partitions != 1 {
			t.Errorf("%v: the log says %+v", headers, last)
		}
	}
}

func TestIndexMetricsOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const text, header = "SELECT * FROM c WHERE c.n > 1", "x-ms-cosmos-index-utilization"
	if a := b.query(t, text, keyHeader, `["a"]`); a.Header.Get(header) != "" || a.Header.Get("x-ms-documentdb-query-metrics") == "" {
		t.Errorf("unasked: index metrics %q, metrics %q", a.Header.Get(header), a.Header.Get("x-ms-documentdb-query-metrics"))
	}
	v1, err := base64.StdEncoding.DecodeString(b.query(t, text, keyHeader, `["a"]`, "x-ms-cosmos-populateindexmetrics", "True").Header.Get(header))
	if err != nil || !strings.Contains(string(v1), `"/n/?"`) || !strings.Contains(string(v1), "UtilizedSingleIndexes") {
		t.Errorf("version 1: %s (%v)", v1, err)
	}
	v2, err := url.QueryUnescape(b.query(t, text, keyHeader, `["a"]`, "x-ms-cosmos-populateindexmetrics-V2", "True").Header.Get(header))
	if err != nil || !strings.Contains(v2, `"/n/?"`) || !strings.Contains(v2, "UtilizedIndexes") {
		t.Errorf("version 2: %s (%v)", v2, err)
	}
}

func TestSyntaxErrorsName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for text, code := range map[string]string{
		"SELECT * FROM": "SC1002", "SELECT * FROM c WHERE c.n ==": "SC1001", "SELECT x.n FROM c": "SC2001", "SELECT VALUE NOPE(1)": "SC2005",
	} {
		a := b.query(t, text, keyHeader, `["a"]`)
		if a.Status != 400 || !strings.Contains(string(a.Body), code) || !strings.Contains(string(a.Body), `\"errors\"`) {
			t.Errorf("%s: %d %s, want %s", text, a.Status, a.Body, code)
		}
		a = b.query(t, text, "x-ms-cosmos-is-query-plan-request", "True")
		if a.Status != 400 || !strings.Contains(string(a.Body), "Gateway Failed to Retrieve Query Plan: Message: ") {
			t.Errorf("plan of %s: %d %s", text, a.Status, a.Body)
		}
	}
}

func TestQueryPlan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const planHeader = "x-ms-cosmos-is-query-plan-request"
	a := b.query(t, "SELECT * FROM c WHERE c.pk = 'hello' ORDER BY c.n", planHeader, "True", "x-ms-cosmos-supported-query-features", "OrderBy, MultipleOrderBy")
	for _, part := range []string{`"orderBy":["Ascending"]`, `"min":"0A8B5792B7BA3C7C47B0D1305A3C6F8A"`, `"isMaxInclusive":true`} {
		if a.Status != 200 || !strings.Contains(string(a.Body), part) {
			t.Errorf("%d %s lacks %s", a.Status, a.Body, part)
		}
	}
	a = b.query(t, "SELECT * FROM c ORDER BY c.n", planHeader, "True", "x-ms-cosmos-supported-query-features", "Top")
	if a.Status != 400 || a.Header.Get("x-ms-substatus") != "1004" || !strings.Contains(string(a.Body), "OrderBy") {
		t.Errorf("an unsupported plan: %d/%s %s", a.Status, a.Header.Get("x-ms-substatus"), a.Body)
	}
}

func TestMetadataQueries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct{ path, text, name string }{
		{"/dbs", "SELECT * FROM root r WHERE r.id = 'db'", "Databases"},
		{"/dbs/db/colls", "SELECT * FROM root r WHERE r.id = 'tree'", "DocumentCollections"},
		{"/offers", "SELECT TOP 1 * FROM c", "Offers"},
	} {
		a := b.do(t, "POST", c.path, fmt.Sprintf(`{"query":%q}`, c.text), "x-ms-documentdb-isquery", "true", "Content-Type", "application/query+json")
		if a.Status != 200 || !strings.Contains(string(a.Body), `"`+c.name+`":[{`) || !strings.Contains(string(a.Body), `"_count":1`) {
			t.Errorf("%s: %d %s", c.path, a.Status, a.Body)
		}
	}
}
