package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func hybrid(t *testing.T, text string, parameters map[string]value.Value, options plan.Options) *plan.Plan {
	t.Helper()
	q, err := sql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.BuildWith(q, parameters, plan.Container{Paths: [][]string{{"pk"}}, Scheme: epk.HashV2}, options)
	if err != nil {
		t.Fatal(err)
	}
	if p.HybridSearch == nil {
		t.Fatal("the plan is none of a hybrid search")
	}
	return p
}

// plain takes away what the spelling of a query may differ in.
func plain(text string) string {
	return strings.NewReplacer("\n", " ", "'", `"`, "(", "", ")", "").Replace(text)
}

func TestHybridPlans(t *testing.T) {
	t.Parallel()
	const (
		text = `_FullTextScore(c.text, ["swim", "run"], {documentdb-formattablehybridsearchquery-totaldocumentcount}, ` +
			`{documentdb-formattablehybridsearchquery-totalwordcount-0}, {documentdb-formattablehybridsearchquery-hitcountsarray-0})`
		image  = `_VectorScore(c.image, [1, 2, 3])`
		backup = `_VectorScore(c.backup, [1])`
		where  = ` FROM c WHERE ({documentdb-formattableorderbyquery-filter}) ORDER BY `
	)
	component := func(score, payload, scores, order string) string {
		return `SELECT TOP 120 c._rid, [{"item": ` + score + `}] AS orderByItems, {"payload": ` + payload + `, "componentScores": [` + scores +
			`]} AS payload` + where + order
	}
	euclidean := vector.ParsePolicy(value.FromObject([]value.Member{{Name: "vectorEmbeddings", Value: value.FromArray([]value.Value{
		value.FromObject([]value.Member{
			{Name: "path", Value: value.FromString("/image")}, {Name: "distanceFunction", Value: value.FromString("euclidean")},
		}),
	})}}))
	statistics := `SELECT COUNT(1) AS documentCount, [{"totalWordCount": SUM(_FullTextWordCount(c.text)), "hitCounts": ` +
		`[COUNTIF(FullTextContains(c.text, "swim")), COUNTIF(FullTextContains(c.text, "run"))]}] AS fullTextStatistics FROM c`
	none := `SELECT COUNT(1) AS documentCount, [] AS fullTextStatistics FROM c`
	keywords := value.FromArray([]value.Value{value.FromString("swim"), value.FromString("run")})
	for name, c := range map[string]struct {
		query      string
		options    plan.Options
		statistics string
		components []string
		orders     []string
		weights    []float64
	}{
		"one score": {
			query:      `SELECT TOP 10 * FROM c ORDER BY RANK FullTextScore(c.text, "swim", "run")`,
			statistics: statistics,
			components: []string{component(text, "c", text+" ?? -1", text+" DESC")},
			orders:     []string{"Descending"},
		},
		"one score, without rewriting": {
			query:      `SELECT TOP 10 * FROM c ORDER BY RANK FullTextScore(c.text, ["swim", "run"])`,
			options:    plan.Options{SkipOrderByRewrite: true},
			statistics: statistics,
			components: []string{component(text, "c", "", text+" DESC")},
			orders:     []string{"Descending"},
		},
		"keywords in a parameter": {
			query:      `SELECT TOP 10 * FROM c ORDER BY RANK FullTextScore(c.text, @keywords)`,
			statistics: statistics,
			components: []string{component(text, "c", text+" ?? -1", text+" DESC")},
			orders:     []string{"Descending"},
		},
		"text and vector": {
			query:      `SELECT TOP 10 c.a AS x FROM c ORDER BY RANK RRF(FullTextScore(c.text, "swim", "run"), VectorDistance(c.image, [1, 2, 3]))`,
			statistics: statistics,
			components: []string{
				component(text, `{"x": c.a}`, text+" ?? -1, "+image+" ?? -1.79769e+308", text+" DESC"),
				component(image, `{"x": c.a}`, text+" ?? -1, "+image+" ?? -1.79769e+308", image),
			},
			orders: []string{"Descending", "Descending"},
		},
		"euclidean vector": {
			query:      `SELECT TOP 10 * FROM c ORDER BY RANK VectorDistance(c.image, [1, 2, 3])`,
			options:    plan.Options{Vectors: euclidean},
			statistics: none,
			components: []string{component(image, "c", image+" ?? 1.79769e+308", image)},
			orders:     []string{"Ascending"},
		},
		"a negative weight": {
			query:      `SELECT TOP 10 * FROM c ORDER BY RANK RRF(VectorDistance(c.backup, [1]), VectorDistance(c.image, [1, 2, 3]), [1, -0.3])`,
			statistics: none,
			components: []string{
				component(backup, "c", backup+" ?? -1.79769e+308, "+image+" ?? 1.79769e+308", backup),
				component(image, "c", backup+" ?? -1.79769e+308, "+image+" ?? 1.79769e+308", image+" ASC"),
			},
			orders:  []string{"Descending", "Ascending"},
			weights: []float64{1, 0.3},
		},
		"a negative weight, without rewriting": {
			query:      `SELECT TOP 10 * FROM c ORDER BY RANK RRF(VectorDistance(c.backup, [1]), VectorDistance(c.image, [1, 2, 3]), @weights)`,
			options:    plan.Options{SkipOrderByRewrite: true},
			statistics: none,
			components: []string{
				"SELECT TOP 120 c._rid, c AS payload, [" + backup + " ?? -1.79769e+308, -1 * " + image + " ?? 1.79769e+308] AS componentScores FROM c ORDER BY " + backup,
				"SELECT TOP 120 c._rid, c AS payload, [" + backup + " ?? -1.79769e+308, -1 * " + image + " ?? 1.79769e+308] AS componentScores FROM c ORDER BY " + image + " ASC",
			},
			orders:  []string{"", ""},
			weights: []float64{1, 0.3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := hybrid(t, c.query, map[string]value.Value{
				"@keywords": keywords, "@weights": value.FromArray([]value.Value{value.FromNumber(1), value.FromNumber(-0.3)}),
			}, c.options)
			h := p.HybridSearch
			if got, want := plain(h.GlobalStatisticsQuery), plain(c.statistics); got != want || h.RequiresGlobalStatistics != (c.statistics != none) {
				t.Errorf("statistics (required: %v): got\n%s, want\n%s", h.RequiresGlobalStatistics, got, want)
			}
			if len(h.ComponentQueryInfos) != len(c.components) || len(h.ComponentWeights) != len(c.weights) {
				t.Fatalf("got %d components and weights %v", len(h.ComponentQueryInfos), h.ComponentWeights)
			}
			for i, info := range h.ComponentQueryInfos {
				if got, want := plain(info.RewrittenQuery), plain(c.components[i]); got != want {
					t.Errorf("component %d: got\n%s, want\n%s", i, got, want)
				}
				if got := strings.Join(info.OrderBy, " "); got != c.orders[i] || info.HasNonStreamingOrderBy != (got != "") {
					t.Errorf("component %d: order %q, non-streaming %v", i, got, info.HasNonStreamingOrderBy)
				}
			}
			for i, w := range c.weights {
				if h.ComponentWeights[i] != w {
					t.Errorf("got weights %v, want %v", h.ComponentWeights, c.weights)
				}
			}
			if h.Skip != nil || h.Take == nil || *h.Take != 10 {
				t.Errorf("got skip %v, take %v", h.Skip, h.Take)
			}
		})
	}
}

