package restapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestResourcesOfMetadata walks through the life of each kind of resource that is kept and handed out, and no more.
func TestResourcesOfMetadata(t *testing.T) {
	t.Parallel()
	const wrapped = `"encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256","wrappedDataEncryptionKey":"AAAA","keyWrapMetadata":{"name":"n","type":"t","value":"v","algorithm":"RSA-OAEP"}`
	for _, c := range []struct {
		feed, entries, rest string
		incomplete          []string // bodies that lack something
	}{
		{"colls/items/sprocs", "StoredProcedures", `"body":"function () {}"`, []string{`{"id":"x"}`, `{"id":"x","body":1}`, `{"body":"function () {}"}`}},
		{"colls/items/udfs", "UserDefinedFunctions", `"body":"function () {}"`, []string{`{"id":"x"}`, `{"id":"a/b","body":""}`}},
		{"colls/items/triggers", "Triggers", `"body":"function () {}","triggerType":"Pre","triggerOperation":"All"`, []string{
			`{"id":"x","body":""}`, `{"id":"x","body":"","triggerType":"Pre"}`, `{"id":"x","body":"","triggerType":"During","triggerOperation":"All"}`,
		}},
		{"clientencryptionkeys", "ClientEncryptionKeys", wrapped, []string{
			`{"id":"x"}`, `{"id":"x","encryptionAlgorithm":"a"}`, `{"id":"x","encryptionAlgorithm":"a","wrappedDataEncryptionKey":"AA"}`,
		}},
	} {
		t.Run(c.entries, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			path := "/dbs/db/" + c.feed
			body := func(id, more string) string { return fmt.Sprintf(`{"id":%q,%s%s}`, id, c.rest, more) }
			for _, incomplete := range c.incomplete {
				if a := b.do(t, http.MethodPost, path, incomplete); a.Status != http.StatusBadRequest {
					t.Errorf("create %s: %d", incomplete, a.Status)
				}
			}
			made := b.do(t, http.MethodPost, path, body("one", ""))
			var r struct {
				RID  string `json:"_rid"`
				Self string `json:"_self"`
				ETag string `json:"_etag"`
			}
			if err := json.Unmarshal(made.Body, &r); err != nil || made.Status != http.StatusCreated || made.Header.Get("etag") != r.ETag || !strings.HasSuffix(r.Self, "/"+r.RID+"/") {
				t.Fatalf("create: %d %s", made.Status, made.Body)
			}
			b.do(t, http.MethodPost, path, body("two", ""))
			want := func(what string, a *Answer, status int, says string) {
				t.Helper()
				if a.Status != status || !strings.Contains(string(a.Body), says) {
					t.Errorf("%s: %d %s, want %d with %q", what, a.Status, a.Body, status, says)
				}
			}
			want("create again", b.do(t, http.MethodPost, path, body("one", "")), 409, "already exists")
			want("list", b.do(t, http.MethodGet, path, ""), 200, `"_count":2`)
			first := b.do(t, http.MethodGet, path, "", "x-ms-max-item-count", "1")
			want("a page", first, 200, `"`+c.entries+`":[{"id":"one"`)
			want("the next page", b.do(t, http.MethodGet, path, "", "x-ms-continuation", first.Header.Get("x-ms-continuation")), 200, `"id":"two"`)
			want("query", b.do(t, http.MethodPost, path, `{"query":"SELECT VALUE c.id FROM c WHERE c.id = 'two'"}`, "Content-Type", "application/query+json"), 200, `["two"]`)
			want("read", b.do(t, http.MethodGet, path+"/one", ""), 200, `"_rid":"`+r.RID)
			want("read by rid", b.do(t, http.MethodGet, path+"/"+r.RID, ""), 200, `"id":"one"`)
			want("read unchanged", b.do(t, http.MethodGet, path+"/one", "", "If-None-Match", r.ETag), 304, "")
			want("replace with a stale etag", b.do(t, http.MethodPut, path+"/one", body("one", ""), "If-Match", `"x"`), 412, "")
			want("rename", b.do(t, http.MethodPut, path+"/one", body("three", "")), 400, "can't be changed")
			want("replace", b.do(t, http.MethodPut, path+"/one", body("one", `,"note":1`), "If-Match", r.ETag), 200, `"note":1`)
			want("replaced", b.do(t, http.MethodGet, path+"/one", "", "If-None-Match", r.ETag), 200, `"note":1`)
			want("replace of nothing", b.do(t, http.MethodPut, path+"/none", body("none", "")), 404, "")
			want("delete with a stale etag", b.do(t, http.MethodDelete, path+"/one", "", "If-Match", r.ETag), 412, "")
			want("delete", b.do(t, http.MethodDelete, path+"/one", ""), 204, "")
			want("deleted", b.do(t, http.MethodGet, path+"/one", ""), 404, "")
			want("delete again", b.do(t, http.MethodDelete, path+"/one", ""), 404, "")
			want("longer path", b.do(t, http.MethodGet, path+"/one/more", ""), 400, "")
		})
	}
}

func TestScriptsOfDifferentKindsShareNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "sprocs", "same", hello)
	b.register(t, "udfs", "same", hello)
	upserted := b.do(t, http.MethodPost, "/dbs/db/colls/items/sprocs", `{"id":"same","body":"function () { return 1; }"}`, "x-ms-documentdb-is-upsert", "True")
	if upserted.Status != http.StatusOK || !strings.Contains(string(upserted.Body), "return 1") {
		t.Errorf("upsert: %d %s", upserted.Status, upserted.Body)
	}
	if a := b.do(t, http.MethodGet, "/dbs/db/colls/items/udfs/same", ""); !strings.Contains(string(a.Body), "Hello") {
		t.Errorf("the function is %s", a.Body)
	}
	if a := b.do(t, http.MethodGet, "/dbs/db/colls/none/sprocs", ""); a.Status != http.StatusNotFound || a.Header.Get("x-ms-substatus") != "1003" {
		t.Errorf("a missing container: %d/%s", a.Status, a.Header.Get("x-ms-substatus"))
	}
}

func TestConflictsAreAnEmptyFeed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/dbs/db/colls/items/conflicts"
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		{"GET", path, "", nil, 200, `"Conflicts":[],"_count":0`},
		{"POST", path, `{"query":"SELECT * FROM c"}`, []string{"Content-Type", "application/query+json"}, 200, `"Conflicts":[]`},
		{"POST", path, `{"id":"x"}`, nil, 405, ""},
		{"GET", path + "/x", "", nil, 404, "Not Found"},
		{"DELETE", path + "/x", "", nil, 404, "Not Found"},
		{"PUT", path + "/x", "{}", nil, 405, ""},
		{"GET", "/dbs/db/colls/none/conflicts", "", nil, 404, ""},
	} {
		if a := b.do(t, c.method, c.path, c.body, c.headers...); a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Status, a.Body)
		}
	}
}

// TestUserDefinedFunctionsAreCheckedWithoutItems checks that a query over nothing fails like one over something.
func TestUserDefinedFunctionsAreCheckedWithoutItems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "udfs", "known", `function () { return 1; }`)
	b.register(t, "udfs", "broken", `function (`)
	for query, want := range map[string]string{
		`SELECT VALUE udf.known() FROM c`:                                       "",
		`SELECT VALUE udf.unknown() FROM c`:                                     "udf.unknown does not exist",
		`SELECT * FROM c WHERE c.n = 1 AND udf.unknown(c.n)`:                    "udf.unknown does not exist",
		`SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE udf.unknown())`: "udf.unknown does not exist",
		`SELECT * FROM (SELECT DISTINCT udf.unknown(c.n) AS x FROM c) AS d`:     "udf.unknown does not exist",
		`SELECT VALUE udf.broken() FROM c`:                                      "SyntaxError",
	} {
		a := b.query(t, query, keyHeader, `["a"]`)
		if want == "" && a.Status != 200 || want != "" && (a.Status != 400 || !strings.Contains(string(a.Body), want)) {
			t.Errorf("%s: %d %s, want %q", query, a.Status, a.Body, want)
		}
	}
}

func TestUserDefinedFunctionsInQueries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "sprocs", "import", bulkImport)
	b.execute(t, "import", `[[{"id":"1","pk":"a","n":500},{"id":"2","pk":"a","n":5000},{"id":"3","pk":"a"}]]`)
	b.register(t, "udfs", "tax", `function tax(income) { if (income === undefined) throw "no input"; return income < 1000 ? income * 0.1 : income * 0.4; }`)
	b.register(t, "udfs", "matches", `function (input, pattern) { return input.match(pattern) !== null; }`)
	b.register(t, "udfs", "nothing", `function () {}`)
	b.register(t, "udfs", "calls", `var n = 0; function () { return ++n; }`)
	b.register(t, "udfs", "kind", `function (x) { return [typeof x, x === null, Array.isArray(x)]; }`)
	for _, c := range []struct {
		query  string
		status int
		want   string
	}{
		{`SELECT c.id, udf.tax(c.n) AS t FROM c WHERE IS_DEFINED(c.n)`, 200, `[{"id":"1","t":50},{"id":"2","t":2000}]`},
		{`SELECT VALUE c.id FROM c WHERE c.n > 0 AND udf.tax(c.n) > 100`, 200, `["2"]`},
		{`SELECT VALUE c.id FROM c WHERE udf.matches(c.id, '[12]')`, 200, `["1","2"]`},
		{`SELECT VALUE SUM(udf.tax(c.n)) FROM c WHERE c.n > 0`, 200, `[2050]`},
		{`SELECT VALUE { a: udf.nothing(), b: 1 } FROM c WHERE c.id = '1'`, 200, `[{"b":1}]`},
		{`SELECT VALUE udf.kind(c.missing) FROM c WHERE c.id = '3'`, 200, `[["undefined",false,false]]`},
		{`SELECT VALUE udf.kind([1, null]) FROM c WHERE c.id = '3'`, 200, `[["object",false,true]]`},
		{`SELECT VALUE udf.tax(udf.tax(c.n)) FROM c WHERE c.id = '2'`, 200, `[800]`},
		{`SELECT VALUE c.id FROM c WHERE udf.tax(c.n) > 0`, 400, `no input`},
		{`SELECT VALUE udf.unknown(c.n) FROM c`, 400, `udf.unknown does not exist`},
		{`SELECT VALUE udf.calls() FROM c`, 400, `SyntaxError`},
		{`SELECT udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1), udf.tax(1) FROM c`, 400, `more than 10`},
	} {
		text, err := json.Marshal(map[string]string{"query": c.query})
		if err != nil {
			t.Fatal(err)
		}
		a := b.do(t, http.MethodPost, "/dbs/db/colls/items/docs", string(text), "Content-Type", "application/query+json", keyHeader, `["a"]`)
		if a.Status != c.status || !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%s: %d %s, want %d with %s", c.query, a.Status, a.Body, c.status, c.want)
		}
	}
}
