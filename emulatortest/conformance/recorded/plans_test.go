package recorded

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// queryInfo is what plans are compared by.
type queryInfo struct {
	DistinctType                string             `json:"distinctType"`
	Top                         *int               `json:"top"`
	Offset                      *int               `json:"offset"`
	Limit                       *int               `json:"limit"`
	OrderBy                     []string           `json:"orderBy"`
	OrderByExpressions          []string           `json:"orderByExpressions"`
	GroupByExpressions          []string           `json:"groupByExpressions"`
	GroupByAliases              []string           `json:"groupByAliases"`
	Aggregates                  []string           `json:"aggregates"`
	GroupByAliasToAggregateType map[string]*string `json:"groupByAliasToAggregateType"`
	RewrittenQuery              string             `json:"rewrittenQuery"`
	HasSelectValue              bool               `json:"hasSelectValue"`
	HasNonStreamingOrderBy      bool               `json:"hasNonStreamingOrderBy"`
	DCountInfo                  *struct {
		Alias string `json:"dCountAlias"`
	} `json:"dCountInfo"`
}

type planned struct {
	QueryInfo   *queryInfo `json:"queryInfo"`
	QueryRanges []struct {
		Min          string `json:"min"`
		Max          string `json:"max"`
		MinInclusive bool   `json:"isMinInclusive"`
		MaxInclusive bool   `json:"isMaxInclusive"`
	} `json:"queryRanges"`
}

// containers makes one container for each definition that records ask for.
type containers struct {
	service
	made map[string]string
}

func newContainers(t *testing.T) *containers {
	t.Helper()
	return &containers{newService(t, 1), map[string]string{}}
}

func (c *containers) of(t *testing.T, paths []string, more map[string]any) string {
	t.Helper()
	name := fmt.Sprint(paths, more)
	if c.made[name] == "" {
		c.made[name] = c.container(t, fmt.Sprintf("c%d", len(c.made)), paths, more)
	}
	return c.made[name]
}

// doubtful are records that the emulator doesn't follow, with the reason.
var doubtful = map[string]string{
	"SELECT * FROM c WHERE c.tenant BETWEEN 'a' AND 'z' AND c.userId = 'u1'": "only a comment says that it is refused; " +
		"a live test has BETWEEN on a single key path accepted, and nothing else of the language depends on which path it stands",
}

func TestGatewayPlans(t *testing.T) {
	t.Parallel()
	type record struct {
		Paths      []string
		Query      string
		Parameters []parameter
		Verdict    string
		Plan       *queryInfo
		PathInPlan string
	}
	all := records[record](t, "gateway-plans.jsonl")
	c := newContainers(t)
	for _, r := range all {
		if reason := doubtful[r.Query]; reason != "" {
			t.Logf("not held against the emulator: %s: %s", r.Query, reason)
			continue
		}
		a := c.plan(t, c.of(t, r.Paths, nil), r.Query, r.Parameters)
		switch {
		case r.Verdict == "refused":
			if a.status != http.StatusBadRequest {
				t.Errorf("accepted, but the service refuses it: %s", r.Query)
			}
			continue
		case a.status != http.StatusOK:
			t.Errorf("%d %s\nfor %s", a.status, a.body, r.Query)
			continue
		}
		var got planned
		if err := json.Unmarshal(a.body, &got); err != nil || got.QueryInfo == nil {
			t.Errorf("%s: no queryInfo: %v", r.Query, err)
			continue
		}
		if r.Plan != nil {
			if wrong := gatewayDifference(r.Plan, got.QueryInfo); wrong != "" {
				t.Errorf("%s\nfor %s\n%s", wrong, r.Query, a.body)
			}
		}
		paths := slices.Concat(got.QueryInfo.OrderByExpressions, got.QueryInfo.GroupByExpressions)
		if r.PathInPlan != "" && !slices.Contains(paths, r.PathInPlan) {
			t.Errorf("%s: the plan names %q, want %s", r.Query, paths, r.PathInPlan)
		}
	}
	t.Logf("%d gateway plans", len(all))
}

