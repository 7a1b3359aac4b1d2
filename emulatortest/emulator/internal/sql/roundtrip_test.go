package sql

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// sameTree compares two trees in everything but locations.
func sameTree(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Type() {
	case reflect.TypeFor[Location]():
		return true
	case reflect.TypeFor[value.Value]():
		return value.Equal(a.Interface().(value.Value), b.Interface().(value.Value))
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return sameTree(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameTree(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameTree(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	default:
		return a.Interface() == b.Interface()
	}
}

func checkRoundTrip(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, q *Query) {
	t.Helper()
	text := q.String()
	back, err := parse(text)
	if err != nil {
		t.Fatalf("the print is refused: %v\n%s", err, text)
	}
	if !sameTree(reflect.ValueOf(q), reflect.ValueOf(back)) {
		t.Fatalf("came back as another tree:\n%s\n%s", text, back)
	}
}

// grammar draws trees that the parser could have made, sensible or not.
type grammar struct{ t *rapid.T }

func (g grammar) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "choice") }
func (g grammar) some() bool     { return rapid.Bool().Draw(g.t, "whether") }

func (g grammar) ident() string {
	return rapid.SampledFrom([]string{"c", "root", "x1", "_t", "rank", "ｎame", "all"}).Draw(g.t, "identifier")
}

func (g grammar) text() string {
	return rapid.OneOf(rapid.SampledFrom([]string{"", "a", "order", "left", "my-pk", "it's \"q\"\\", "\n\x00", "😀"}), rapid.StringN(0, 5, -1)).Draw(g.t, "text")
}

// member is a name, and whether it is written in brackets: whatever is no identifier has to be.
func (g grammar) member() (name string, bracketed bool) {
	name = g.text()
	return name, !isIdentifier(name) || isReserved(name) || g.some()
}

func (g grammar) maybe(depth int) Expr {
	if g.some() {
		return nil
	}
	return g.expr(depth)
}

func (g grammar) exprs(depth, least int) []Expr {
	var list []Expr
	for range least + g.pick(3) {
		list = append(list, g.expr(depth))
	}
	return list
}

func (g grammar) leaf() Expr {
	switch g.pick(8) {
	case 0:
		return &Literal{Value: value.FromNumber(math.Abs(rapid.Float64().Draw(g.t, "number")))}
	case 1:
		return &Literal{Value: value.FromNumber(float64(g.pick(100)))}
	case 2:
		return &Literal{Value: value.FromString(g.text())}
	case 3:
		return &Literal{Value: rapid.SampledFrom([]value.Value{{}, value.NullValue(), value.FromBool(true), value.FromBool(false),
			value.FromNumber(math.NaN()), value.FromNumber(math.Inf(1))}).Draw(g.t, "constant")}
	case 4:
		return &Parameter{Name: "@" + g.ident()}
	default:
		return &Identifier{Name: g.ident()}
	}
}

func (g grammar) expr(depth int) Expr {
	if depth <= 0 {
		return g.leaf()
	}
	depth--
	switch g.pick(16) {
	case 0:
		name, bracketed := g.member()
		return &Member{Object: g.expr(depth), Name: name, Bracketed: bracketed}
	case 1:
		e := &Index{Object: g.expr(depth), Index: g.expr(depth)}
		if l, ok := e.Index.(*Literal); ok && l.Value.Kind() == value.String {
			return e.Object // the parser makes a Member of it
		}
		return e
	case 2:
		op := rapid.SampledFrom([]UnaryOp{Not, Negate, Plus, Complement}).Draw(g.t, "unary")
		return &Unary{Op: op, Operand: g.expr(depth)}
	case 3, 4, 5:
		op := rapid.SampledFrom([]BinaryOp{Coalesce, Or, And, Equals, NotEquals, Less, LessOrEqual, Greater, GreaterOrEqual, BitOr, BitXor,
			BitAnd, ShiftLeft, ShiftRight, ShiftRightUnsigned, Concat, Add, Subtract, Multiply, Divide, Modulo}).Draw(g.t, "binary")
		return &Binary{Op: op, Left: g.expr(depth), Right: g.expr(depth)}
	case 6:
		return &Conditional{Test: g.expr(depth), Then: g.expr(depth), Else: g.expr(depth)}
	case 7:
		return &In{Operand: g.expr(depth), Not: g.some(), List: g.exprs(depth, 1)}
	case 8:
		return &Between{Operand: g.expr(depth), Not: g.some(), Low: g.expr(depth), High: g.expr(depth)}
	case 9:
		return &Like{Operand: g.expr(depth), Not: g.some(), Pattern: g.expr(depth), Escape: rapid.SampledFrom([]rune{0, '!', '"', 'é'}).Draw(g.t, "escape")}
	case 10:
		name := rapid.SampledFrom([]string{"COUNT", "StringToNumber", "LEFT", "mystery"}).Draw(g.t, "function")
		return &Call{Name: name, Args: g.exprs(depth, 0)}
	case 11:
		return &Call{Name: g.ident(), UserDefined: true, Args: g.exprs(depth, 0)}
	case 12:
		e := &ObjectExpr{}
		for range g.pick(3) {
			e.Members = append(e.Members, ObjectMember{Name: g.text(), Value: g.expr(depth)})
		}
		return e
	case 13:
		return &ArrayExpr{Elements: g.exprs(depth, 0)}
	case 14:
		switch q := g.query(depth - 1); g.pick(3) {
		case 0:
			return &Exists{Query: q}
		case 1:
			return &ArraySubquery{Query: q}
		default:
			return &ScalarSubquery{Query: q}
		}
	default:
		return g.leaf()
	}
}

func (g grammar) count(clause CountClause) *Count {
	if g.some() {
		return &Count{Clause: clause, Parameter: "@n"}
	}
	return &Count{Clause: clause, Constant: rapid.Int32Range(0, math.MaxInt32).Draw(g.t, "count")}
}

func (g grammar) path() Path {
	path := Path{Root: g.ident()}
	for range g.pick(4) {
		if g.some() {
			name, bracketed := g.member()
			path.Steps = append(path.Steps, Step{Name: name, Bracketed: bracketed})
		} else {
			path.Steps = append(path.Steps, Step{Element: true, Index: int32(g.pick(9))})
		}
	}
	return path
}

func (g grammar) alias() string {
	if g.some() {
		return ""
	}
	return g.ident()
}

func (g grammar) from(depth int) *From {
	f := &From{}
	for range 1 + g.pick(3) {
		path := g.path()
		switch g.pick(4) {
		case 0:
			f.Sources = append(f.Sources, &PathSource{Path: path, Alias: g.alias()})
		case 1:
			f.Sources = append(f.Sources, &IteratorSource{Alias: g.ident(), Path: &path})
		case 2:
			f.Sources = append(f.Sources, &IteratorSource{Alias: g.ident(), Query: g.query(depth - 1)})
		default:
			f.Sources = append(f.Sources, &SubquerySource{Query: g.query(depth - 1), Alias: g.alias()})
		}
	}
	return f
}

func (g grammar) query(depth int) *Query {
	q := &Query{Select: SelectSpec{Distinct: g.some(), Kind: SelectKind(g.pick(3))}}
	if g.some() {
		q.Select.Top = g.count(Top)
	}
	switch q.Select.Kind {
	case SelectValue:
		q.Select.Items = []SelectItem{{Expr: g.expr(depth)}}
	case SelectList:
		for range 1 + g.pick(3) {
			q.Select.Items = append(q.Select.Items, SelectItem{Expr: g.expr(depth), Alias: g.alias()})
		}
	case SelectStar:
	}
	if depth <= 0 {
		return q
	}
	if g.some() {
		q.From = g.from(depth)
	}
	q.Where = g.maybe(depth)
	if g.some() {
		q.GroupBy = g.exprs(depth, 1)
	}
	switch g.pick(3) {
	case 0:
		for range 1 + g.pick(2) {
			q.OrderBy = append(q.OrderBy, OrderItem{Expr: g.expr(depth), Descending: g.some()})
		}
	case 1:
		q.Rank = &Call{Name: "RRF", Args: g.exprs(depth, 1)}
	}
	if g.some() {
		q.Offset, q.Limit = g.count(Offset), g.count(Limit)
	}
	return q
}

func TestPrintedTreesComeBackEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkRoundTrip(t, grammar{t}.query(3))
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`SELECT * FROM c WHERE c.id = @id AND c["my-pk"] IN (1, 'two', null) ORDER BY c.a.b DESC OFFSET 1 LIMIT 2`,
		`SELECT DISTINCT VALUE {a: -1.5e3, "b": [c.x ?? 1, (SELECT VALUE COUNT(1) FROM t IN c.tags)]} FROM root c`,
		"select top 5 udf.f(x) as y, EXISTS(SELECT 1) -- note\n FROM x JOIN (SELECT VALUE t FROM t IN x.a[0]) AS z /* */ group by x.y",
		`SELECT c.a LIKE "a!%%" ESCAPE "!" ? 1 : ~2 ^ 3 & 4 | 5 << 6 >>> 7, c.x NOT BETWEEN 1 AND 2 OR NOT c.y FROM c ORDER BY RANK RRF(1, 2)`,
		`SELECT "\u00e9\ud83d\ude00\ud800", NaN, Infinity, undefined`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			return
		}
		back, err := Parse(q.String())
		if err != nil {
			t.Fatalf("the print is refused: %v\n%s", err, q)
		}
		if !sameTree(reflect.ValueOf(q), reflect.ValueOf(back)) {
			t.Fatalf("came back as another tree:\n%s\n%s", q, back)
		}
	})
}
