package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// as gives the headers of an identity's requests.
func (b *bundle) as(id string, headers ...string) []string {
	return append([]string{"Authorization", token(`{}`, `{"oid":"`+id+`"}`, testKey)}, headers...)
}

func TestRolesReachAsFarAsTheirScope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, "POST", "/dbs", `{"id":"other"}`)
	b.do(t, "POST", "/dbs/other/colls", `{"id":"items","partitionKey":{"paths":["/pk"]}}`)
	b.do(t, "POST", "/dbs/db/colls", `{"id":"items2","partitionKey":{"paths":["/pk"]}}`)
	for name, scope := range map[string]string{"account": "/", "database": "/dbs/db", "container": "/dbs/db/colls/items"} {
		b.h.cfg.Principals.Assign(name, Role{Scope: scope, Actions: []string{ActionReadMetadata}})
	}
	b.h.cfg.Principals.Assign("nobody")
	query := []string{"Content-Type", "application/query+json"}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		may                string // the scopes that suffice
	}{
		{"GET", "/", "", nil, "account database container"},
		{"GET", "/dbs", "", nil, "account"},
		{"POST", "/dbs", `{"query":"SELECT * FROM c"}`, query, "account"},
		{"GET", "/dbs/db", "", nil, "account database"},
		{"GET", "/dbs/other", "", nil, "account"},
		{"GET", "/dbs/db/colls", "", nil, "account database"},
		{"POST", "/dbs/db/colls", `{"query":"SELECT * FROM c"}`, query, "account database"},
		{"GET", "/dbs/db/colls/items", "", nil, "account database container"},
		{"GET", "/dbs/db/colls/items/pkranges", "", nil, "account database container"},
		{"GET", "/dbs/db/colls/items2", "", nil, "account database"}, // its name begins with the other's
		{"GET", "/dbs/other/colls/items", "", nil, "account"},
		{"GET", "/dbs/db/colls/items/docs", "", nil, ""},
	} {
		for _, id := range []string{"account", "database", "container", "nobody"} {
			a := b.do(t, c.method, c.path, c.body, b.as(id, c.headers...)...)
			may := strings.Contains(c.may, id)
			if may != (a.Status == http.StatusOK) || !may && (a.Status != http.StatusForbidden || a.Header.Get("x-ms-substatus") != "5301") {
				t.Errorf("%s %s by %s: %d/%s %s", c.method, c.path, id, a.Status, a.Header.Get("x-ms-substatus"), a.Body)
			}
			if !may && !strings.Contains(string(a.Body), "principal ["+id+"] does not have required RBAC permissions to perform action [Microsoft.DocumentDB/") {
				t.Errorf("%s %s by %s: %s", c.method, c.path, id, a.Body)
			}
		}
	}
}

// The control plane is not in the data plane's reach, throughput among it, whatever the role.
func TestNoRoleReachesTheControlPlane(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.h.cfg.Principals.Assign("all", Role{Scope: "/", Actions: []string{"*"}})
	query := []string{"Content-Type", "application/query+json"}
	for _, c := range []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/dbs", `{"id":"x"}`, nil},
		{"DELETE", "/dbs/db", "", nil},
		{"POST", "/dbs/db/colls", `{"id":"x","partitionKey":{"paths":["/pk"]}}`, nil},
		{"PUT", "/dbs/db/colls/items", `{"id":"items"}`, nil},
		{"DELETE", "/dbs/db/colls/items", "", nil},
		{"GET", "/offers", "", nil},
		{"POST", "/offers", `{"query":"SELECT * FROM c"}`, query},
		{"GET", "/offers/abcd", "", nil},
		{"PUT", "/offers/abcd", `{}`, nil},
	} {
		a := b.do(t, c.method, c.path, c.body, b.as("all", c.headers...)...)
		want := "The given request [" + c.method + " " + c.path + "] cannot be authorized by AAD token in data plane."
		if a.Status != http.StatusForbidden || a.Header.Get("x-ms-substatus") != "5300" || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s %s: %d/%s %s", c.method, c.path, a.Status, a.Header.Get("x-ms-substatus"), a.Body)
		}
	}
}

