package recorded

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// sortKey is one value that rows are sorted by; missing ones are undefined.
type sortKey struct {
	value   any
	defined bool
}

// compareKeys orders two sort keys as the service does: by type, then by value. Arrays and objects are as good as equal.
func compareKeys(a, b any) int {
	x, y := a.(sortKey), b.(sortKey)
	kind := func(k sortKey) int {
		switch v := k.value.(type) {
		case nil:
			if k.defined {
				return 1
			}
			return 0
		case bool:
			if v {
				return 3
			}
			return 2
		case float64:
			return 4
		case string:
			return 5
		case []any:
			return 6
		}
		return 7
	}
	if c := cmp.Compare(kind(x), kind(y)); c != 0 {
		return c
	}
	switch v := x.value.(type) {
	case float64:
		return cmp.Compare(v, y.value.(float64))
	case string:
		return cmp.Compare(v, y.value.(string))
	}
	return 0
}

// sortedRow is a row of a rewritten ORDER BY query.
type sortedRow struct {
	RID          string            `json:"_rid"`
	OrderByItems []json.RawMessage `json:"orderByItems"`
	Payload      json.RawMessage   `json:"payload"`
	from         emulator.Range
}

func (r *sortedRow) keys() []sortKey {
	keys := make([]sortKey, len(r.OrderByItems))
	for i, item := range r.OrderByItems {
		var one struct {
			Item *any `json:"item"`
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(item, &members) == nil && json.Unmarshal(item, &one) == nil {
			_, keys[i].defined = members["item"]
			if one.Item != nil {
				keys[i].value = *one.Item
			}
		}
	}
	return keys
}

// number is the document's part of the row's rid.
func (r *sortedRow) number() uint64 {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(r.RID, "-", "/"))
	if err != nil || len(raw) != 16 {
		return 0
	}
	return binary.LittleEndian.Uint64(raw[8:])
}

// client merges partitions as Microsoft's clients do, and resumes every page from the last rows that it gave.
type client struct {
	service
	t          *testing.T
	container  string
	parameters []parameter
	info       *queryInfo
	inText     bool // resume by a condition in the text, as older clients do, instead of a resumeFilter
	last       *sortedRow
	given      map[string]*sortedRow // the last row of each partition, by the partition's id
}

func (c *client) compare(a, b *sortedRow) int {
	return cmp.Or(c.compareKeys(a, b), epk.Compare(a.from.MinInclusive, b.from.MinInclusive))
}

func (c *client) compareKeys(a, b *sortedRow) int {
	x, y := a.keys(), b.keys()
	for i, direction := range c.info.OrderBy {
		if n := compareKeys(x[i], y[i]); n != 0 {
			if direction == "Descending" {
				return -n
			}
			return n
		}
	}
	return 0
}

// page returns the next rows.
func (c *client) page(size int) []sortedRow {
	ranges, err := c.Ranges("db", strings.TrimPrefix(c.container, "/dbs/db/colls/"))
	if err != nil {
		c.t.Fatal(err)
	}
	var all []sortedRow
	for _, r := range ranges {
		all = append(all, c.behind(r)...)
	}
	slices.SortStableFunc(all, func(a, b sortedRow) int { return c.compare(&a, &b) })
	page := all[:min(size, len(all))]
	for i := range page {
		c.last = &page[i]
		c.given[page[i].from.ID] = c.last
	}
	return page
}

// own returns the last row that a partition, or the one that it was split from, gave with the keys of the last row of all.
func (c *client) own(r emulator.Range) *sortedRow {
	for _, id := range slices.Concat([]string{r.ID}, r.Parents) {
		row := c.given[id]
		if row == nil {
			continue
		}
		if c.compareKeys(row, c.last) == 0 {
			return row
		}
	}
	return nil
}

