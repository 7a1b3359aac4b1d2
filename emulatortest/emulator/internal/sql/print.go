package sql

import (
	"math"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// String prints the query in canonical form: keywords in capitals, one clause to a line, as few parentheses as its meaning
// allows; members in brackets stay so, as in the service's plans. Parsing that text gives an equal tree.
func (q *Query) String() string {
	p := &printer{}
	p.query(q, "\n")
	return p.String()
}

// String prints the path as in a FROM clause.
func (path *Path) String() string {
	p := &printer{}
	p.path(path)
	return p.String()
}

func printExpr(e Expr) string {
	p := &printer{}
	p.expr(e, precNone)
	return p.String()
}

// Canonical prints an expression with every member in one spelling, so that c.a and c["a"] give the same text.
func Canonical(e Expr) string {
	p := &printer{oneSpelling: true}
	p.expr(e, precNone)
	return p.String()
}

// String prints the expression in canonical form.
func (e *Literal) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Parameter) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Identifier) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Member) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Index) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Unary) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Binary) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Conditional) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *In) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Between) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Like) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Call) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *ObjectExpr) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *ArrayExpr) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *Exists) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *ArraySubquery) String() string { return printExpr(e) }

// String prints the expression in canonical form.
func (e *ScalarSubquery) String() string { return printExpr(e) }

type printer struct {
	strings.Builder
	oneSpelling bool // c["a"] is printed as c.a
}

func (p *printer) list(list []Expr) {
	for i, e := range list {
		if i > 0 {
			p.WriteString(", ")
		}
		p.expr(e, precNone)
	}
}

// expr prints e, in parentheses when it binds less tightly than its surroundings ask.
func (p *printer) expr(e Expr, around precedence) {
	if exprPrecedence(e) < around {
		p.WriteByte('(')
		p.bare(e)
		p.WriteByte(')')
		return
	}
	p.bare(e)
}

func exprPrecedence(e Expr) precedence {
	switch e := e.(type) {
	case *Conditional:
		return precConditional
	case *Binary:
		return binaryPrecedence(e.Op)
	case *In, *Between, *Like:
		return precMatch
	case *Unary:
		if e.Op == Not {
			return precNot
		}
		return precUnary
	case *Literal:
		// A number before a dot would swallow it.
		if e.Value.Kind() == value.Number {
			return precUnary
		}
	}
	return precPostfix
}

func (p *printer) bare(e Expr) {
	switch e := e.(type) {
	case *Literal:
		p.literal(e.Value)
	case *Parameter:
		p.WriteString(e.Name)
	case *Identifier:
		p.WriteString(e.Name)
	case *Member:
		p.expr(e.Object, precPostfix)
		p.member(e.Name, e.Bracketed)
	case *Index:
		p.expr(e.Object, precPostfix)
		p.WriteByte('[')
		p.expr(e.Index, precNone)
		p.WriteByte(']')
	case *Unary:
		p.unary(e)
	case *Binary:
		at := binaryPrecedence(e.Op)
		p.expr(e.Left, at)
		p.WriteString(" " + string(e.Op) + " ")
		p.expr(e.Right, at+1)
	case *Conditional:
		p.expr(e.Test, precConditional+1)
		p.WriteString(" ? ")
		p.expr(e.Then, precNone)
		p.WriteString(" : ")
		p.expr(e.Else, precConditional)
	case *In, *Between, *Like:
		p.match(e)
	case *Call:
		if e.UserDefined {
			p.WriteString("udf.")
		}
		p.WriteString(e.Name + "(")
		p.list(e.Args)
		p.WriteByte(')')
	case *ObjectExpr:
		p.object(e)
	case *ArrayExpr:
		p.WriteByte('[')
		p.list(e.Elements)
		p.WriteByte(']')
	case *Exists:
		p.WriteString("EXISTS")
		p.subquery(e.Query)
	case *ArraySubquery:
		p.WriteString("ARRAY")
		p.subquery(e.Query)
	case *ScalarSubquery:
		p.subquery(e.Query)
	}
}

func (p *printer) literal(v value.Value) {
	switch v.Kind() {
	case value.String:
		s, _ := v.Str()
		p.str(s)
	case value.Number:
		f, _ := v.Number()
		switch {
		case math.IsNaN(f):
			p.WriteString(nameNaN)
		case math.IsInf(f, 0):
			p.WriteString(nameInfinity)
		default:
			p.number(f)
		}
	case value.Undefined, value.Null, value.Bool, value.Array, value.Object:
		p.WriteString(v.String())
	}
}

// number prints whole numbers plainly, and others with 17 digits, as the service's plans have them.
func (p *printer) number(f float64) {
	const digits = 17
	if f == math.Trunc(f) {
		p.Write(value.AppendNumber(nil, f))
		return
	}
	p.Write(strconv.AppendFloat(nil, f, 'g', digits, 64))
}

func (p *printer) unary(e *Unary) {
	if e.Op == Not {
		p.WriteString("NOT ")
		p.expr(e.Operand, precNot)
		return
	}
	p.WriteString(string(e.Op))
	if inner, ok := e.Operand.(*Unary); ok && inner.Op == Negate {
		p.WriteByte(' ') // two minus signs together would begin a comment
	}
	p.expr(e.Operand, precUnary)
}

func (p *printer) match(e Expr) {
	infix := func(operand Expr, not bool, keyword string) {
		p.expr(operand, precMatch)
		if not {
			p.WriteString(" NOT")
		}
		p.WriteString(" " + keyword + " ")
	}
	switch e := e.(type) {
	case *In:
		infix(e.Operand, e.Not, "IN")
		p.WriteByte('(')
		p.list(e.List)
		p.WriteByte(')')
	case *Between:
		infix(e.Operand, e.Not, "BETWEEN")
		p.expr(e.Low, precMatch+1)
		p.WriteString(" AND ")
		p.expr(e.High, precMatch+1)
	case *Like:
		infix(e.Operand, e.Not, "LIKE")
		p.expr(e.Pattern, precMatch+1)
		if e.Escape != 0 {
			p.WriteString(" ESCAPE ")
			p.str(string(e.Escape))
		}
	}
}

func (p *printer) object(e *ObjectExpr) {
	p.WriteByte('{')
	for i, m := range e.Members {
		if i > 0 {
			p.WriteString(", ")
		}
		p.str(m.Name)
		p.WriteString(": ")
		p.expr(m.Value, precNone)
	}
	p.WriteByte('}')
}