// gatewayDifference says how a plan differs from the SDK's own, apart from what the live tests allow the gateway.
func gatewayDifference(want, got *queryInfo) string {
	rewritten, grouped := got.RewrittenQuery != "", len(want.GroupByExpressions) > 0
	kinds := slices.Clone(got.Aggregates)
	for i, kind := range kinds {
		kinds[i] = strings.Replace(kind, "Average", "Avg", 1)
	}
	same := func(want, got *int, mayMiss bool) bool {
		return got == nil && (want == nil || mayMiss) || want != nil && got != nil && *want == *got
	}
	sameOrAbsent := func(want, got []string, mayMiss bool) bool {
		return slices.Equal(want, got) || mayMiss && len(got) == 0
	}
	switch {
	case want.DistinctType != got.DistinctType && (!rewritten || want.DistinctType != "Ordered" || got.DistinctType != "Unordered"):
		return "distinctType is " + got.DistinctType
	case !same(want.Top, got.Top, false):
		return "top differs"
	case !same(want.Offset, got.Offset, want.Offset != nil && *want.Offset == 0):
		return "offset differs"
	case !same(want.Limit, got.Limit, rewritten):
		return "limit differs"
	case !sameOrAbsent(want.OrderBy, got.OrderBy, grouped) || !sameOrAbsent(want.OrderByExpressions, got.OrderByExpressions, grouped):
		return "orderBy differs"
	case !slices.Equal(want.GroupByExpressions, got.GroupByExpressions):
		return "groupByExpressions differ"
	case !sameOrAbsent(want.Aggregates, kinds, rewritten):
		return "aggregates differ"
	case want.HasSelectValue != got.HasSelectValue:
		return "hasSelectValue differs"
	}
	return ""
}

func TestQueryPlans(t *testing.T) {
	t.Parallel()
	type record struct {
		File, Description, Query string
		Paths                    []string
		Kind, Geospatial         string
		Parameters               []parameter
		Info                     *queryInfo
		Ranges                   []string
		Rewritten                string
		RefusedWith              any // a code, or a list of them
	}
	all := records[record](t, "query-plans.jsonl")
	c := newContainers(t)
	for _, r := range all {
		more := map[string]any{}
		if r.Geospatial != "" {
			more["geospatialConfig"] = map[string]any{"type": r.Geospatial}
		}
		if r.File == "VectorSearch" {
			name, _, _ := strings.Cut(r.Description, " ")
			function := map[string]string{"Euclidean": "euclidean", "Cosine": "cosine", "Dot": "dotproduct"}[name]
			more["vectorEmbeddingPolicy"] = map[string]any{"vectorEmbeddings": []any{map[string]any{
				"path": "/embedding", "dataType": "float32", "distanceFunction": function, "dimensions": 8}}}
		}
		paths := r.Paths
		if len(paths) == 0 {
			paths = []string{"/unnamed"}
		}
		a := c.plan(t, c.of(t, paths, more), r.Query, r.Parameters)
		name := r.File + ": " + r.Description + ": " + r.Query
		if r.RefusedWith != nil {
			codes := strings.Fields(strings.Trim(fmt.Sprint(r.RefusedWith), "[]"))
			if a.status != http.StatusBadRequest {
				t.Errorf("accepted, but refused with %q: %s", r.RefusedWith, name)
			} else if !slices.ContainsFunc(codes, func(code string) bool { return strings.Contains(string(a.body), strings.TrimPrefix(code, "SC")) }) {
				t.Errorf("refused with %s, want %q: %s", a.body, r.RefusedWith, name)
			}
			continue
		}
		var got planned
		if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK || got.QueryInfo == nil {
			t.Errorf("%d %s\nfor %s", a.status, a.body, name)
			continue
		}
		wantInfo, gotInfo := plain(*r.Info), plain(*got.QueryInfo)
		if !reflect.DeepEqual(wantInfo, gotInfo) {
			t.Errorf("%s\n got %s\nwant %s", name, encode(t, gotInfo), encode(t, wantInfo))
		}
		if got, want := bare(got.QueryInfo.RewrittenQuery), bare(r.Rewritten); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
		if r.Kind == "Hash" && (len(r.Paths) == 1 || len(r.Ranges) > 0 && strings.Count(r.Ranges[0], ",") == 1) {
			compareRanges(t, name, r.Ranges, got)
		}
	}
	t.Logf("%d query plans", len(all))
}

