package restapi

import (
	"net/http"
	"strings"
	"testing"
)

// TestFuzzySearchIsRefused checks that a keyword which is an object is refused by the name of what is missing, with items
// and without, instead of matching nothing.
func TestFuzzySearchIsRefused(t *testing.T) {
	t.Parallel()
	const object = `{"term":"red","distance":1}`
	b := setup(t)
	b.do(t, http.MethodPost, docsPath, `{"id":"1","pk":"a","text":"a red bicycle"}`, keyHeader, `["a"]`)
	for _, c := range []struct {
		name, body string
		plan, ok   bool
	}{
		{"a string", `{"query":"SELECT * FROM c WHERE FullTextContains(c.text, 'red')"}`, false, true},
		{"an object", `{"query":"SELECT * FROM c WHERE FullTextContains(c.text, {'term': 'red', 'distance': 1})"}`, false, false},
		{"one of several", `{"query":"SELECT * FROM c WHERE FullTextContainsAny(c.text, 'red', {'term': 'blue', 'distance': 1})"}`, false, false},
		{"in a subquery", `{"query":"SELECT VALUE (SELECT VALUE FullTextContainsAll(c.text, 'red', {'term': 'blue', 'distance': 1})) FROM c"}`, false, false},
		{"a parameter", `{"query":"SELECT * FROM c WHERE FullTextContains(c.text, @k)","parameters":[{"name":"@k","value":` + object + `}]}`, false, false},
		{"a score", `{"query":"SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, 'red')"}`, true, true},
		{"an object in a score", `{"query":"SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, {'term': 'red', 'distance': 1})"}`, true, false},
		{"a list in a score", `{"query":"SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, ['a', {'term': 'red', 'distance': 1}])"}`, true, false},
		{"a parameter in a fusion", `{"query":"SELECT TOP 1 * FROM c ORDER BY RANK RRF(FullTextScore(c.text, @k), FullTextScore(c.text, 'red'))",` +
			`"parameters":[{"name":"@k","value":` + object + `}]}`, true, false},
		{"a parameter with a list", `{"query":"SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, @k)","parameters":[{"name":"@k","value":["a",` + object + `]}]}`, true, false},
	} {
		headers := []string{"Content-Type", "application/query+json", keyHeader, `["a"]`}
		if c.plan {
			headers = []string{"Content-Type", "application/query+json", "x-ms-cosmos-is-query-plan-request", "True",
				"x-ms-documentdb-query-enablecrosspartition", "True", "x-ms-cosmos-supported-query-features", "HybridSearch, WeightedRankFusion, Top, NonStreamingOrderBy"}
		}
		a := b.do(t, http.MethodPost, docsPath, c.body, headers...)
		if c.ok && a.Status != 200 || !c.ok && (a.Status != 400 || !strings.Contains(string(a.Body), "fuzzy search")) {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Body)
		}
	}
}
