package plan_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// fataler is what the helpers need of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sortable is a result with its sort keys.
type sortable struct {
	keys []value.Value
	row  value.Value
}

func sortRows(rows []sortable, descending []bool) {
	slices.SortStableFunc(rows, func(a, b sortable) int {
		for i := range descending {
			if c := value.Compare(a.keys[i], b.keys[i]); c != 0 {
				if descending[i] {
					return -c
				}
				return c
			}
		}
		return 0
	})
}

func dropDuplicates(rows []value.Value) []value.Value {
	var kept []value.Value
	for _, row := range rows {
		if !slices.ContainsFunc(kept, func(other value.Value) bool { return value.Equal(row, other) }) {
			kept = append(kept, row)
		}
	}
	return kept
}

func cut(rows []value.Value, offset, limit int) []value.Value {
	rows = rows[min(offset, len(rows)):]
	return rows[:min(limit, len(rows))]
}

// execute runs a query over the items of one partition.
func execute(t fataler, q *sql.Query, items []value.Value) []value.Value {
	t.Helper()
	program, err := eval.Compile(q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	run := program.NewRun(context.Background(), eval.Env{Now: time.Now})
	var rows []sortable
	take := func(r eval.Row) bool {
		if v, ok, err := r.Value(); err != nil {
			t.Fatalf("%s: %v", q, err)
		} else if ok {
			rows = append(rows, sortable{keys: r.SortKeys(), row: v})
		}
		return true
	}
	if program.Folds() {
		groups := run.Groups()
		for _, item := range items {
			if _, err := groups.Add(item); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		for i := range groups.Len() {
			take(groups.Row(i))
		}
	} else {
		for _, item := range items {
			if err := run.Item(item, take); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}
	sortRows(rows, program.Keys())
	results := make([]value.Value, len(rows))
	for i, r := range rows {
		results[i] = r.row
	}
	if program.Distinct() {
		results = dropDuplicates(results)
	}
	if q.Select.Top != nil {
		results = cut(results, 0, int(q.Select.Top.Constant))
	}
	if q.Offset != nil {
		results = cut(results, int(q.Offset.Constant), int(q.Limit.Constant))
	}
	return results
}

// client merges the partitions' results as a plan says, the way that the service's clients do.
func client(t fataler, text string, partitions [][]value.Value) []value.Value {
	t.Helper()
	q := parse(t, text)
	p, err := plan.Build(q, nil, plan.Container{Paths: [][]string{{"pk"}}, Scheme: epk.HashV2})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	info := &p.QueryInfo
	if info.RewrittenQuery != "" {
		q = parse(t, strings.ReplaceAll(info.RewrittenQuery, "{documentdb-formattableorderbyquery-filter}", "true"))
	}
	var rows []value.Value
	for _, items := range partitions {
		rows = append(rows, execute(t, q, items)...)
	}
	if len(info.OrderBy) > 0 {
		rows = mergeSorted(rows, info)
	}
	if len(info.GroupByExpressions)+len(info.GroupByAliasToAggregateType)+len(info.Aggregates) > 0 {
		rows = mergeGroups(t, rows, info)
	}
	switch info.DistinctType {
	case plan.DistinctOrdered:
		rows = slices.CompactFunc(rows, value.Equal)
	case plan.DistinctUnordered:
		rows = dropDuplicates(rows)
	}
	if info.DCountInfo != nil {
		count := value.FromNumber(float64(len(rows)))
		if info.DCountInfo.Alias != "" {
			count = value.FromObject([]value.Member{{Name: info.DCountInfo.Alias, Value: count}})
		}
		rows = []value.Value{count}
	}
	if info.Top != nil {
		rows = cut(rows, 0, *info.Top)
	}
	if info.Limit != nil {
		rows = cut(rows, *info.Offset, *info.Limit)
	}
	return rows
}

func mergeSorted(rows []value.Value, info *plan.QueryInfo) []value.Value {
	descending := make([]bool, len(info.OrderBy))
	for i, direction := range info.OrderBy {
		descending[i] = direction == plan.Descending
	}
	merged := make([]sortable, len(rows))
	for i, row := range rows {
		items, _ := row.Get("orderByItems").Array()
		merged[i].row = row.Get("payload")
		for _, item := range items {
			merged[i].keys = append(merged[i].keys, item.Get("item"))
		}
	}
	sortRows(merged, descending)
	payloads := make([]value.Value, len(merged))
	for i := range merged {
		payloads[i] = merged[i].row
	}
	return payloads
}

type partialGroup struct {
	keys     value.Value
	payloads []value.Value
}

func mergeGroups(t fataler, rows []value.Value, info *plan.QueryInfo) []value.Value {
	t.Helper()
	var groups []partialGroup
	for _, row := range rows {
		keys, payload := row.Get("groupByItems"), row.Get("payload")
		if len(info.GroupByExpressions) == 0 && info.HasSelectValue {
			payload = row
		}
		at := slices.IndexFunc(groups, func(g partialGroup) bool { return value.Equal(g.keys, keys) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, partialGroup{keys: keys})
		}
		groups[at].payloads = append(groups[at].payloads, payload)
	}
	var results []value.Value
	for _, g := range groups {
		if r := combineGroup(t, g.payloads, info); !r.IsUndefined() {
			results = append(results, r)
		}
	}
	return results
}

func combineGroup(t fataler, payloads []value.Value, info *plan.QueryInfo) value.Value {
	t.Helper()
	if info.HasSelectValue {
		if len(info.Aggregates) == 0 {
			return payloads[0]
		}
		parts := make([]value.Value, len(payloads))
		for i, p := range payloads {
			parts[i] = p.Index(0)
		}
		return combine(t, info.Aggregates[0], parts)
	}
	var members []value.Member
	for _, name := range info.GroupByAliases {
		v := payloads[0].Get(name)
		if kind := info.GroupByAliasToAggregateType[name]; kind != nil {
			parts := make([]value.Value, len(payloads))
			for i, p := range payloads {
				parts[i] = p.Get(name)
			}
			v = combine(t, *kind, parts)
		}
		members = append(members, value.Member{Name: name, Value: v})
	}
	return value.FromObject(members)
}

// combine folds the partial results of one aggregate.
func combine(t fataler, kind string, parts []value.Value) value.Value {
	t.Helper()
	switch kind {
	case "Count", "CountIf", "Sum":
		return total(parts, "item")
	case "Average":
		sum, count := total(items(parts), "sum"), total(items(parts), "count")
		s, ok := sum.Number()
		n, _ := count.Number()
		if !ok || n == 0 {
			return value.Value{}
		}
		return value.FromNumber(s / n)
	case "Min", "Max":
		return extreme(parts, strings.ToLower(kind))
	case "MakeList", "MakeSet":
		var list []value.Value
		for _, p := range parts {
			more, _ := p.Get("item").Array()
			list = append(list, more...)
		}
		if kind == "MakeSet" {
			list = dropDuplicates(list)
		}
		return value.FromArray(list)
	}
	t.Fatalf("a client knows no %s", kind)
	return value.Value{}
}

func items(parts []value.Value) []value.Value {
	inner := make([]value.Value, len(parts))
	for i, p := range parts {
		inner[i] = p.Get("item")
	}
	return inner
}

func total(parts []value.Value, name string) value.Value {
	sum := 0.0
	for _, p := range parts {
		n, ok := p.Get(name).Number()
		if !ok {
			return value.Value{}
		}
		sum += n
	}
	return value.FromNumber(sum)
}

func extreme(parts []value.Value, name string) value.Value {
	best := value.Value{}
	for _, p := range parts {
		v := p.Get("item2").Get(name)
		if n, _ := p.Get("item2").Get("count").Number(); n == 0 {
			continue
		}
		c := value.Compare(v, best)
		if best.IsUndefined() || name == "min" && c < 0 || name == "max" && c > 0 {
			best = v
		}
	}
	return best
}

// A query over several partitions, merged as its plan says, must give what one partition with all the items gives.
func TestMergedPartitionsGiveTheWholeResult(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SELECT * FROM c WHERE c.x > 1",
		"SELECT * FROM c ORDER BY c.u",
		"SELECT c.id, c.x AS y FROM c WHERE c.x = 1 OR c.x = 2 ORDER BY c.x DESC, c.u",
		"SELECT VALUE c.x FROM c ORDER BY c.x",
		"SELECT TOP 3 * FROM c ORDER BY c.u DESC",
		"SELECT VALUE c.u FROM c ORDER BY c.u OFFSET 2 LIMIT 3",
		"SELECT c.u, t FROM c JOIN t IN c.tags ORDER BY c.u",
		"SELECT DISTINCT c.x, c.y FROM c",
		"SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x",
		"SELECT DISTINCT TOP 2 VALUE c.x FROM c ORDER BY c.x DESC",
		"SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x OFFSET 1 LIMIT 2",
		"SELECT DISTINCT VALUE {x: c.x} FROM c ORDER BY c.x",
		"SELECT VALUE COUNT(1) FROM c",
		"SELECT VALUE COUNT(c.x) FROM c WHERE c.y = 1",
		"SELECT VALUE COUNTIF(c.x = 1) FROM c",
		"SELECT VALUE SUM(c.n) FROM c",
		"SELECT VALUE SUM(c.x) FROM c",
		"SELECT VALUE AVG(c.n) FROM c",
		"SELECT VALUE AVG(c.x) FROM c",
		"SELECT VALUE MIN(c.x) FROM c",
		"SELECT VALUE MAX(c.x) FROM c",
		"SELECT VALUE MAX(t) FROM t IN c.tags",
		"SELECT COUNT(1), SUM(c.n) AS s, AVG(c.n) AS a, MIN(c.x) AS low, MAX(c.x) AS high, 'k' AS k FROM c",
		"SELECT c.x, COUNT(1) AS n FROM c GROUP BY c.x",
		"SELECT c.x, c.y, MIN(c.n) AS low, MAX(c.n) AS high, SUM(c.n) AS s, AVG(c.n) AS a FROM c GROUP BY c.x, c.y",
		"SELECT VALUE c.x FROM c GROUP BY c.x",
		"SELECT DISTINCT VALUE c.x FROM c GROUP BY c.x, c.y",
		"SELECT VALUE COUNT(1) FROM c GROUP BY c.x",
		"SELECT VALUE IS_NUMBER(c.x) FROM c GROUP BY IS_NUMBER(c.x)",
		"SELECT COUNTIF(c.x = 1) AS n, c.y FROM c GROUP BY c.y",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				partitions, all := draw(t)
				got, want := client(t, text, partitions), execute(t, parse(t, text), all)
				compareRows(t, text, got, want)
			})
		})
	}
}

