package recorded

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOrders(t *testing.T) {
	t.Parallel()
	type record struct {
		Name       string
		Documents  []json.RawMessage
		Key        string
		Composite  [][][2]string
		Query      string
		Parameters []parameter
		Pages      []int
		Split      bool
		Check      struct {
			IDs       []string
			Count     *int
			All       bool
			Keys      [][2]any
			SamePages bool
			Field     string
			Values    []any
		}
	}
	for i, r := range records[record](t, "orders.jsonl") {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			var sameIDs []string
			for _, inText := range []bool{false, true} {
				for _, size := range r.Pages {
					s := newService(t, 4)
					composites := []any{}
					for _, index := range r.Composite {
						list := []any{}
						for _, path := range index {
							list = append(list, map[string]any{"path": path[0], "order": path[1]})
						}
						composites = append(composites, list)
					}
					container := s.container(t, fmt.Sprint("o", i), []string{"/" + r.Key}, map[string]any{"indexingPolicy": map[string]any{
						"indexingMode": "consistent", "includedPaths": []any{map[string]any{"path": "/*"}}, "excludedPaths": []any{}, "compositeIndexes": composites}})
					for _, document := range r.Documents {
						s.create(t, container, r.Key, document)
					}
					rows := s.answer(t, container, r.Query, r.Parameters, size, inText, r.Split)
					ids := make([]string, len(rows))
					for n, row := range rows {
						ids[n], _ = row["id"].(string)
					}
					distinct := map[string]bool{}
					for _, id := range ids {
						distinct[id] = true
					}
					switch {
					case r.Check.IDs != nil && !slices.Equal(ids, r.Check.IDs):
						t.Errorf("in pages of %d: %q, want %q", size, ids, r.Check.IDs)
					case r.Check.Count != nil && (len(ids) != *r.Check.Count || len(distinct) != len(ids)):
						t.Errorf("in pages of %d: %q, want %d of them", size, ids, *r.Check.Count)
					case r.Check.All && (len(ids) != len(r.Documents) || len(distinct) != len(ids)):
						t.Errorf("in pages of %d: %d rows of %d documents, want all %d once", size, len(ids), len(distinct), len(r.Documents))
					case r.Check.SamePages && sameIDs != nil && !slices.Equal(ids, sameIDs):
						t.Errorf("in pages of %d another order: %q, not %q", size, ids, sameIDs)
					}
					sameIDs = ids
					byKeys := func(a, b map[string]any) int {
						for _, key := range r.Check.Keys {
							x, okX := a[key[0].(string)]
							y, okY := b[key[0].(string)]
							if c := compareKeys(sortKey{x, okX}, sortKey{y, okY}); c != 0 {
								if key[1].(bool) {
									return -c
								}
								return c
							}
						}
						return 0
					}
					if !slices.IsSortedFunc(rows, byKeys) {
						t.Errorf("in pages of %d the rows are not sorted by %v: %q", size, r.Check.Keys, ids)
					}
					for n, want := range r.Check.Values {
						if n >= len(rows) || rows[n][r.Check.Field] != want {
							t.Errorf("in pages of %d: row %d is not %v", size, n, want)
						}
					}
				}
			}
		})
	}
}

// answer runs a query across partitions by its plan.
func (s service) answer(t *testing.T, container, text string, parameters []parameter, size int, inText, split bool) []map[string]any {
	t.Helper()
	a := s.plan(t, container, text, parameters)
	var p planned
	if err := json.Unmarshal(a.body, &p); err != nil || p.QueryInfo == nil {
		t.Fatalf("%s: %d %s", text, a.status, a.body)
	}
	if parameters == nil {
		parameters = []parameter{}
	}
	var payloads []json.RawMessage
	if len(p.QueryInfo.OrderBy) > 0 {
		c := &client{service: s, t: t, container: container, parameters: parameters, info: p.QueryInfo, inText: inText, given: map[string]*sortedRow{}}
		for {
			rows := c.page(size)
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				payloads = append(payloads, row.Payload)
			}
			if split {
				split = false
				if _, err := s.Split("db", strings.TrimPrefix(container, "/dbs/db/colls/"), c.last.from.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	} else {
		query := p.QueryInfo.RewrittenQuery
		if query == "" {
			query = text
		}
		ranges, err := s.Ranges("db", strings.TrimPrefix(container, "/dbs/db/colls/"))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ranges {
			payloads = append(payloads, s.rows(t, container, r.ID, queryBody(t, query, parameters), "x-ms-max-item-count", fmt.Sprint(size))...)
		}
	}
	if n := p.QueryInfo.Offset; n != nil {
		payloads = payloads[min(*n, len(payloads)):]
	}
	for _, n := range []*int{p.QueryInfo.Limit, p.QueryInfo.Top} {
		if n != nil {
			payloads = payloads[:min(*n, len(payloads))]
		}
	}
	rows := make([]map[string]any, len(payloads))
	for i, payload := range payloads {
		rows[i], _ = decode(t, payload).(map[string]any)
	}
	return rows
}
