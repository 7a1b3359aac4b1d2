package sql

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"

// Location is where a construct stands in the query's text, in bytes: Start is included, End is not. It is zero for
// constructs that were made rather than parsed.
type Location struct {
	Start, End int
}

// At returns the location itself; it is what every node of the tree promotes.
func (l Location) At() Location { return l }

// Query is a whole query, or a subquery. A parsed query is never modified: rewrite by copying.
type Query struct {
	Location
	Select SelectSpec
	From   *From // nil when the clause is omitted: the query then runs once over no item
	Where  Expr  // nil when omitted
	// GroupBy holds the grouping expressions, in order; empty when the clause is omitted.
	GroupBy []Expr
	// OrderBy holds the sort keys, the most significant first; empty when omitted or when Rank is set.
	OrderBy []OrderItem
	Rank    Expr   // the scoring expression of ORDER BY RANK, else nil
	Offset  *Count // nil when omitted; set exactly when Limit is
	Limit   *Count
}

// SelectKind says which of the three forms a SELECT clause has.
type SelectKind uint8

// The forms of SELECT.
const (
	SelectStar  SelectKind = iota // SELECT *: each row is the one input
	SelectList                    // SELECT a, b AS x: each row is an object
	SelectValue                   // SELECT VALUE e: each row is the value itself
)

// SelectSpec is the SELECT clause.
type SelectSpec struct {
	Location
	Distinct bool
	Top      *Count // nil when omitted
	Kind     SelectKind
	Items    []SelectItem // the list of SelectList; exactly one, without an alias, for SelectValue; none for SelectStar
}

// SelectItem is one projected expression.
type SelectItem struct {
	Expr  Expr
	Alias string // as written after AS; empty when there is none. See [SelectSpec.Names] for the name that results.
}

// OrderItem is one sort key.
type OrderItem struct {
	Expr       Expr
	Descending bool
	Ascending  bool // ASC was written, which is more than nothing for scores alone
}

// Count is the number of TOP, OFFSET or LIMIT: a constant, or a parameter that will hold one. See [Count.Resolve].
type Count struct {
	Location
	Clause    CountClause
	Parameter string // with its @; empty for a constant
	Constant  int32
}

// CountClause is the keyword that a [Count] follows.
type CountClause string

// The clauses with a count.
const (
	Top    CountClause = "TOP"
	Offset CountClause = "OFFSET"
	Limit  CountClause = "LIMIT"
)

// From is the FROM clause: the cross product of its sources, each of which may refer to those before it.
type From struct {
	Location
	Sources []Source // the first, then one for each JOIN; never empty
}

// Source is one input of a FROM clause: [*PathSource], [*IteratorSource] or [*SubquerySource].
type Source interface {
	At() Location
	// Binding returns the name under which other clauses see the source; empty when nothing can refer to it.
	Binding() string
	source()
}

// PathSource binds the container's item, or a value inside something bound before: FROM c, FROM c.a["b"][0] AS x. An
// undefined value gives no rows.
type PathSource struct {
	Location
	Path  Path
	Alias string // empty when omitted
}

// IteratorSource binds each element of an array in turn: FROM t IN c.tags. Anything but an array gives no rows. Exactly
// one of Path and Query is set.
type IteratorSource struct {
	Location
	Alias string
	Path  *Path
	Query *Query // IN (SELECT VALUE ...): iterates over each row's elements
}

// SubquerySource binds each row of a subquery: JOIN (SELECT VALUE t FROM t IN c.tags) AS t.
type SubquerySource struct {
	Location
	Query *Query
	Alias string // empty when omitted; nothing can then refer to the rows
}

// Path names a value inside a bound name.
type Path struct {
	Root string
	// Container is set by [Parse] when Root names the container's item rather than something bound before.
	Container bool
	Steps     []Step
}

// Step is one step of a [Path]: into a member, or to an element when Element is set.
type Step struct {
	Name      string
	Bracketed bool  // the name was written as ["name"]
	Index     int32 // counted from 0
	Element   bool
}

