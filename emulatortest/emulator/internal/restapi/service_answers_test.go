package restapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// planHeaders ask for a query plan.
func planHeaders() []string {
	return []string{
		"Content-Type", "application/query+json", "x-ms-cosmos-is-query-plan-request", "True",
		"x-ms-documentdb-query-enablecrosspartition", "True",
		"x-ms-cosmos-supported-query-features", "Aggregate, CompositeAggregate, CountIf, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, NonValueAggregate, OffsetAndLimit, OrderBy, Top",
	}
}

// TestPlansAsTheGatewayMakesThem has what live tests of Microsoft's SDK for Rust say of the gateway's plans
// (gateway_query_plan_comparison.rs): shapes that are planned, and those that are refused.
func TestPlansAsTheGatewayMakesThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for query, want := range map[string]string{ // a part of the plan; empty for 400
		`SELECT c.a FROM c GROUP BY c.a ORDER BY c.a`:                           `"groupByExpressions":["c.a"]`,
		`SELECT DISTINCT VALUE 1`:                                               `"distinctType":"None"`,
		`SELECT DISTINCT VALUE c.a FROM c`:                                      `"distinctType":"Unordered"`,
		`SELECT * FROM c ORDER BY c["a"]`:                                       `"orderByExpressions":["c[\"a\"]"]`,
		`SELECT c["a"].b[0] AS x FROM c GROUP BY c["a"].b[0]`:                   `"groupByExpressions":["c[\"a\"].b[0]"]`,
		`SELECT * FROM c WHERE c.a = @missing`:                                  `"queryRanges"`,
		`SELECT TOP @missing * FROM c`:                                          ``,
		`SELECT * FROM c OFFSET @missing LIMIT 1`:                               ``,
		`SELECT * FROM c OFFSET 0 LIMIT @missing`:                               ``,
		`SELECT * FROM c OFFSET 2 LIMIT 3`:                                      `OFFSET 0 LIMIT 5`,
		`SELECT TOP 3 * FROM c`:                                                 `"top":3`,
		`SELECT * FROM c WHERE c.pk = "a"`:                                      `"isMaxInclusive":true`,
		`SELECT * FROM c WHERE c["pk"] = "a"`:                                   `"isMaxInclusive":true`,
		`SELECT * FROM c WHERE c.a IS NULL`:                                     ``,
		`SELECT * FROM c WHERE c.a IS NOT NULL`:                                 ``,
		`SELECT d.a FROM c`:                                                     ``,
		`SELECT udf.f(COUNT(1)) FROM c`:                                         ``,
		`SELECT * FROM c WHERE COUNT(1) > 1`:                                    ``,
		`SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1`:                                ``,
		`SELECT * FROM c JOIN t IN c.tags`:                                      ``,
		`SELECT * FROM c WHERE c.a LIKE "x!%" ESCAPE "!"`:                       `"queryRanges"`,
		`SELECT * FROM c WHERE c.a LIKE "x" ESCAPE "\\"`:                        ``,
		`SELECT * FROM c WHERE c.a LIKE "x" ESCAPE "ab"`:                        ``,
		`SELECT VALUE ~3.7 FROM c`:                                              `"queryRanges"`,
		`SELECT * FROM c WHERE c.pk BETWEEN "a" AND "b" AND c.a & 1 = 1`:        `"queryRanges"`,
		`SELECT c.a, MIN(c.n) AS n FROM c GROUP BY c.a OFFSET 1 LIMIT 2`:        `"offset":1,"limit":2`,
		`SELECT VALUE MAX(c.n) FROM c WHERE c.pk IN ("a", "b") AND c.a = "x"`:   `"aggregates":["Max"]`,
		`SELECT DISTINCT c.a FROM c ORDER BY c.a DESC`:                          `"orderBy":["Descending"]`,
		`SELECT c.order FROM c`:                                                 ``,
		`SELECT c.a AS value FROM c`:                                            ``,
		`SELECT c["order"] AS x FROM c`:                                         `"queryRanges"`,
		`SELECT * FROM c WHERE ARRAYCONTAINS(c.tags, "x")`:                      `"queryRanges"`,
		`SELECT * FROM c WHERE ARRAYLENGTH(c.tags) > 1`:                         ``,
		`SELECT VALUE {"n": COUNT(1), "s": SUM(c.n)} FROM c`:                    ``,
		`SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.a FROM c) AS d`:           ``, // without DCount among the features
		`SELECT * FROM (SELECT c.a FROM c GROUP BY c.a) AS d WHERE d.a = "x"`:   ``,
		`SELECT * FROM c WHERE EXISTS(SELECT 1 FROM t IN c.tags WHERE t = "x")`: `"queryRanges"`,
	} {
		body, err := json.Marshal(map[string]any{"query": query, "parameters": []any{}})
		if err != nil {
			t.Fatal(err)
		}
		a := b.do(t, http.MethodPost, docsPath, string(body), planHeaders()...)
		if want == "" && a.Status != 400 || want != "" && (a.Status != 200 || !strings.Contains(string(a.Body), want)) {
			t.Errorf("%s: %d %s, want %q", query, a.Status, a.Body, want)
		}
	}
}

