package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// twoLevels is a hierarchical key whose second path is nested.
var twoLevels = plan.Container{Paths: [][]string{{"t"}, {"a", "b"}}, Scheme: epk.MultiHash}

// show prints keys as any, none, or their values with slashes between levels.
func show(k plan.Keys) string {
	if k.Any {
		return "any"
	}
	if len(k.Prefixes) == 0 {
		return "none"
	}
	alternatives := make([]string, len(k.Prefixes))
	for i, prefix := range k.Prefixes {
		var text []byte
		for level, c := range prefix {
			if level > 0 {
				text = append(text, '/')
			}
			text = append(text, showComponent(c)...)
		}
		alternatives[i] = string(text)
	}
	return strings.Join(alternatives, " ")
}

func showComponent(c epk.Component) string {
	if s, ok := c.AsString(); ok {
		return value.FromString(s).String()
	}
	if n, ok := c.AsNumber(); ok {
		return value.FromNumber(n).String()
	}
	if b, ok := c.AsBool(); ok {
		return value.FromBool(b).String()
	}
	if c.IsNull() {
		return "null"
	}
	return "undefined"
}

func TestKeysOf(t *testing.T) {
	t.Parallel()
	given := map[string]value.Value{"@t": value.FromString("p"), "@list": value.FromArray(nil), "@n": value.FromNumber(5)}
	for _, tt := range []struct{ where, want string }{
		{`c.t = "x"`, `"x"`},
		{`"x" = c["t"]`, `"x"`},
		{`c.t = @t AND c.a.b = @n`, `"p"/5`},
		{`c.a.b = 1 AND c.t = null`, `null/1`},
		{`c.t = -2.5`, `-2.5`},
		{`c.t = true AND c.a.b = "y" AND c.z > 3`, `true/"y"`},
		{`c.t IN ("x", "y", "x")`, `"x" "y"`},
		{`c.t IN ("x", "y") AND c.a.b IN (1, 2)`, `"x"/1 "x"/2 "y"/1 "y"/2`},
		{`c.t = "x" OR c.t = "y" AND c.a.b = 1`, `"x" "y"/1`},
		{`(c.t = "x" OR c.t = "y") AND c.t = "y"`, `"y"`},
		{`c.t = "x" AND c.t = "y"`, `none`},
		{`c.t = "x" AND (c.t = "y" OR false)`, `none`},
		{`c.t = "x" AND true`, `"x"`},
		{`IS_NULL(c.t)`, `null`},
		{`NOT IS_DEFINED(c.t) AND c.a.b = 1`, `undefined/1`},
		{`(c.id = "1" AND c.t = "x") OR (c.id = "2" AND c.t = "y")`, `"x" "y"`},
		{`c.a.b = 1`, `any`},
		{`c.t = "x" OR c.z = 1`, `any`},
		{`c.t != "x"`, `any`},
		{`c.t NOT IN ("x")`, `any`},
		{`NOT c.t = "x"`, `any`},
		{`c.t = @missing`, `any`},
		{`c.t = @list`, `any`},
		{`c.t = c.z`, `any`},
		{`c.t = [1]`, `any`},
		{`c.t IN ("x", c.z)`, `any`},
		{`c.a = "x"`, `any`},
		{`c.t[0] = "x"`, `any`},
		{`c.t.u = "x"`, `any`},
		{`c.t > "x"`, `any`},
		{`UPPER(c.t) = "x"`, `any`},
		{`EXISTS(SELECT VALUE u FROM u IN c.list WHERE c.t = "x")`, `"x"`},
		{`EXISTS(SELECT VALUE t FROM t IN c.list WHERE t = "x")`, `any`},
		{`EXISTS(SELECT VALUE COUNT(1) FROM u IN c.list WHERE c.t = "x")`, `any`},
		{`NOT EXISTS(SELECT VALUE u FROM u IN c.list WHERE c.t = "x")`, `any`},
		{`c.z = (SELECT VALUE c FROM c WHERE c.t = 1)`, `1`},
		{`c.z = (SELECT VALUE c FROM c WHERE c.t = 1) AND c.t = 2`, `none`},
		{`(SELECT VALUE x.b FROM c.a AS x WHERE x.b = 1) > 0 AND c.t = 2`, `2/1`},
		{`c.z != (SELECT VALUE c FROM c WHERE c.t = 1)`, `any`},
		{`ABS(c.t) = 1`, `1 -1`},
		{`ABS(c.t) = 0`, `0`},
		{`0 - 1 = ABS(c.t)`, `none`},
		{`ABS(c.t) = "x"`, `none`},
		{`ABS(c.t) > 1`, `any`},
		{`IS_BOOL(c.t)`, `false true`},
		{`IS_BOOL(c.t) AND c.t`, `false true`},
		{`IS_STRING(c.t)`, `any`},
		{`IS_STRING(c.t) AND c.t IN (1, "x")`, `"x"`},
		{`IS_DEFINED(c.t) AND NOT IS_DEFINED(c.t)`, `none`},
		{`IS_ARRAY(c.t)`, `any`},
		{`ARRAY_CONTAINS([1, 2], c.t)`, `1 2`},
		{`ARRAY_CONTAINS([1, 2], c.t) AND c.t = 4`, `none`},
		{`ARRAY_CONTAINS([1, 2], c.t) OR c.t = 4`, `1 2 4`},
		{`ARRAY_CONTAINS(c.t, 1)`, `any`},
		{`STRINGEQUALS(c.t, "x")`, `"x"`},
		{`STRINGEQUALS(c.t, "x", true)`, `any`},
		{`c.t LIKE "x"`, `"x"`},
		{`c.t LIKE "x%"`, `any`},
		{`c.t LIKE "x!%!!" ESCAPE "!"`, `"x%!"`},
		{`c.t LIKE "x!" ESCAPE "!"`, `any`},
		{`c.t NOT LIKE "x"`, `any`},
		{`c.t >= 1 AND c.t <= 1`, `1`},
		{`c.t BETWEEN "a" AND "a"`, `"a"`},
		{`c.t BETWEEN 1 AND 2`, `any`},
		{`c.t BETWEEN 1 AND 2 AND c.t = 3`, `none`},
		{`c.t BETWEEN 1 AND 2 AND c.t = 2`, `2`},
		{`c.t BETWEEN 2 AND 1`, `none`},
		{`c.t > 1 AND c.t < "x"`, `none`},
		{`c.t >= true`, `true`},
		{`3 > c.t AND c.t = 3`, `none`},
		{`c.t = "x" AND c.a.b > 1`, `"x"`},
		{`c.t = {}`, `undefined`},
		{`c.t = {"a": 1}`, `any`},
		{`c.t = undefined`, `none`},
		{`c.t = 1 + 2 * 3`, `7`},
		{`c.t = CONCAT("a", @t)`, `"ap"`},
		{`c.t = CONCAT("a", @missing)`, `any`},
		{`c.t = RAND()`, `any`},
		{`c.t = 9007199254740993`, `9.007199254740992e+15`},
		{`c.t = -0`, `0`},
		{`c.t = "x" AND ABS(-1) = 2`, `none`},
		{`c.t = "x" AND RAND() = 2`, `"x"`},
		{`c.t = "x" AND udf.f() = 2`, `"x"`},
		{`c.t = "x" AND "a" < 1`, `none`},
	} {
		q := parse(t, "SELECT * FROM c WHERE "+tt.where)
		if got := show(plan.KeysOf(q, given, twoLevels)); got != tt.want {
			t.Errorf("%s gives %s, want %s", tt.where, got, tt.want)
		}
	}
	for _, tt := range []struct{ query, want string }{
		{`SELECT * FROM c`, `any`},
		{`SELECT r.id FROM root AS r JOIN u IN r.list WHERE r.t = 1 AND u.t = 2`, `1`},
		{`SELECT * FROM c.t WHERE t = 1`, `1`},
		{`SELECT * FROM c.a AS x WHERE x.b = 1`, `any`},
		{`SELECT VALUE x.t FROM (SELECT * FROM c WHERE c.t = 1) AS x`, `1`},
		{`SELECT COUNT(1) FROM (SELECT DISTINCT c.z FROM c WHERE c.t = 1) AS x`, `1`},
		{`SELECT x.n FROM c JOIN (SELECT COUNT(1) AS n FROM u IN c.list WHERE c.t = 1) AS x`, `any`},
		{`SELECT c.t, COUNT(1) AS n FROM c WHERE c.t = 1 GROUP BY c.t`, `1`},
		{`SELECT (SELECT * FROM c WHERE c.t = 1) AS x FROM c`, `any`},
		{`SELECT (SELECT * FROM c) AS x FROM c WHERE c.t = 1`, `1`},
		{`SELECT VALUE u FROM u IN c.list WHERE u.t = 1`, `any`},
		{`SELECT * FROM (SELECT VALUE c FROM c) AS c WHERE c.t = 1`, `any`},
		{`SELECT 1 WHERE 1 = 1`, `any`},
	} {
		if got := show(plan.KeysOf(parse(t, tt.query), nil, twoLevels)); got != tt.want {
			t.Errorf("%s gives %s, want %s", tt.query, got, tt.want)
		}
	}
}

