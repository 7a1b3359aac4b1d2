package restapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestUsersAndPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	user := self(t, b.do(t, "POST", "/dbs/db/users", `{"id":"u"}`))
	const items = `{"id":"p","permissionMode":"Read","resource":"dbs/db/colls/items"}`
	permission := self(t, b.do(t, "POST", user+"permissions", items))
	query := []string{"Content-Type", "application/query+json"}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		want               int
		text               string
	}{
		{"POST", "/dbs/db/users", `{"id":"u"}`, nil, 409, ""},
		{"POST", "/dbs/db/users", `{}`, nil, 400, ""},
		{"GET", "/dbs/db/users", "", nil, 200, `"Users":[{"id":"u"`},
		{"POST", "/dbs/db/users", `{"query":"SELECT VALUE c.id FROM c"}`, query, 200, `"Users":["u"]`},
		{"GET", user, "", nil, 200, `"_permissions":"permissions/"`},
		{"PUT", user, `{"id":"renamed"}`, nil, 200, `"id":"renamed"`},
		{"GET", "/dbs/db/users/u", "", nil, 404, ""},
		{"GET", "/dbs/db/users/renamed/permissions", "", nil, 200, `"_token":"type=resource`},
		{"POST", "/dbs/db/users/renamed/permissions", `{"query":"SELECT VALUE c.id FROM c"}`, query, 200, `"Permissions":["p"]`},
		{"GET", permission, "", nil, 200, `"_token":"type=resource`},
		{"GET", permission, "", []string{"x-ms-documentdb-expiry-seconds", "86401"}, 400, ""},
		{"GET", permission, "", []string{"x-ms-documentdb-expiry-seconds", "soon"}, 400, ""},
		{"POST", user + "permissions", items, nil, 409, ""},
		{"POST", user + "permissions", strings.Replace(items, `"p"`, `"q"`, 1), nil, 409, ""},
		{"POST", user + "permissions", strings.Replace(items, "Read", "Write", 1), nil, 400, ""},
		{"POST", user + "permissions", strings.Replace(items, "/colls/items", "", 1), nil, 400, ""},
		{"POST", user + "permissions", `{"id":"q","permissionMode":"All"}`, nil, 400, ""},
		{"PUT", permission, strings.Replace(items, "Read", "All", 1), nil, 200, `"permissionMode":"All"`},
		{"PUT", permission, items, []string{"If-Match", `"x"`}, 412, ""},
		{"DELETE", permission, "", nil, 204, ""},
		{"GET", permission, "", nil, 404, ""},
		{"DELETE", user, "", nil, 204, ""},
		{"GET", user, "", nil, 404, ""},
		{"GET", user + "permissions", "", nil, 404, ""},
	} {
		a := b.do(t, c.method, c.path, c.body, c.headers...)
		if a.Status != c.want || !strings.Contains(string(a.Body), c.text) {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.method, c.path, c.body, a.Status, a.Body, c.want, c.text)
		}
	}
}

// tokenOf makes a permission of a user of its own and gives its token.
func (b *bundle) tokenOf(t *testing.T, id, permission string) string {
	t.Helper()
	b.do(t, "POST", "/dbs/db/users", `{"id":"`+id+`"}`)
	a := b.do(t, "POST", "/dbs/db/users/"+id+"/permissions", `{"id":"p",`+permission+`}`)
	var made struct {
		Token string `json:"_token"`
	}
	if err := json.Unmarshal(a.Body, &made); err != nil || made.Token == "" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return made.Token
}

func TestResourceTokensReachAsFarAsTheirPermission(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs, item = "/dbs/db/colls/items/docs", "/dbs/db/colls/items/docs/1"
	document := self(t, b.do(t, "POST", docs, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`))
	rid := strings.Trim(self(t, b.do(t, "GET", "/dbs/db/colls/items", "")), "/")
	tokens := map[string]string{
		"read":     b.tokenOf(t, "read", `"permissionMode":"Read","resource":"dbs/db/colls/items"`),
		"all":      b.tokenOf(t, "all", `"permissionMode":"All","resource":"`+rid+`"`),
		"key":      b.tokenOf(t, "key", `"permissionMode":"All","resource":"dbs/db/colls/items","resourcePartitionKey":["a"]`),
		"document": b.tokenOf(t, "document", `"permissionMode":"All","resource":"`+strings.Trim(document, "/")+`"`),
		"tree":     b.tokenOf(t, "tree", `"permissionMode":"All","resource":"dbs/db/colls/tree"`),
	}
	query := []string{"Content-Type", "application/query+json", "x-ms-documentdb-query-enablecrosspartition", "true"}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		may                string
	}{
		{"GET", "/", "", nil, "read all key document tree"},
		{"GET", "/dbs/db", "", nil, ""},
		{"GET", "/dbs/db/colls/items", "", nil, "read all key"},
		{"GET", "/dbs/db/colls/items/pkranges", "", nil, "read all key"},
		{"GET", item, "", []string{keyHeader, `["a"]`}, "read all key document"},
		{"GET", document, "", []string{keyHeader, `["a"]`}, "read all key document"},
		{"GET", docs, "", []string{"A-IM", "Incremental Feed"}, "read all"},
		{"POST", docs, `{"query":"SELECT * FROM c"}`, query, "read all"},
		{"POST", docs, `{"query":"SELECT * FROM c"}`, append([]string{keyHeader, `["a"]`}, query...), "read all key"},
		{"PUT", item, `{"id":"1","pk":"a"}`, []string{keyHeader, `["a"]`}, "all key document"},
		{"POST", docs, `{"id":"2","pk":"b"}`, []string{keyHeader, `["b"]`, "x-ms-documentdb-is-upsert", "true"}, "all"},
		{"DELETE", "/dbs/db/colls/items", "", nil, ""},
		{"POST", "/dbs", `{"id":"x"}`, nil, ""},
		{"GET", "/offers", "", nil, ""},
		{"GET", "/dbs/db/users", "", nil, ""},
	} {
		for name, token := range tokens {
			a := b.do(t, c.method, c.path, c.body, append([]string{"Authorization", token}, c.headers...)...)
			may := false
			for _, able := range strings.Fields(c.may) {
				may = may || able == name
			}
			if may != (a.Status < 300) || !may && (a.Status != 403 || !strings.Contains(string(a.Body), "Insufficient permissions")) {
				t.Errorf("%s %s %s by %s: %d %s", c.method, c.path, c.body, name, a.Status, a.Body)
			}
		}
	}
	forged := strings.Replace(tokens["read"], ";", "A;", 1)
	if a := b.do(t, "GET", item, "", "Authorization", forged, keyHeader, `["a"]`); a.Status != 401 {
		t.Errorf("a forged token: %d", a.Status)
	}
	b.h.auth.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if a := b.do(t, "GET", item, "", "Authorization", tokens["read"], keyHeader, `["a"]`); a.Status != 403 {
		t.Errorf("a token of yesterday: %d", a.Status)
	}
}
