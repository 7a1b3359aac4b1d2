package restapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
)

// searcher follows the plans of queries by vectors and texts, as SDKs do.
type searcher struct {
	b          *bundle
	container  string // its path
	parameters []map[string]any
	features   string // empty for all
	key        string // partition key header, empty for all partitions
}

func (s *searcher) post(t testing.TB, query string, headers ...string) *Answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "parameters": s.parameters})
	if err != nil {
		t.Fatal(err)
	}
	if s.key != "" {
		headers = append(headers, keyHeader, s.key)
	}
	headers = append(headers, "Content-Type", "application/query+json", "x-ms-max-item-count", "-1")
	return s.b.do(t, "POST", s.container+"/docs", string(body), headers...)
}

func (s *searcher) plan(t testing.TB, query string) *plan.Plan {
	t.Helper()
	headers := []string{"x-ms-cosmos-is-query-plan-request", "True"}
	if s.features != "" {
		headers = append(headers, "x-ms-cosmos-supported-query-features", s.features)
	}
	a := s.post(t, query, headers...)
	p := &plan.Plan{}
	if err := json.Unmarshal(a.Body, p); a.Status != 200 || err != nil {
		t.Fatalf("plan of %s: %d %s", query, a.Status, a.Body)
	}
	return p
}

// everywhere runs a query in each physical partition.
func everywhere[T any](t testing.TB, s *searcher, query string) []T {
	t.Helper()
	var ranges struct {
		PartitionKeyRanges []struct{ ID string }
	}
	if err := json.Unmarshal(s.b.do(t, "GET", s.container+"/pkranges", "").Body, &ranges); err != nil {
		t.Fatal(err)
	}
	var all []T
	for i, r := range ranges.PartitionKeyRanges {
		var a *Answer
		switch {
		case s.key == "":
			a = s.post(t, query, "x-ms-documentdb-partitionkeyrangeid", r.ID)
		case i == 0: // one logical partition
			a = s.post(t, query)
		default:
			continue
		}
		var page struct{ Documents []T }
		if err := json.Unmarshal(a.Body, &page); a.Status != 200 || err != nil {
			t.Fatalf("%s in %s: %d %s", query, r.ID, a.Status, a.Body)
		}
		all = append(all, page.Documents...)
	}
	return all
}

// hit is a row of a component's query, in either form.
type hit struct {
	RID             string `json:"_rid"`
	ComponentScores []float64
	Payload         json.RawMessage
}

// search runs a query of ORDER BY RANK.
func (s *searcher) search(t testing.TB, query string) []string {
	t.Helper()
	h := s.plan(t, query).HybridSearch
	if h == nil {
		t.Fatalf("%s: the plan is none of a hybrid search", query)
	}
	fill := s.statistics(t, h)
	found := map[string]hit{}
	var pool []hit
	for _, info := range h.ComponentQueryInfos {
		for _, row := range everywhere[hit](t, s, fill.Replace(info.RewrittenQuery)) {
			if len(info.OrderBy) > 0 {
				inner := hit{RID: row.RID}
				if err := json.Unmarshal(row.Payload, &inner); err != nil {
					t.Fatal(err)
				}
				row = inner
			}
			if _, known := found[row.RID]; !known {
				found[row.RID] = row
				pool = append(pool, row)
			}
		}
	}
	fuse(h, pool)
	if h.Skip != nil {
		pool = pool[min(*h.Skip, len(pool)):]
	}
	if h.Take != nil {
		pool = pool[:min(*h.Take, len(pool))]
	}
	results := make([]string, len(pool))
	for i, row := range pool {
		results[i] = string(row.Payload)
	}
	return results
}

func (s *searcher) statistics(t testing.TB, h *plan.HybridSearchQueryInfo) *strings.Replacer {
	t.Helper()
	type statistics struct {
		DocumentCount      float64
		FullTextStatistics []struct {
			TotalWordCount float64
			HitCounts      []float64
		}
	}
	var sum statistics
	for i, part := range everywhere[statistics](t, s, h.GlobalStatisticsQuery) {
		if i == 0 {
			sum = part
			continue
		}
		sum.DocumentCount += part.DocumentCount
		for j, text := range part.FullTextStatistics {
			sum.FullTextStatistics[j].TotalWordCount += text.TotalWordCount
			for k, hits := range text.HitCounts {
				sum.FullTextStatistics[j].HitCounts[k] += hits
			}
		}
	}
	places := []string{"{documentdb-formattableorderbyquery-filter}", "true",
		"{documentdb-formattablehybridsearchquery-totaldocumentcount}", fmt.Sprint(sum.DocumentCount)}
	for i, text := range sum.FullTextStatistics {
		hits, err := json.Marshal(text.HitCounts)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places,
			fmt.Sprintf("{documentdb-formattablehybridsearchquery-totalwordcount-%d}", i), fmt.Sprint(text.TotalWordCount),
			fmt.Sprintf("{documentdb-formattablehybridsearchquery-hitcountsarray-%d}", i), string(hits))
	}
	return strings.NewReplacer(places...)
}

// fuse sorts by the sum of weight / (60 + rank) over dense ranks; a single component by its scores.
func fuse(h *plan.HybridSearchQueryInfo, pool []hit) {
	const constant = 60
	fused := map[string]float64{}
	if len(h.ComponentQueryInfos) == 1 { // the rows are in order but for the partitions
		for _, row := range pool {
			if len(row.ComponentScores) == 1 {
				fused[row.RID] = row.ComponentScores[0]
				if h.ComponentQueryInfos[0].OrderBy[0] == plan.Ascending {
					fused[row.RID] *= -1
				}
			}
		}
		slices.SortStableFunc(pool, func(a, b hit) int { return cmp.Compare(fused[b.RID], fused[a.RID]) })
		return
	}
	for i, info := range h.ComponentQueryInfos {
		ascending := len(info.OrderBy) > 0 && info.OrderBy[0] == plan.Ascending
		sorted := slices.Clone(pool)
		slices.SortStableFunc(sorted, func(a, b hit) int {
			if ascending {
				return cmp.Compare(a.ComponentScores[i], b.ComponentScores[i])
			}
			return cmp.Compare(b.ComponentScores[i], a.ComponentScores[i])
		})
		weight := 1.0
		if len(h.ComponentWeights) > 0 {
			weight = h.ComponentWeights[i]
		}
		rank := 1
		for j, row := range sorted {
			if j > 0 && row.ComponentScores[i] != sorted[j-1].ComponentScores[i] {
				rank++
			}
			fused[row.RID] += weight / float64(constant+rank)
		}
	}
	slices.SortStableFunc(pool, func(a, b hit) int { return cmp.Compare(fused[b.RID], fused[a.RID]) })
}