func TestKeysOfHugeConditions(t *testing.T) {
	t.Parallel()
	list := func(n int) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprint(i)
		}
		return strings.Join(items, ",")
	}
	q := parse(t, "SELECT * FROM c WHERE c.t IN ("+list(100)+") AND c.a.b IN ("+list(1000)+")")
	if got := plan.KeysOf(q, nil, twoLevels); got.Any || len(got.Prefixes) != 100 {
		t.Errorf("too many combinations keep the smaller side: %d, any %t", len(got.Prefixes), got.Any)
	}
	either := strings.Repeat("(c.t = 1 AND c.id = 2) OR ", 5000) + "c.t = 3"
	if got := show(plan.KeysOf(parse(t, "SELECT * FROM c WHERE "+either), nil, twoLevels)); got != "1 3" {
		t.Errorf("a long chain of alternatives gives %s", got)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	x := epk.Hash(epk.MultiHash, epk.String("x"))
	x1 := epk.Hash(epk.MultiHash, epk.String("x"), epk.Number(1))
	y1 := epk.Hash(epk.MultiHash, epk.String("y"), epk.Number(1))
	prefix := plan.Range{Min: x, Max: x + "FF", MinInclusive: true}
	point := func(key string) plan.Range {
		return plan.Range{Min: key, Max: key, MinInclusive: true, MaxInclusive: true}
	}
	sorted := []plan.Range{prefix, point(y1)}
	if y1 < x {
		sorted = []plan.Range{point(y1), prefix}
	}
	for _, tt := range []struct {
		where string
		want  []plan.Range
	}{
		{`true`, []plan.Range{{Min: "", Max: "FF", MinInclusive: true}}},
		{`false`, []plan.Range{{Min: "", Max: "", MinInclusive: true, MaxInclusive: true}}},
		{`c.t = "x"`, []plan.Range{prefix}},
		{`c.t = "x" AND c.a.b = 1`, []plan.Range{point(x1)}},
		{`c.t = "y" AND c.a.b = 1 OR c.t = "x" OR c.t = "x" AND c.a.b = 1`, sorted},
	} {
		got := plan.KeysOf(parse(t, "SELECT * FROM c WHERE "+tt.where), nil, twoLevels).Ranges(epk.MultiHash, 2)
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s gives %v, want %v", tt.where, got, tt.want)
		}
	}
}