// plain is a plan's info without its rewritten query, and with lists that are missing as empty ones.
func plain(info queryInfo) queryInfo {
	info.RewrittenQuery = ""
	info.HasNonStreamingOrderBy = false // newer than the records
	for _, list := range []*[]string{&info.OrderBy, &info.OrderByExpressions, &info.GroupByExpressions, &info.GroupByAliases, &info.Aggregates} {
		*list = append([]string{}, *list...)
	}
	for i, e := range info.OrderByExpressions {
		info.OrderByExpressions[i] = bare(e)
	}
	for i, e := range info.GroupByExpressions {
		info.GroupByExpressions[i] = bare(e)
	}
	if info.GroupByAliasToAggregateType == nil {
		info.GroupByAliasToAggregateType = map[string]*string{}
	}
	return info
}

// bare is a query without what means nothing: white space, parentheses and ASC. Numbers are spelled in one way.
func bare(query string) string {
	var b strings.Builder
	for word := range words(query) {
		b.WriteString(word)
	}
	return b.String()
}

// words yields the words and symbols of a query, as bare spells them.
func words(query string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for at := 0; at < len(query); {
			end := at + 1
			switch c := query[at]; {
			case c == '"' || c == '\'':
				for end < len(query) && query[end] != c {
					if query[end] == '\\' {
						end++
					}
					end++
				}
				end++
			case c >= '0' && c <= '9':
				for end < len(query) && strings.IndexByte("0123456789.eE", query[end]) >= 0 {
					end++
				}
			case c == '_' || c == '$' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
				for end < len(query) && (query[end] == '_' || query[end] >= '0' && query[end] <= '9' || query[end]|0x20 >= 'a' && query[end]|0x20 <= 'z') {
					end++
				}
			}
			word := query[at:end]
			at = end
			if number := json.Number(word); word[0] >= '0' && word[0] <= '9' {
				if f, err := number.Float64(); err == nil {
					word = fmt.Sprint(f)
				}
			}
			if strings.TrimSpace(word) == "" || word == "(" || word == ")" || word == "ASC" {
				continue
			}
			if !yield(word) {
				return
			}
		}
	}
}

func compareRanges(t *testing.T, name string, want []string, plan planned) {
	t.Helper()
	wanted := map[string]bool{}
	for _, text := range want {
		low, high := "", "FF"
		if text != `[[],"Infinity")` {
			var ends [2][]any
			if err := json.Unmarshal([]byte(text), &ends); err != nil {
				t.Fatalf("%s: %s: %v", name, text, err)
			}
			low, high = pointEPK(ends[0]), pointEPK(ends[1])
		}
		wanted[low+" "+high] = true
	}
	got := map[string]bool{}
	for _, r := range plan.QueryRanges {
		got[r.Min+" "+r.Max] = true
		if point := r.Min == r.Max; r.MaxInclusive != point || !r.MinInclusive {
			t.Errorf("%s: the range %+v has the wrong ends", name, r)
		}
	}
	if !reflect.DeepEqual(wanted, got) {
		t.Errorf("%s\n got ranges %v\nwant %v", name, got, want)
	}
}

func pointEPK(values []any) string {
	if len(values) == 0 {
		return ""
	}
	components := make([]epk.Component, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			components[i] = epk.Null()
		case bool:
			components[i] = epk.Bool(v)
		case float64:
			components[i] = epk.Number(v)
		case string:
			components[i] = epk.String(v)
		case map[string]any:
			components[i] = epk.Undefined()
		}
	}
	return epk.Hash(epk.HashV2, components...)
}
