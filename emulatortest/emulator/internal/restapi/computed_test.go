package restapi

import (
	"strings"
	"testing"
)

func TestComputedProperties(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const definition = `{"id":"computed","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"computedProperties":[{"name":"lower","query":"%"}]}`
	for text, status := range map[string]int{
		"SELECT VALUE LOWER(c.name) FROM c ORDER BY c.name": 400,
		"SELECT VALUE LOWER(":                               400,
		"SELECT VALUE LOWER(c.name) FROM c":                 201,
	} {
		if a := b.do(t, "POST", "/dbs/db/colls", strings.Replace(definition, "%", text, 1)); a.Status != status {
			t.Fatalf("%s: %d %s", text, a.Status, a.Body)
		}
	}
	const docs = "/dbs/db/colls/computed/docs"
	for _, body := range []string{`{"id":"1","pk":"a","name":"ADA"}`, `{"id":"2","pk":"a","name":"Bob"}`} {
		if a := b.do(t, "POST", docs, body, keyHeader, `["a"]`); a.Status != 201 {
			t.Fatalf("create: %d %s", a.Status, a.Body)
		}
	}
	a := b.do(t, "POST", docs, `{"query":"SELECT c.id, c.lower FROM c WHERE c.lower = 'ada'"}`, "Content-Type", "application/query+json", keyHeader, `["a"]`)
	if a.Status != 200 || !strings.Contains(string(a.Body), `[{"id":"1","lower":"ada"}]`) {
		t.Fatalf("query: %d %s", a.Status, a.Body)
	}
}