// condition draws WHERE clauses over the key's paths and another one, from a handful of constants.
func condition(t *rapid.T, depth int) string {
	constant := func() string {
		return rapid.SampledFrom([]string{`"x"`, `"y"`, `1`, `-1`, `null`, `true`, `false`, `undefined`, `{}`, `[]`, `1 + 0`, `CONCAT("x", "")`}).Draw(t, "constant")
	}
	operator := func() string {
		return rapid.SampledFrom([]string{"=", "<", "<=", ">", ">="}).Draw(t, "operator")
	}
	path := rapid.SampledFrom([]string{"c.t", "c.a.b", "c.z"}).Draw(t, "path")
	kinds := 14
	if depth > 0 {
		kinds = 20
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0, 1:
		return path + " = " + constant()
	case 2:
		return path + " IN (" + constant() + ", " + constant() + ")"
	case 3:
		return "IS_NULL(" + path + ")"
	case 4:
		return "NOT IS_DEFINED(" + path + ")"
	case 5:
		return path + " != " + constant()
	case 6:
		return path + " " + operator() + " " + constant()
	case 7:
		return constant() + " " + operator() + " " + path
	case 8:
		return path + " BETWEEN " + constant() + " AND " + constant()
	case 9:
		pattern := rapid.SampledFrom([]string{`"x"`, `"%"`, `"_"`, `"[xy]"`, `"y!" ESCAPE "!"`, `"!x" ESCAPE "!"`, `1`}).Draw(t, "pattern")
		return path + " LIKE " + pattern
	case 10:
		return "ABS(" + path + ") = " + constant()
	case 11:
		function := rapid.SampledFrom([]string{"IS_BOOL", "IS_NUMBER", "IS_STRING", "IS_DEFINED", "IS_PRIMITIVE", "IS_ARRAY"}).Draw(t, "function")
		return function + "(" + path + ")"
	case 12:
		return "ARRAY_CONTAINS([" + constant() + ", " + constant() + "], " + path + ")"
	case 13:
		return "STRINGEQUALS(" + path + ", " + constant() + ")"
	case 14, 15:
		return "(" + condition(t, depth-1) + " OR " + condition(t, depth-1) + ")"
	case 16:
		return "NOT (" + condition(t, depth-1) + ")"
	case 17:
		result := rapid.SampledFrom([]string{"c.z", "COUNT(1)", "true"}).Draw(t, "result")
		return "EXISTS(SELECT VALUE " + result + " FROM c WHERE " + condition(t, depth-1) + ")"
	case 18:
		return "(SELECT VALUE c.t FROM c AS c WHERE " + condition(t, depth-1) + ") " + operator() + " " + path
	default:
		return "(" + condition(t, depth-1) + " AND " + condition(t, depth-1) + ")"
	}
}