// behind reads what a partition has behind the last row.
func (c *client) behind(r emulator.Range) []sortedRow {
	condition, resume := "true", map[string]any(nil)
	last, own := c.last, (*sortedRow)(nil)
	if last != nil {
		own = c.own(r)
		before := own == nil && epk.Compare(r.MinInclusive, last.from.MinInclusive) < 0
		values := []any{}
		for _, k := range last.keys() {
			if k.defined {
				values = append(values, k.value)
				continue
			}
			values = append(values, []any{})
		}
		switch {
		case c.inText:
			condition = c.condition(last, !before)
		case own != nil:
			resume = map[string]any{"value": values, "rid": own.RID, "exclude": true}
		default:
			resume = map[string]any{"value": values, "exclude": before}
		}
	}
	body := map[string]any{"query": strings.Replace(c.info.RewrittenQuery, "{documentdb-formattableorderbyquery-filter}", condition, 1), "parameters": c.parameters}
	if resume != nil {
		body["resumeFilter"] = resume
	}
	a := c.do(c.t, http.MethodPost, c.container+"/docs", encode(c.t, body), "content-type", "application/query+json",
		"x-ms-documentdb-isquery", "True", "x-ms-documentdb-query-enablecrosspartition", "True",
		"x-ms-documentdb-partitionkeyrangeid", r.ID, "x-ms-max-item-count", "-1")
	var page struct{ Documents []sortedRow }
	if err := json.Unmarshal(a.body, &page); err != nil || a.status != http.StatusOK {
		c.t.Fatalf("%s: %d %s", encode(c.t, body), a.status, a.body)
	}
	for i := range page.Documents {
		page.Documents[i].from = r
	}
	if own != nil && c.inText {
		return c.fresh(page.Documents, own, a.header.Get("x-ms-cosmos-query-execution-info"))
	}
	return page.Documents
}

// condition holds for the rows behind a row, or with its keys too.
func (c *client) condition(last *sortedRow, orEqual bool) string {
	var either []string
	equal := ""
	for i, k := range last.keys() {
		e := c.info.OrderByExpressions[i]
		behind := map[bool]string{false: ">", true: "<"}[c.info.OrderBy[i] == "Descending"]
		literal := encode(c.t, k.value)
		var after, same string
		switch {
		case !k.defined:
			after, same = "IS_DEFINED("+e+")", "NOT IS_DEFINED("+e+")"
			if behind == "<" {
				after = "false"
			}
		default:
			after, same = e+" "+behind+" "+literal, e+" = "+literal
			for _, other := range typesBehind(k, behind == "<") {
				after += " OR " + other + "(" + e + ")"
			}
			if behind == "<" {
				after += " OR NOT IS_DEFINED(" + e + ")"
			}
		}
		either = append(either, "("+equal+"("+after+"))")
		equal += "(" + same + ") AND "
	}
	if orEqual {
		either = append(either, "("+equal+"true)")
	}
	return strings.Join(either, " OR ")
}

func typesBehind(k sortKey, descending bool) []string {
	order := []string{"IS_NULL", "IS_BOOL", "IS_NUMBER", "IS_STRING", "IS_ARRAY", "IS_OBJECT"}
	at := 0
	switch k.value.(type) {
	case bool:
		at = 1
	case float64:
		at = 2
	case string:
		at = 3
	}
	if descending {
		return order[:at]
	}
	return order[at+1:]
}

// fresh drops rows with the keys of the last one that come before it, by the direction that the reply tells.
func (c *client) fresh(rows []sortedRow, last *sortedRow, header string) []sortedRow {
	descending := c.info.OrderBy[0] == "Descending"
	if header != "" {
		var scan struct{ ReverseRidEnabled, ReverseIndexScan bool }
		if err := json.Unmarshal([]byte(header), &scan); err != nil {
			c.t.Fatalf("%s: %v", header, err)
		}
		if !scan.ReverseRidEnabled {
			descending = scan.ReverseIndexScan
		}
	}
	return slices.DeleteFunc(rows, func(row sortedRow) bool {
		if c.compareKeys(&row, last) != 0 {
			return false
		}
		if descending {
			return row.number() >= last.number()
		}
		return row.number() <= last.number()
	})
}