// TestResultsAsTheServiceGivesThem has what is known of the language from recorded answers and live tests.
func TestResultsAsTheServiceGivesThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, document := range []string{
		`{"id":"1","pk":"a","g":2,"n":1.0,"tags":["x"],"s":"😀"}`, `{"id":"2","pk":"a","g":1,"n":-0,"tags":[]}`,
		`{"id":"3","pk":"a","g":2,"n":2e1,"tags":["y"]}`, `{"id":"4","pk":"a","g":1,"n":9223372036854775807}`,
	} {
		if a := b.do(t, http.MethodPost, docsPath, document, keyHeader, `["a"]`); a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	for query, want := range map[string]string{
		`SELECT VALUE c.n FROM c`:                                                      `[1,0,20,9.223372036854776e+18]`,
		`SELECT VALUE LENGTH(c.s) FROM c`:                                              `[2]`,
		`SELECT VALUE INDEX_OF("😀a", "a") FROM c WHERE c.id = "1"`:                     `[2]`,
		`SELECT VALUE c.id FROM c WHERE ARRAYCONTAINS(c.tags, "x")`:                    `["1"]`,
		`SELECT VALUE c.id FROM c WHERE arraycontains(c.tags, "y", false)`:             `["3"]`,
		`SELECT VALUE [5 & 3, 5 | 3, 5 ^ 3, 1 << 33, -1 >> 1] FROM c WHERE c.id = "1"`: `[[1,7,6,2,-1]]`,
		// groups by their key, where an index of it could give them, else by their first items
		`SELECT c.g FROM c GROUP BY c.g`:                        `[{"g":1},{"g":2}]`,
		`SELECT c.g, COUNT(1) AS k FROM c GROUP BY c.g`:         `[{"g":1,"k":2},{"g":2,"k":2}]`,
		`SELECT c.g, MIN(c.n) AS k FROM c GROUP BY c.g`:         `[{"g":2,"k":1},{"g":1,"k":0}]`,
		`SELECT c.g, c.pk FROM c GROUP BY c.g, c.pk`:            `[{"g":2,"pk":"a"},{"g":1,"pk":"a"}]`,
		`SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.tags, c.n`: `[{"n":1,"k":1},{"n":0,"k":1},{"n":20,"k":1},{"n":9.223372036854776e+18,"k":1}]`,
		`SELECT COUNT(1) AS k FROM c GROUP BY c.none`:           `[{"k":4}]`,
		`SELECT VALUE SUM(c.none) FROM c`:                       `[0]`,
		`SELECT VALUE SUM(c.s) FROM c`:                          `[]`,
		`SELECT VALUE MAX(c.tags) FROM c`:                       `[]`,
		`SELECT VALUE AVG(c.none) FROM c`:                       `[]`,
	} {
		var page struct{ Documents json.RawMessage }
		a := b.query(t, query, keyHeader, `["a"]`)
		if err := json.Unmarshal(a.Body, &page); err != nil {
			t.Fatal(err)
		}
		if string(page.Documents) != want {
			t.Errorf("%s: got %s, want %s", query, a.Body, want)
		}
	}
}

// TestRepliesTellTheDirectionOfTheScan checks that rids fall within equal keys only where the reply says so: clients that
// resume inside of them drop rows otherwise.
func TestRepliesTellTheDirectionOfTheScan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"1", "2", "3"} {
		b.do(t, http.MethodPost, docsPath, `{"id":"`+id+`","pk":"a","n":7}`, keyHeader, `["a"]`)
	}
	for _, c := range []struct{ order, want, info string }{
		{"ASC", `["1","2","3"]`, `{"reverseRidEnabled":false,"reverseIndexScan":false}`},
		{"DESC", `["3","2","1"]`, `{"reverseRidEnabled":false,"reverseIndexScan":true}`},
	} {
		a := b.query(t, "SELECT VALUE c.id FROM c ORDER BY c.n "+c.order, keyHeader, `["a"]`)
		if info := a.Header.Get("x-ms-cosmos-query-execution-info"); info != c.info || !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%s: %s and %s", c.order, info, a.Body)
		}
	}
}
