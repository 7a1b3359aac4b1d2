package restapi

import (
	"strings"
	"testing"
	"time"
)

// TestPlansOfManyScoresAreRefused asks for a plan in which each of 5,000 queries would name 5,000 scores.
func TestPlansOfManyScoresAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan := []string{"x-ms-cosmos-is-query-plan-request", "True", "x-ms-cosmos-supported-query-features", "HybridSearch, WeightedRankFusion"}
	for name, c := range map[string]struct {
		query  string
		status int
	}{
		"five thousand scores":      {"SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(" + times("FullTextScore(c.t, 'a', 'b', 'c')", 5000) + ")", 400},
		"ten of ten thousand words": {"SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(" + times("FullTextScore(c.t, "+times("'a'", 10_000)+")", 10) + ")", 200},
		"a hundred vectors":         {"SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(" + times("VectorDistance(c.v, [1, 2, 3])", 100) + ")", 200},
		"one of many words":         {"SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.t, " + times("'a'", 50_000) + ")", 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.query(t, c.query, plan...)
			if a.Status != c.status || c.status == 400 && !strings.Contains(string(a.Body), "makes a plan that is too large") {
				t.Errorf("got %d %.300s, want %d", a.Status, a.Body, c.status)
			}
		})
	}
}

// TestLongPhrasesAreSoughtInLinearTime looks for a phrase of hundreds of thousands of words, whose beginning is everywhere.
func TestLongPhrasesAreSoughtInLinearTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, "POST", docsPath, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	h := &hostile{
		query:      "SELECT VALUE FullTextContains(@text, @phrase) FROM c",
		parameters: map[string]any{"@text": strings.Repeat("a ", 500_000), "@phrase": strings.Repeat("a ", 300_000) + "b"},
	}
	begun := time.Now()
	if a := b.hostile(t.Context(), t, h); a.Status != 200 || !strings.Contains(string(a.Body), "[false]") {
		t.Errorf("got %d %.300s, want false", a.Status, a.Body)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