// draw makes items and spreads them over partitions, some of which may stay empty.
func draw(t *rapid.T) (partitions [][]value.Value, all []value.Value) {
	partitions = make([][]value.Value, 3)
	mixed := rapid.SampledFrom([]string{"", "1", "2", "null", "true", `"s"`})
	for i := range rapid.IntRange(0, 12).Draw(t, "items") {
		// u is unique, so that sorting by it leaves no ties to chance.
		text := fmt.Sprintf(`{"id":"%d","_rid":"r%d","u":%d,"n":%d,"tags":[%d,"t"]`, i, i, (i*7)%13, i%4, i)
		for _, name := range []string{"x", "y"} {
			if v := mixed.Draw(t, name); v != "" {
				text += `,"` + name + `":` + v
			}
		}
		item, err := value.Parse([]byte(text + "}"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		at := rapid.IntRange(0, 2).Draw(t, "partition")
		partitions[at] = append(partitions[at], item)
		all = append(all, item)
	}
	return partitions, all
}

// compareRows compares as sequences what is sorted, else as multisets.
func compareRows(t fataler, text string, got, want []value.Value) {
	t.Helper()
	if !strings.Contains(text, "ORDER BY") {
		byText := func(a, b value.Value) int { return cmp.Compare(a.String(), b.String()) }
		slices.SortFunc(got, byText)
		slices.SortFunc(want, byText)
	}
	if !slices.EqualFunc(got, want, value.Equal) {
		t.Fatalf("%s\ngot  %s\nwant %s", text, got, want)
	}
}

func TestDistinctCountMerges(t *testing.T) {
	t.Parallel()
	var partitions [][]value.Value
	for _, text := range []string{`[{"x":1},{"x":2},{"x":1}]`, `[{"x":2},{"x":null}]`, `[{}]`} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list, _ := v.Array()
		partitions = append(partitions, list)
	}
	got := client(t, "SELECT COUNT(1) AS n FROM (SELECT DISTINCT VALUE c.x FROM c)", partitions)
	if len(got) != 1 || got[0].String() != `{"n":3}` {
		t.Errorf("got %s, want 1, 2 and null counted", got)
	}
}