// Binding returns the alias, else the name of the last member on the path, else the root of a path without steps. It is
// empty when the last step is an element or a name that can't be written without quotes.
func (s *PathSource) Binding() string {
	if s.Alias != "" {
		return s.Alias
	}
	if len(s.Path.Steps) == 0 {
		return s.Path.Root
	}
	if last := s.Path.Steps[len(s.Path.Steps)-1].Name; isIdentifier(last) && !isReserved(last) {
		return last
	}
	return ""
}

// Binding returns the alias.
func (s *IteratorSource) Binding() string { return s.Alias }

// Binding returns the alias, which may be empty.
func (s *SubquerySource) Binding() string { return s.Alias }

func (*PathSource) source()     {}
func (*IteratorSource) source() {}
func (*SubquerySource) source() {}

// Expr is a scalar expression: one of the pointer types in this package that have its unexported method.
type Expr interface {
	At() Location
	// String prints the expression in canonical form.
	String() string
	expr()
}

// Literal is a constant: undefined, null, a Boolean, a number (never negative, as the sign is a [Unary]; NaN and Infinity
// included) or a string. Arrays and objects are [ArrayExpr] and [ObjectExpr].
type Literal struct {
	Location
	Value value.Value
}

// Parameter is a value that comes beside the text.
type Parameter struct {
	Location
	Name string // with its @
}

// Identifier is a name bound by FROM.
type Identifier struct {
	Location
	Name string
}

// Member is o.name or o["name"].
type Member struct {
	Location
	Object    Expr
	Name      string
	Bracketed bool // written as o["name"]
}

// Index is o[e] where e is anything but a string constant: a number counts elements from 0, a string names a member.
type Index struct {
	Location
	Object Expr
	Index  Expr
}

// Unary is an operator with one operand.
type Unary struct {
	Location
	Op      UnaryOp
	Operand Expr
}

// Binary is an operator with two operands.
type Binary struct {
	Location
	Op          BinaryOp
	Left, Right Expr
}

// Conditional is test ? yes : no.
type Conditional struct {
	Location
	Test, Then, Else Expr
}

// In is e [NOT] IN (a, b, ...).
type In struct {
	Location
	Operand Expr
	Not     bool
	List    []Expr // never empty
}

// Between is e [NOT] BETWEEN low AND high, both ends included.
type Between struct {
	Location
	Operand   Expr
	Not       bool
	Low, High Expr
}

// Like is e [NOT] LIKE pattern [ESCAPE 'x'].
type Like struct {
	Location
	Operand Expr
	Not     bool
	Pattern Expr
	Escape  rune // 0 when omitted
}

// Call is a function call.
type Call struct {
	Location
	// Name is the name as [LookupFunction] spells it, whatever the query's spelling; for a user-defined function it is the
	// name as written, without its udf prefix.
	Name        string
	UserDefined bool
	Args        []Expr
}

// ObjectExpr is { "a": 1, b: c.x }.
type ObjectExpr struct {
	Location
	Members []ObjectMember
}

// ObjectMember is one member of an [ObjectExpr].
type ObjectMember struct {
	Name  string
	Value Expr
}

// ArrayExpr is [a, b].
type ArrayExpr struct {
	Location
	Elements []Expr
}

// Exists is EXISTS (subquery).
type Exists struct {
	Location
	Query *Query
}

// ArraySubquery is ARRAY (subquery): the array of its rows.
type ArraySubquery struct {
	Location
	Query *Query
}

// ScalarSubquery is (subquery): its one row, or undefined when it has none.
type ScalarSubquery struct {
	Location
	Query *Query
}

func (*Literal) expr()        {}
func (*Parameter) expr()      {}
func (*Identifier) expr()     {}
func (*Member) expr()         {}
func (*Index) expr()          {}
func (*Unary) expr()          {}
func (*Binary) expr()         {}
func (*Conditional) expr()    {}
func (*In) expr()             {}
func (*Between) expr()        {}
func (*Like) expr()           {}
func (*Call) expr()           {}
func (*ObjectExpr) expr()     {}
func (*ArrayExpr) expr()      {}
func (*Exists) expr()         {}
func (*ArraySubquery) expr()  {}
func (*ScalarSubquery) expr() {}
