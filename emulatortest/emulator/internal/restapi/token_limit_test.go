package restapi

import (
	"strings"
	"testing"
)

// The client says how much of a continuation it can carry, and gets no more: what makes it long stays out and is found again.
func TestContinuationsKeepToTheirLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs = "/dbs/db/colls/items/docs"
	names := []string{strings.Repeat("a", 700) + "1", strings.Repeat("a", 700) + "2", strings.Repeat("b", 5000)}
	for i, name := range names {
		b.do(t, "POST", docs, `{"id":"`+string(rune('1'+i))+`","pk":"a","name":"`+name+`"}`, keyHeader, `["a"]`)
	}
	for _, limit := range []string{"", "1", "2"} {
		var got []string
		for token, more := "", true; more; more = token != "" {
			a := b.do(t, "POST", docs, `{"query":"SELECT VALUE c.id FROM c ORDER BY c.name"}`, "Content-Type", "application/query+json", keyHeader, `["a"]`,
				"x-ms-max-item-count", "1", "x-ms-continuation", token, "x-ms-documentdb-responsecontinuationtokenlimitinkb", limit)
			if a.Status != 200 {
				t.Fatalf("limit %q: %d %s", limit, a.Status, a.Body)
			}
			got = append(got, string(a.Body[strings.Index(string(a.Body), "["):strings.Index(string(a.Body), "]")]))
			token = a.Header.Get("x-ms-continuation")
			if limit == "1" && len(token) > 1024 {
				t.Errorf("a token of %d bytes, 1 KB was the limit", len(token))
			}
		}
		if all := strings.Join(got, ""); all != `["1"["2"["3"` {
			t.Errorf("limit %q: %s", limit, all)
		}
	}
}