// component is a level of an item's key: undefined where the item lacks the path.
func component(v value.Value) epk.Component {
	switch v.Kind() {
	case value.Null:
		return epk.Null()
	case value.Bool:
		b, _ := v.Bool()
		return epk.Bool(b)
	case value.Number:
		n, _ := v.Number()
		return epk.Number(n)
	case value.String:
		s, _ := v.Str()
		return epk.String(s)
	default:
		return epk.Undefined()
	}
}

// No item that a query returns may lie outside the ranges that its plan names.
func TestRangesHoldEveryResult(t *testing.T) {
	t.Parallel()
	constants := []string{`"x"`, `"y"`, `1`, `-1`, `null`, `true`, `false`, ""}
	items := make([]value.Value, 0, 512)
	for _, tenant := range constants {
		for _, second := range constants {
			for _, other := range constants {
				var members []string
				for _, m := range []struct{ name, open, v, shut string }{{"t", "", tenant, ""}, {"a", `{"b":`, second, "}"}, {"z", "", other, ""}} {
					if m.v != "" {
						members = append(members, `"`+m.name+`":`+m.open+m.v+m.shut)
					}
				}
				item, err := value.Parse([]byte("{" + strings.Join(members, ",") + "}"))
				if err != nil {
					t.Fatal(err)
				}
				items = append(items, item)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		q := parse(t, "SELECT * FROM c WHERE "+condition(t, 3))
		ranges := plan.KeysOf(q, nil, twoLevels).Ranges(epk.MultiHash, 2)
		program, err := eval.Compile(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		run := program.NewRun(context.Background(), eval.Env{Now: time.Now})
		for _, item := range items {
			found := false
			if err := run.Item(item, func(eval.Row) bool { found = true; return true }); err != nil {
				t.Fatalf("%v", err)
			}
			if !found {
				continue
			}
			key := epk.Hash(epk.MultiHash, component(item.Get("t")), component(item.At("a", "b")))
			inside := false
			for _, r := range ranges {
				inside = inside || r.Contains(key)
			}
			if !inside {
				t.Fatalf("%s returns %s, which lies outside %v", q, item, ranges)
			}
		}
	})
}