func TestHybridPlanOnTheWire(t *testing.T) {
	t.Parallel()
	p := hybrid(t, `SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, "x"), FullTextScore(c.b, "y"), [1, 2]) OFFSET 70 LIMIT 5`, nil, plan.Options{})
	encoded, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Parse(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Get("queryInfo").IsUndefined() {
		t.Error("the plan has a queryInfo beside hybridSearchQueryInfo")
	}
	h := v.Get("hybridSearchQueryInfo")
	for path, want := range map[string]string{
		"skip": "70", "take": "5", "componentWeights": "[1,2]", "projectionQueryInfo": "null", "componentWithoutPayloadQueryInfos": "[]",
	} {
		if got := h.Get(path).String(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got := h.Get("componentQueryInfos").Index(0).Get("top").String(); got != "150" {
		t.Errorf("a component is cut off at %s rows, want twice the 75 that are asked for", got)
	}
	if missing := p.Missing([]string{"OrderBy", "Top"}); strings.Join(missing, " ") != "HybridSearch WeightedRankFusion" {
		t.Errorf("missing features: %v", missing)
	}
}

func TestRefusedHybridPlans(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, "x"), FullTextScore(c.b, "y"), [1])`:      "one for each",
		`SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, "x"), FullTextScore(c.b, "y"), ["a", 1])`: "numbers",
		`SELECT * FROM c ORDER BY RANK FullTextScore(c.a, "x") DESC`:                                    "ASC or DESC",
		`SELECT * FROM c ORDER BY RANK ABS(c.a)`:                                                        "ORDER BY RANK clause takes",
		`SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, "x"), c.b)`:                               "ORDER BY RANK clause takes",
		`SELECT DISTINCT c.a FROM c ORDER BY RANK FullTextScore(c.a, "x")`:                              "DISTINCT",
		`SELECT COUNT(1) FROM c ORDER BY RANK FullTextScore(c.a, "x")`:                                  "aggregates",
		`SELECT FullTextScore(c.a, "x") FROM c`:                                                         "ORDER BY RANK clause",
		`SELECT * FROM c WHERE RRF(FullTextScore(c.a, "x"), 1) > 0`:                                     "ORDER BY RANK clause",
	} {
		q, err := sql.Parse(query)
		if err == nil {
			_, err = plan.Build(q, nil, plan.Container{Paths: [][]string{{"pk"}}, Scheme: epk.HashV2})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a refusal that names %q", query, err, want)
		}
	}
}
