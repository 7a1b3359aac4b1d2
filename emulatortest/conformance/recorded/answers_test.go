package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// decode reads JSON into what reflect.DeepEqual compares.
func decode(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	type record struct {
		Name, Written, Text string
		Value               json.RawMessage
	}
	s := newService(t, 1)
	container := s.container(t, "numbers", []string{"/id"}, nil)
	for i, r := range records[record](t, "numbers.jsonl") {
		id := fmt.Sprint(i)
		s.create(t, container, "id", json.RawMessage(fmt.Sprintf(`{"id":%q,"v":%s}`, id, r.Written)))
		read := s.do(t, http.MethodGet, container+"/docs/"+id, "", "x-ms-documentdb-partitionkey", fmt.Sprintf("[%q]", id))
		var document struct{ V json.RawMessage }
		if err := json.Unmarshal(read.body, &document); err != nil {
			t.Fatal(err)
		}
		queried := s.rows(t, container, "0", queryBody(t, fmt.Sprintf("SELECT VALUE c.v FROM c WHERE c.id = %q", id), nil))
		for way, got := range map[string]json.RawMessage{"point read": document.V, "query": queried[0]} {
			if r.Text != "" && string(got) != r.Text || decode(t, got) != decode(t, r.Value) {
				t.Errorf("%s: %s reads as %s by %s, want %s %s", r.Name, r.Written, got, way, r.Value, r.Text)
			}
			if f := decode(t, got).(float64); math.Abs(f) >= 1<<53 && !bytes.ContainsAny(got, "eE") {
				t.Errorf("%s: %s is not in scientific notation", r.Name, got)
			}
		}
	}
}

func TestMixedAggregates(t *testing.T) {
	t.Parallel()
	type record struct {
		Query  string
		Result []any
	}
	s := newService(t, 1)
	container := s.container(t, "mixed", []string{"/key"}, nil)
	for _, document := range records[json.RawMessage](t, "mixed-documents.jsonl") {
		s.create(t, container, "key", document)
	}
	for _, r := range records[record](t, "mixed-aggregates.jsonl") {
		got := []any{}
		for _, row := range s.rows(t, container, "0", queryBody(t, r.Query, nil)) {
			got = append(got, sortedList(t, decode(t, row)))
		}
		want := []any{}
		for _, row := range r.Result {
			want = append(want, sortedList(t, row))
		}
		if !near(got, want) {
			t.Errorf("%s\n got %s\nwant %s", r.Query, encode(t, got), encode(t, want))
		}
	}
}

// sortedList puts a list, whose order means nothing in these records, into one.
func sortedList(t *testing.T, v any) any {
	t.Helper()
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(encode(t, a), encode(t, b)) })
	}
	return v
}

// near compares values, numbers to twelve digits.
func near(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) <= 1e-12*math.Max(math.Abs(x), math.Abs(y)))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, near)
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, v := range x {
			if w, has := y[name]; !has || !near(v, w) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestGroupBy(t *testing.T) {
	t.Parallel()
	type record struct {
		Description, Query string
		Result             []any
	}
	s := newService(t, 1)
	container := s.container(t, "groups", []string{"/id"}, nil)
	for _, document := range records[json.RawMessage](t, "group-documents.jsonl") {
		s.create(t, container, "id", document)
	}
	for _, r := range records[record](t, "group-by.jsonl") {
		for _, size := range []string{"1000", "7"} {
			got := []any{}
			for _, row := range s.rows(t, container, "0", queryBody(t, r.Query, nil), "x-ms-max-item-count", size) {
				got = append(got, decode(t, row))
			}
			if !near(got, r.Result) {
				t.Errorf("%s in pages of %s\n%s\n got %s\nwant %s", r.Description, size, r.Query, encode(t, got), encode(t, r.Result))
			}
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	type record struct {
		Query  string
		Rows   *int
		Each   any
		Sorted [][2]string
		Groups []any
	}
	ascending := func(paths ...string) []any {
		var list []any
		for _, p := range paths {
			list = append(list, map[string]any{"path": p, "order": "ascending"})
		}
		return list
	}
	s := newService(t, 1)
	container := s.container(t, "kinds", []string{"/id"}, map[string]any{"indexingPolicy": map[string]any{
		"indexingMode": "consistent", "includedPaths": []any{map[string]any{"path": "/*"}}, "excludedPaths": []any{},
		"compositeIndexes": []any{ascending("/n", "/m"), ascending("/m", "/n")},
	}})
	documents := records[json.RawMessage](t, "kind-documents.jsonl")
	byNumber := map[float64]map[string]any{}
	for _, document := range documents {
		s.create(t, container, "id", document)
		members := decode(t, document).(map[string]any)
		byNumber[members["n"].(float64)] = members
	}
	for _, r := range records[record](t, "kinds.jsonl") {
		var got []any
		for _, row := range s.rows(t, container, "0", queryBody(t, r.Query, nil)) {
			got = append(got, decode(t, row))
		}
		if r.Rows != nil && len(got) != *r.Rows {
			t.Errorf("%s: %d rows, want %d", r.Query, len(got), *r.Rows)
		}
		for _, row := range got {
			if r.Each != nil && !reflect.DeepEqual(row, r.Each) {
				t.Errorf("%s: a row is %v, want %v", r.Query, row, r.Each)
			}
		}
		if r.Sorted != nil {
			place := func(row any) []any {
				var keys []any
				for _, field := range r.Sorted {
					v, ok := byNumber[row.(float64)][field[0]]
					keys = append(keys, sortKey{v, ok})
				}
				return keys
			}
			if !slices.IsSortedFunc(got, func(a, b any) int { return slices.CompareFunc(place(a), place(b), compareKeys) }) {
				t.Errorf("%s: the rows are not sorted by %v", r.Query, r.Sorted)
			}
		}
		if r.Groups != nil && !near(sortedList(t, got), sortedList(t, r.Groups)) {
			t.Errorf("%s\n got %s\nwant %s", r.Query, encode(t, got), encode(t, r.Groups))
		}
	}
}
