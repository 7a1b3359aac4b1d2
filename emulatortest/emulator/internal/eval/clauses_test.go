package eval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func TestClauses(t *testing.T) {
	t.Parallel()
	families := []string{
		`{"id": "a", "n": 1, "tags": ["x", "y"], "kids": [{"g": 1, "pets": ["p"]}, {"g": 2, "pets": ["q", "r"]}], "s": "u"}`,
		`{"id": "b", "n": 2, "tags": ["x"], "kids": [], "s": null}`,
		`{"id": "c", "n": 2, "tags": "x", "s": [1]}`,
		`{"id": "d", "n": null}`,
	}
	cases := []struct{ name, query, want string }{
		{"missing properties vanish", `SELECT c.id, c.nope FROM c WHERE c.n = 1`, `{"id":"a"}`},
		{"a row of nothing is an empty object", `SELECT c.nope FROM c WHERE c.id = "a"`, `{}`},
		{"VALUE of undefined is no row", `SELECT VALUE c.s FROM c`, `"u" null [1]`},
		{"filter keeps only true", `SELECT VALUE c.id FROM c WHERE c.n`, ``},
		{"null equals null", `SELECT VALUE c.id FROM c WHERE c.n = null`, `"d"`},
		{"not equal crosses types", `SELECT VALUE c.id FROM c WHERE c.n != null`, `"a" "b" "c"`},
		{"undefined differs from nothing", `SELECT VALUE c.id FROM c WHERE c.s != "u"`, `"b" "c"`},
		{"no order across types", `SELECT VALUE c.id FROM c WHERE c.n < "z"`, ``},
		{"false decides AND", `SELECT VALUE (c.nope AND false) FROM c WHERE c.id = "a"`, `false`},
		{"true decides OR", `SELECT VALUE (1 OR true) FROM c WHERE c.id = "a"`, `true`},
		{"NOT of undefined", `SELECT VALUE c.id FROM c WHERE NOT c.nope`, ``},
		{"coalesce leaves null", `SELECT VALUE c.s ?? "none" FROM c`, `"u" null [1] "none"`},
		{"between", `SELECT VALUE c.id FROM c WHERE c.n BETWEEN 1 AND 1`, `"a"`},
		{"not between", `SELECT VALUE c.id FROM c WHERE c.n NOT BETWEEN 1 AND 1`, `"b" "c"`},
		{"in", `SELECT VALUE c.id FROM c WHERE c.n IN (1, null)`, `"a" "d"`},
		{"in a long list", `SELECT VALUE c.id FROM c WHERE c.s IN (1, 2, 3, 4, 5, 6, 7, 8, [1], "u", @none)`, `"a" "c"`},
		{"not in", `SELECT VALUE c.id FROM c WHERE c.s NOT IN ("v", 1)`, `"a" "b" "c"`},
		{"iterate", `SELECT VALUE t FROM t IN c.tags`, `"x" "y" "x"`},
		{"sub-path", `SELECT VALUE k FROM c.kids k`, `[{"g":1,"pets":["p"]},{"g":2,"pets":["q","r"]}] []`},
		{"sub-path by element", `SELECT VALUE k.g FROM c.kids[1] k`, `2`},
		{"join", `SELECT c.id, t FROM c JOIN t IN c.tags`, `{"id":"a","t":"x"} {"id":"a","t":"y"} {"id":"b","t":"x"}`},
		{"join of join", `SELECT VALUE p FROM c JOIN k IN c.kids JOIN p IN k.pets`, `"p" "q" "r"`},
		{"join subquery", `SELECT VALUE k FROM c JOIN (SELECT VALUE k.g FROM k IN c.kids WHERE k.g > 1) AS k`, `2`},
		{"exists", `SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = "y")`, `"a"`},
		{"exists of undefined value", `SELECT VALUE EXISTS(SELECT VALUE undefined)`, `false`},
		{"exists of empty object", `SELECT VALUE EXISTS(SELECT undefined)`, `true`},
		{"array", `SELECT VALUE ARRAY(SELECT VALUE k.g * 10 FROM k IN c.kids) FROM c WHERE c.id = "a"`, `[10,20]`},
		{"scalar subquery", `SELECT VALUE (SELECT VALUE COUNT(1) FROM k IN c.kids) FROM c`, `2 0 0 0`},
		{"scalar subquery without rows", `SELECT VALUE IS_DEFINED((SELECT VALUE k FROM k IN c.kids)) FROM c`, `true false false false`},
		{"from subquery", `SELECT VALUE x.v FROM (SELECT c.n AS v FROM c) AS x`, `1 2 2 null`},
		{"count rows", `SELECT VALUE COUNT(1) FROM c`, `4`},
		{"count defined", `SELECT COUNT(c.s) AS n FROM c`, `{"n":3}`},
		{"count of none", `SELECT VALUE COUNT(1) FROM c WHERE false`, `0`},
		{"sum of none", `SELECT VALUE SUM(c.nope) FROM c`, `0`},
		{"average of none", `SELECT AVG(c.nope) AS a FROM c`, `{}`},
		{"min of none", `SELECT VALUE MIN(c.nope) FROM c`, ``},
		{"null spoils a sum", `SELECT VALUE SUM(c.n) FROM c`, ``},
		{"extremes cross types", `SELECT MIN(c.n) AS low, MAX(c.id) AS high FROM c`, `{"low":null,"high":"d"}`},
		{"arrays spoil extremes", `SELECT VALUE MAX(c.s) FROM c`, ``},
		{"countif", `SELECT VALUE COUNTIF(c.n = 2) FROM c`, `2`},
		{"lists and sets", `SELECT MAKELIST(c.n) AS l, MAKESET(c.n) AS s FROM c`, `{"l":[1,2,2,null],"s":[1,2,null]}`},
		{"group", `SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n`, `{"n":1,"k":1} {"n":2,"k":2} {"n":null,"k":1}`},
		{"group of no rows", `SELECT c.n FROM c WHERE false GROUP BY c.n`, ``},
		{"undefined, null, array are keys", `SELECT c.s, COUNT(1) AS k FROM c GROUP BY c.s`, `{"s":"u","k":1} {"s":null,"k":1} {"s":[1],"k":1} {"k":1}`},
		{"group by expression", `SELECT UPPER(c.id) AS u FROM c WHERE c.n = 2 GROUP BY UPPER(c.id)`, `{"u":"B"} {"u":"C"}`},
		{"group over a join", `SELECT t, COUNT(1) AS k FROM c JOIN t IN c.tags GROUP BY t`, `{"t":"x","k":2} {"t":"y","k":1}`},
		{"rewritten aggregate", `SELECT VALUE [{"item": COUNT(1)}] FROM c`, `[{"item":4}]`},
		{"rewritten average", `SELECT VALUE [{"item": {"sum": SUM(c.n), "count": COUNT(c.n)}}] FROM c WHERE c.n > 0`, `[{"item":{"sum":5,"count":3}}]`},
		{
			"rewritten grouping", `SELECT [{"item": c.n}] AS groupByItems, {"n": c.n, "k": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.n`,
			`{"groupByItems":[{"item":1}],"payload":{"n":1,"k":{"item":1}}} {"groupByItems":[{"item":2}],"payload":{"n":2,"k":{"item":2}}} ` +
				`{"groupByItems":[{"item":null}],"payload":{"n":null,"k":{"item":1}}}`,
		},
		{
			"rewritten extremes", `SELECT VALUE [{"item": MIN(c.n), "item2": {"min": MIN(c.n), "count": COUNT(c.n)}}] FROM c`,
			`[{"item":null,"item2":{"min":null,"count":4}}]`,
		},
		{
			"rewritten named aggregates", `SELECT {"$1": {"item": COUNT(1)}, "s": {"item": SUM(c.nope)}} AS payload FROM c`,
			`{"payload":{"$1":{"item":4},"s":{"item":0}}}`,
		},
		{"rewritten order", `SELECT c._rid, [{"item": c.s}] AS orderByItems, c.id AS payload FROM c WHERE (true) ORDER BY c.s`,
			`{"orderByItems":[{"item":"u"}],"payload":"a"} {"orderByItems":[{"item":null}],"payload":"b"} ` +
				`{"orderByItems":[{"item":[1]}],"payload":"c"} {"orderByItems":[{}],"payload":"d"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := results(compile(t, c.query), eval.Env{}, rows(t, families...)...)
			if err != nil {
				t.Fatal(err)
			}
			if show(got) != c.want {
				t.Fatalf("%s\n got %s\nwant %s", c.query, show(got), c.want)
			}
		})
	}
}

// TestReferenceSubqueries runs queries in the manner of the reference's page on subqueries.
func TestReferenceSubqueries(t *testing.T) {
	t.Parallel()
	products := []string{
		`{"name": "Remdriel Shoes", "price": 15, "tags": [{"key": "fabric", "value": "leather"}], "sizes": [{"key": "s", "order": 3}, {"key": "m", "order": 4}],
			"colors": ["cobalt", "gray-blue", "violet"]}`,
		`{"name": "Tirevy trunks", "price": 20, "tags": [{"key": "volume", "value": "1"}], "sizes": [{"key": "x", "order": 9}], "colors": ["gray"]}`,
	}
	cases := []struct{ query, want string }{
		{`SELECT VALUE COUNT(1) FROM products p JOIN t IN p.tags JOIN s IN p.sizes JOIN c IN p.colors
			WHERE t.key IN ("fabric", "material") AND s["order"] >= 3 AND c LIKE "%gray%"`, `2`},
		{`SELECT VALUE COUNT(1) FROM products p JOIN (SELECT VALUE t FROM t IN p.tags WHERE t.key IN ("fabric", "material"))
			JOIN (SELECT VALUE s FROM s IN p.sizes WHERE s["order"] >= 3) JOIN (SELECT VALUE c FROM c IN p.colors WHERE c LIKE "%gray%")`, `2`},
		{`SELECT VALUE {subtotal: p.price, total: totalPrice} FROM products p JOIN (SELECT VALUE p.price * 1.25) totalPrice WHERE totalPrice < 22.25`,
			`{"subtotal":15,"total":18.75}`},
		{`SELECT p.name, m.length FROM products p JOIN s IN p.sizes JOIN m IN (SELECT VALUE [{size: 's', length: 64.5}, {size: 'm', length: 66}])
			WHERE s.key = m.size`, `{"name":"Remdriel Shoes","length":64.5} {"name":"Remdriel Shoes","length":66}`},
		{`SELECT p.price, (SELECT p.name WHERE CONTAINS(p.name, "Shoes")).name AS name FROM products p`, `{"price":15,"name":"Remdriel Shoes"} {"price":20}`},
		{`SELECT p.name, colorCount FROM products p JOIN (SELECT VALUE COUNT(1) FROM c IN p.colors) AS colorCount WHERE colorCount >= 2`,
			`{"name":"Remdriel Shoes","colorCount":3}`},
		{`SELECT VALUE p.name FROM products p WHERE (SELECT VALUE COUNT(1) FROM c IN p.colors) >= 3`, `"Remdriel Shoes"`},
		{`SELECT (SELECT VALUE 1) AS a, (SELECT VALUE 2) AS b`, `{"a":1,"b":2}`},
		{`SELECT EXISTS(SELECT VALUE t FROM t IN p.tags WHERE t.key = "fabric" AND t["value"] = "leather") AS has FROM products p`,
			`{"has":true} {"has":false}`},
	}
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			got, err := results(compile(t, c.query), eval.Env{}, rows(t, products...)...)
			if err != nil || show(got) != c.want {
				t.Fatalf("got %s, %v; want %s", show(got), err, c.want)
			}
		})
	}
}

func TestSubqueryDistinct(t *testing.T) {
	t.Parallel()
	item := `{"list": [1, 1.0, "1", {"a": 1, "b": 2}, {"b": 2, "a": 1}, {}, null]}`
	got, err := results(compile(t, `SELECT VALUE ARRAY(SELECT DISTINCT VALUE x FROM x IN c.list) FROM c`), eval.Env{}, rows(t, item)...)
	if want := `[1,"1",{"a":1,"b":2},{},null]`; err != nil || show(got) != want {
		t.Fatalf("got %s, %v; want %s", show(got), err, want)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	env := eval.Env{Parameters: map[string]value.Value{"@list": parse(t, `["a", "c"]`), "@name": parse(t, `"id"`)}}
	got, err := results(compile(t, `SELECT VALUE c[@name] FROM c WHERE ARRAY_CONTAINS(@list, c.id) OR c.id = @missing`), env,
		rows(t, `{"id": "a"}`, `{"id": "b"}`, `{"id": "c"}`)...)
	if err != nil || show(got) != `"a" "c"` {
		t.Fatalf("got %s, %v", show(got), err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct{ query, want string }{
		{`SELECT VALUE udf.tax(c.price) FROM c`, "udf.tax"},
		{`SELECT VALUE REGEXMATCH(c.id, "(?=a)") FROM c`, "look-around"},
		{`SELECT VALUE REGEXMATCH(c.id, "(a)\\1") FROM c`, "back-references"},
		{`SELECT VALUE REGEXMATCH(c.id, "a++") FROM c`, "RE2"},
		{`SELECT TOP 3 * FROM c ORDER BY RANK FullTextScore(c.text, "a")`, "RANK"},
	}
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			q, err := sql.Parse(c.query)
			if err != nil {
				t.Fatal(err)
			}
			p, err := eval.Compile(q)
			if err == nil {
				_, err = results(p, eval.Env{}, rows(t, `{"id": "a"}`)...)
			}
			var refused *eval.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Message, c.want) {
				t.Fatalf("got %v, want an Error that names %q", err, c.want)
			}
		})
	}
}

func TestPlanarGeometryIsRefused(t *testing.T) {
	t.Parallel()
	_, err := results(compile(t, `SELECT VALUE ST_ISVALID({type: "Point", coordinates: [0, 0]})`), eval.Env{Planar: true})
	var refused *eval.Error
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, "Geometry") {
		t.Fatalf("got %v, want an Error that names Geometry", err)
	}
}

// TestHostileQueries runs queries that describe far more work or data than their text shows.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	list := "[" + strings.Repeat("0,", 499) + "0]"
	item := parse(t, `{"list": `+list+`}`)
	const block = `REPLICATE("aaaaaaaaaa", 1000)`
	cases := map[string]string{
		"cross product": `SELECT VALUE COUNT(1) FROM c JOIN a IN c.list JOIN b IN c.list JOIN d IN c.list JOIN e IN c.list`,
		"string":        `SELECT VALUE REPLACE(REPLACE(` + block + `, "a", ` + block + `), "a", ` + block + `)`,
		"array":         `SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE 1 FROM a IN c.list JOIN b IN c.list JOIN d IN c.list)) FROM c`,
		"list":          `SELECT VALUE MAKELIST(1) FROM c JOIN a IN c.list JOIN b IN c.list JOIN d IN c.list`,
		"like":          `SELECT VALUE @text LIKE "%` + strings.Repeat("a", 100_000) + `b%"`,
		"regex":         `SELECT VALUE REGEXMATCH(@text, "(a?){1000}(a?){1000}(a?){1000}b")`,
		"joined":        `SELECT VALUE StringJoin(ARRAY(SELECT VALUE "x" FROM x IN c.list), ` + block + `) FROM c`,
		"shared values": `SELECT VALUE x FROM ` + strings.Repeat("(SELECT VALUE [x, x, x, x] FROM ", 20) + "(SELECT VALUE c FROM c) AS x" +
			strings.Repeat(") AS x", 20),
	}
	for name, query := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results(compile(t, query), eval.Env{
				Parameters: map[string]value.Value{"@text": value.FromString(strings.Repeat("a", 1<<20))},
				Limits:     eval.Limits{Rows: 1_000_000, Text: 1 << 20, Steps: 1_000_000_000},
			}, item)
			var refused *eval.Error
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want an Error", err)
			}
		})
	}
}

func TestCancelledRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := compile(t, `SELECT VALUE 1 FROM c JOIN a IN c.list JOIN b IN c.list`)
	run := p.NewRun(ctx, eval.Env{Now: noon})
	item := parse(t, `{"list": [`+strings.Repeat("0,", 99)+`0]}`)
	if err := run.Item(item, func(eval.Row) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
}

// TestAgo builds the call itself, so that the test is of the evaluator alone.
func TestAgo(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string]string{"yyyy": `"2023-10-14T14:20:30.6668888Z"`, "ms": `"2024-10-14T14:20:30.6658888Z"`} {
		call := &sql.Call{Name: "Ago", Args: []sql.Expr{&sql.Literal{Value: value.FromString(unit)}, &sql.Literal{Value: value.FromNumber(1)}}}
		p, err := eval.Compile(&sql.Query{Select: sql.SelectSpec{Kind: sql.SelectValue, Items: []sql.SelectItem{{Expr: call}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := results(p, eval.Env{}); err != nil || show(got) != want {
			t.Errorf("Ago(%q, 1): got %s, %v; want %s", unit, show(got), err, want)
		}
	}
}

// TestWrongNumbersOfArguments builds trees that the parser would refuse: an implementation must never see them.
func TestWrongNumbersOfArguments(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ABS", "DateTimeFromParts", "ARRAY_CONCAT", "ST_DISTANCE", "VectorDistance", "TRIM"} {
		call := &sql.Call{Name: name}
		_, err := eval.Compile(&sql.Query{Select: sql.SelectSpec{Kind: sql.SelectValue, Items: []sql.SelectItem{{Expr: call}}}})
		var refused *sql.SyntaxError
		if !errors.As(err, &refused) || refused.Code != sql.CodeArity {
			t.Errorf("%s(): got %v, want %s", name, err, sql.CodeArity)
		}
	}
}