func TestEveryVerbNeedsItsAction(t *testing.T) {
	t.Parallel()
	const docs, item = "/dbs/db/colls/items/docs", "/dbs/db/colls/items/docs/1"
	const body = `{"id":"1","pk":"a"}`
	query := []string{"Content-Type", "application/query+json"}
	batch := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}
	bulk := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "False"}
	for _, c := range []struct {
		name, method, path, body string
		headers, needs           []string
	}{
		{"create", "POST", docs, `{"id":"2","pk":"a"}`, nil, []string{ActionCreateItem}},
		{"read", "GET", item, "", nil, []string{ActionReadItem}},
		{"replace", "PUT", item, body, nil, []string{ActionReplaceItem}},
		{"patch", "PATCH", item, `[{"op":"set","path":"/n","value":1}]`, nil, []string{ActionReplaceItem}},
		{"upsert", "POST", docs, body, []string{"x-ms-documentdb-is-upsert", "true"}, []string{ActionUpsertItem}},
		{"delete", "DELETE", item, "", nil, []string{ActionDeleteItem}},
		{"delete by key", "POST", "/dbs/db/colls/items/operations/partitionkeydelete", "", nil, []string{ActionDeleteItem}},
		{"query", "POST", docs, `{"query":"SELECT * FROM c"}`, query, []string{ActionExecuteQuery, ActionReadChangeFeed}},
		{"plan", "POST", docs, `{"query":"SELECT * FROM c"}`, append([]string{"x-ms-cosmos-is-query-plan-request", "True"}, query...), []string{ActionExecuteQuery, ActionReadChangeFeed}},
		{"feed", "GET", docs, "", []string{"A-IM", "Incremental Feed"}, []string{ActionReadChangeFeed}},
		{"batch", "POST", docs, `[{"operationType":"Read","id":"1"},{"operationType":"Upsert","resourceBody":` + body + `}]`, batch, []string{ActionReadItem, ActionUpsertItem}},
		{"bulk", "POST", docs, `[{"operationType":"Delete","id":"1","partitionKey":"[\"a\"]"},{"operationType":"Create","resourceBody":` + body + `,"partitionKey":"[\"a\"]"}]`, bulk, []string{ActionDeleteItem, ActionCreateItem}},
	} {
		b := setup(t)
		b.do(t, "POST", docs, body, keyHeader, `["a"]`)
		send := func(id string) *Answer {
			return b.do(t, c.method, c.path, c.body, b.as(id, append([]string{keyHeader, `["a"]`}, c.headers...)...)...)
		}
		for i := range c.needs { // all but one of them do not suffice
			id := fmt.Sprint("lacks", i)
			rest := append(append([]string{ActionReadMetadata}, c.needs[:i]...), c.needs[i+1:]...)
			b.h.cfg.Principals.Assign(id, Role{Scope: "/dbs/db", Actions: rest})
			if a := send(id); a.Status != http.StatusForbidden || !strings.Contains(string(a.Body), "["+c.needs[i]+"] on resource [dbs/db/colls/items]") {
				t.Errorf("%s without %s: %d %s", c.name, c.needs[i], a.Status, a.Body)
			}
		}
		b.h.cfg.Principals.Assign("elsewhere", Role{Scope: "/dbs/db/colls/tree", Actions: []string{"*"}})
		if a := send("elsewhere"); a.Status != http.StatusForbidden {
			t.Errorf("%s with rights in another container: %d", c.name, a.Status)
		}
		b.h.cfg.Principals.Assign("able", Role{Scope: "/dbs/db/colls/items", Actions: c.needs[:1]}, Role{Scope: "/dbs/db", Actions: c.needs[1:]})
		if a := send("able"); a.Status >= 300 {
			t.Errorf("%s with what it needs: %d %s", c.name, a.Status, a.Body)
		}
	}
}
