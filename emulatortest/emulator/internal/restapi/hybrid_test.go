package restapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// newSearcher makes a container, with its documents in one and, when split, in several physical partitions.
func newSearcher(t testing.TB, definition string, documents []string, keyOf func(document string) string, split bool) *searcher {
	t.Helper()
	b := setup(t)
	a := b.do(t, "POST", "/dbs/db/colls", definition)
	if a.Status != 201 {
		t.Fatalf("container: %d %s", a.Status, a.Body)
	}
	var made struct{ ID string }
	if err := json.Unmarshal(a.Body, &made); err != nil {
		t.Fatal(err)
	}
	s := &searcher{b: b, container: "/dbs/db/colls/" + made.ID}
	for _, d := range documents {
		if a := b.do(t, "POST", s.container+"/docs", d, keyHeader, keyOf(d)); a.Status != 201 {
			t.Fatalf("document: %d %s", a.Status, a.Body)
		}
	}
	if split {
		db, err := b.account.Database("db")
		if err != nil {
			t.Fatal(err)
		}
		container, err := db.Container(made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := container.Split("0"); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// keyAt reads the partition key, which is at the top of a document.
func keyAt(name string) func(string) string {
	return func(document string) string {
		var d map[string]json.RawMessage
		if err := json.Unmarshal([]byte(document), &d); err != nil {
			return "[{}]"
		}
		return "[" + string(d[name]) + "]"
	}
}

const bicycles = `{"id":"search","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},
	"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[],"fullTextIndexes":[{"path":"/text"}],"vectorIndexes":[{"path":"/embedding","type":"flat"}]},
	"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/text","language":"en-US"}]},
	"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/embedding","dataType":"float32","dimensions":2,"distanceFunction":"euclidean"}]}}`

func rides() []string {
	return []string{
		`{"id":"one","pk":"a","text":"blue bicycle","embedding":[0,0]}`,
		`{"id":"two","pk":"b","text":"red bicycle bicycle","embedding":[0.2,0]}`,
		`{"id":"three","pk":"a","text":"blue mountain bicycle","embedding":[0.5,0]}`,
		`{"id":"four","pk":"b","text":"red skateboard","embedding":[1,0]}`,
		`{"id":"five","pk":"c","text":7,"embedding":[[1,0],[0,1]]}`,
	}
}

// TestHybridSearch follows plans over one and two physical partitions, by clients with and without the newest feature.
func TestHybridSearch(t *testing.T) {
	t.Parallel()
	parameters := []map[string]any{
		{"name": "@term", "value": "bicycle"}, {"name": "@second", "value": "blue"}, {"name": "@vector", "value": []int{0, 0}},
		{"name": "@weights", "value": []int{2, 1}},
	}
	cases := []struct{ name, query, key, want string }{
		{"text", "SELECT TOP 3 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, @term)", "", "two one three"},
		{"all items are ranked", "SELECT TOP 9 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, @term)", "", "two one three four five"},
		{"no bound", "SELECT VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, @term)", "", "two one three four five"},
		{"window", "SELECT VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, @term) OFFSET 1 LIMIT 2", "", "one three"},
		{"filter", `SELECT TOP 3 VALUE c.id FROM c WHERE FullTextContains(c.text, "BLUE") ORDER BY RANK FullTextScore(c.text, @term)`, "", "one three"},
		{"phrase", `SELECT TOP 1 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, "mountain bicycle")`, "", "three"},
		{"two keywords", `SELECT TOP 3 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, "red", @term)`, "", "two four one"},
		{"fusion", "SELECT TOP 3 VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, @term), FullTextScore(c.text, @second), [2, 1])", "", "two one three"},
		{"vector", "SELECT TOP 4 VALUE c.id FROM c ORDER BY RANK VectorDistance(c.embedding, @vector)", "", "one two three four"},
		{"without a vector last", "SELECT TOP 5 VALUE c.id FROM c ORDER BY RANK VectorDistance(c.embedding, @vector)", "", "one two three four five"},
		{"vector and text", "SELECT TOP 3 VALUE c.id FROM c ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.text, @term), @weights)", "", "one two three"},
		{"weights that are negative", "SELECT TOP 2 VALUE c.id FROM c WHERE c.pk != 'c' ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.text, @term), [-1, -1])", "", "four three"},
		{"weights, one negative", "SELECT TOP 2 VALUE c.id FROM c WHERE c.pk != 'c' ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.text, @term), [10, -1])", "", "one two"},
		{"one logical partition", "SELECT TOP 2 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, @term)", `["a"]`, "one three"},
	}
	for _, split := range []bool{false, true} {
		s := newSearcher(t, bicycles, rides(), keyAt("pk"), split)
		s.parameters = parameters
		for _, features := range []string{"", "HybridSearch, WeightedRankFusion", "HybridSearch, WeightedRankFusion, HybridSearchSkipOrderByRewrite"} {
			for _, c := range cases {
				s := *s
				s.features, s.key = features, c.key
				// Without rewriting, one component brings no scores: a client merges its rows by their sort keys.
				if strings.Contains(features, "Skip") && !strings.Contains(c.query, "RRF") && (split && c.key == "") {
					continue
				}
				got := strings.ReplaceAll(strings.Join(s.search(t, c.query), " "), `"`, "")
				if got != c.want {
					t.Errorf("%s (split %v, features %q): got %s, want %s", c.name, split, features, got, c.want)
				}
			}
		}
	}
}

// TestRankIsLeftToClients checks that a query of ORDER BY RANK without a plan gets one.
func TestRankIsLeftToClients(t *testing.T) {
	t.Parallel()
	s := newSearcher(t, bicycles, rides(), keyAt("pk"), false)
	for _, key := range []string{"", `["a"]`} {
		s.key = key
		a := s.post(t, `SELECT TOP 3 * FROM c ORDER BY RANK FullTextScore(c.text, "x")`, "x-ms-documentdb-query-enablecrosspartition", "true")
		if a.Status != 400 || a.Header.Get("x-ms-substatus") != "1004" || !strings.Contains(string(a.Body), "hybridSearchQueryInfo") {
			t.Errorf("key %q: got %d/%s %.300s", key, a.Status, a.Header.Get("x-ms-substatus"), a.Body)
		}
	}
	a := s.post(t, `SELECT TOP 3 * FROM c ORDER BY RANK RRF(FullTextScore(c.text, "x"), FullTextScore(c.text, "y"), [1, 2])`,
		"x-ms-cosmos-is-query-plan-request", "True", "x-ms-cosmos-supported-query-features", "HybridSearch")
	if a.Status != 400 || !strings.Contains(string(a.Body), "WeightedRankFusion") {
		t.Errorf("a client without weights: got %d %s", a.Status, a.Body)
	}
}

// TestVectorOrderAcrossPartitions follows plans of ORDER BY VectorDistance, whose direction the container's policy decides.
func TestVectorOrderAcrossPartitions(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]struct{ direction, first string }{
		"cosine": {"Descending", "two four"}, "dotproduct": {"Descending", "four three"}, "euclidean": {"Ascending", "one two"},
	} {
		definition := strings.Replace(bicycles, `"euclidean"`, `"`+function+`"`, 1)
		s := newSearcher(t, definition, rides()[:4], keyAt("pk"), true)
		const query = "SELECT TOP 2 c.id FROM c ORDER BY VectorDistance(c.embedding, [0.1, 0])"
		info := s.plan(t, query).QueryInfo
		if !info.HasNonStreamingOrderBy || strings.Join(info.OrderBy, " ") != want.direction {
			t.Errorf("%s: got %v, non-streaming %v", function, info.OrderBy, info.HasNonStreamingOrderBy)
		}
		s.key = `["b"]`
		if a := s.post(t, strings.Replace(query, "c.id", "VALUE c.id", 1)); function == "euclidean" && !strings.Contains(string(a.Body), `["two","four"]`) ||
			function == "dotproduct" && !strings.Contains(string(a.Body), `["four","two"]`) {
			t.Errorf("%s: got %s", function, a.Body)
		}
		// An option of the call wins over the policy.
		s.key = ""
		overridden := s.plan(t, `SELECT TOP 2 c.id FROM c ORDER BY VectorDistance(c.embedding, [0, 0], true, {distanceFunction: "Euclidean"})`)
		if strings.Join(overridden.QueryInfo.OrderBy, " ") != "Ascending" {
			t.Errorf("%s: an option does not decide: %v", function, overridden.QueryInfo.OrderBy)
		}
	}
}

// recorded is a line of the answers that Microsoft's teams recorded.
type recorded struct {
	Kind, Name, Container, Query string
	ID                           string `json:"id"`
	Document                     json.RawMessage
	Value                        any
	Result                       []map[string]any
}

func recordedLines(t *testing.T, name string) (lines []recorded, raw []string) {
	t.Helper()
	file, err := os.Open("../../../../../shared/data/service-truth/" + name)
	if err != nil {
		t.Skip("the recorded answers are not here: they are no part of the repository")
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line recorded
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		lines, raw = append(lines, line), append(raw, scanner.Text())
	}
	return lines, raw
}

func TestRecordedFullText(t *testing.T) {
	t.Parallel()
	lines, raw := recordedLines(t, "full-text.jsonl")
	var documents []string
	for _, line := range lines {
		if line.Kind == "document" {
			documents = append(documents, string(line.Document))
		}
	}
	for _, split := range []bool{false, true} {
		s := newSearcher(t, raw[0], documents, keyAt("index"), split)
		for _, line := range lines {
			if line.Kind != "query" {
				continue
			}
			var got []string
			for _, row := range s.search(t, line.Query) {
				var d struct{ Index int }
				if err := json.Unmarshal([]byte(row), &d); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(d.Index))
			}
			var want []string
			for _, row := range line.Result {
				want = append(want, fmt.Sprint(row["index"]))
			}
			// Rows of equal scores may change places: each is one word in these.
			tied := strings.NewReplacer("51", "49", "24", "54", "75", "54", "57", "85")
			if g, w := tied.Replace(strings.Join(got, " ")), tied.Replace(strings.Join(want, " ")); g != w {
				t.Errorf("%s (split %v): got %v, want %v", line.Name, split, got, want)
			}
		}
	}
}

func TestRecordedVectors(t *testing.T) {
	t.Parallel()
	lines, raw := recordedLines(t, "vectors.jsonl")
	var documents []string
	containers, searchers := map[string]string{}, map[string]*searcher{}
	var parameters []map[string]any
	for i, line := range lines {
		switch line.Kind {
		case "container":
			containers[line.ID] = raw[i]
		case "document":
			documents = append(documents, string(line.Document))
		case "parameter":
			parameters = append(parameters, map[string]any{"name": line.Name, "value": line.Value})
		}
	}
	for id, definition := range containers {
		searchers[id] = newSearcher(t, definition, documents, keyAt("pk"), false)
		searchers[id].parameters = parameters
	}
	for _, line := range lines {
		if line.Kind != "query" {
			continue
		}
		s := searchers[line.Container]
		p := s.plan(t, line.Query)
		type row struct {
			Payload struct {
				Text            string
				SimilarityScore float64
			}
		}
		got := everywhere[row](t, s, strings.ReplaceAll(p.QueryInfo.RewrittenQuery, "{documentdb-formattableorderbyquery-filter}", "true"))
		if len(got) != len(line.Result) {
			t.Errorf("%s: got %d rows, want %d", line.Name, len(got), len(line.Result))
			continue
		}
		for i, want := range line.Result {
			score, ok := want["SimilarityScore"].(float64)
			if got[i].Payload.Text != want["text"] || !ok || math.Abs(got[i].Payload.SimilarityScore-score) > 1e-6 {
				t.Errorf("%s, row %d: got %+v, want %v", line.Name, i, got[i].Payload, want)
			}
		}
	}
}
