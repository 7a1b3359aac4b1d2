package sql

import (
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// primary reads what binds most tightly: constants, names, calls and everything in brackets.
func (p *parser) primary() (Expr, error) {
	t := p.tok
	switch t.kind {
	case tokenNumber:
		return p.literal(value.FromNumber(t.number))
	case tokenString:
		return p.literal(value.FromString(t.text))
	case tokenParameter:
		return &Parameter{Location: t.Location, Name: t.text}, p.advance()
	case tokenName:
		return p.named()
	case tokenKeyword:
		return p.keyworded()
	case tokenSymbol:
		return p.bracketed()
	case tokenEnd:
	}
	return nil, p.unexpected()
}

func (p *parser) literal(v value.Value) (Expr, error) {
	e := &Literal{Location: p.tok.Location, Value: v}
	return e, p.advance()
}

// named reads what begins with a name: a call, a constant or a bound name.
func (p *parser) named() (Expr, error) {
	t := p.tok
	next, err := p.peek()
	if err != nil {
		return nil, err
	}
	if next.is("(") {
		return p.call()
	}
	switch t.text {
	case nameNaN:
		return p.literal(value.FromNumber(math.NaN()))
	case nameInfinity:
		return p.literal(value.FromNumber(math.Inf(1)))
	}
	return &Identifier{Location: t.Location, Name: t.text}, p.advance()
}

// call reads a function's name and its arguments.
func (p *parser) call() (Expr, error) {
	start, name := p.tok.Start, p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	if f, ok := LookupFunction(name); ok {
		name = f.Name
	}
	args, err := p.arguments()
	return &Call{Location: p.from(start), Name: name, Args: args}, err
}

func (p *parser) arguments() ([]Expr, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if empty, err := p.accept(")"); err != nil || empty {
		return nil, err
	}
	list, err := p.exprList()
	if err != nil {
		return nil, err
	}
	return list, p.expect(")")
}

// keyworded reads what begins with a keyword: a constant, a subquery, a user-defined function, or one of the two built-in
// functions whose names are keywords.
func (p *parser) keyworded() (Expr, error) {
	t := p.tok
	switch t.text {
	case "TRUE", "FALSE":
		return p.literal(value.FromBool(t.text == "TRUE"))
	case "NULL":
		return p.literal(value.NullValue())
	case "UNDEFINED":
		return p.literal(value.Value{})
	case "EXISTS", "ARRAY":
		if err := p.advance(); err != nil {
			return nil, err
		}
		q, err := p.subquery()
		if t.text == "EXISTS" {
			return &Exists{Location: p.from(t.Start), Query: q}, err
		}
		return &ArraySubquery{Location: p.from(t.Start), Query: q}, err
	case "LEFT", "RIGHT":
		return p.call()
	case "UDF":
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.expect("."); err != nil {
			return nil, err
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		args, err := p.arguments()
		return &Call{Location: p.from(t.Start), Name: name, UserDefined: true, Args: args}, err
	}
	return nil, p.unexpected()
}

// bracketed reads what begins with a bracket: parentheses, a scalar subquery, an array or an object.
func (p *parser) bracketed() (Expr, error) {
	start := p.tok.Start
	switch {
	case p.tok.is("("):
		next, err := p.peek()
		if err != nil {
			return nil, err
		}
		if next.is("SELECT") {
			q, err := p.subquery()
			return &ScalarSubquery{Location: p.from(start), Query: q}, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.expr(precNone)
		if err != nil {
			return nil, err
		}
		return e, p.expect(")")
	case p.tok.is("["):
		return p.array(start)
	case p.tok.is("{"):
		return p.object(start)
	}
	return nil, p.unexpected()
}

func (p *parser) array(start int) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if empty, err := p.accept("]"); err != nil || empty {
		return &ArrayExpr{Location: p.from(start)}, err
	}
	list, err := p.exprList()
	if err != nil {
		return nil, err
	}
	err = p.expect("]")
	return &ArrayExpr{Location: p.from(start), Elements: list}, err
}

func (p *parser) object(start int) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	e := &ObjectExpr{}
	if empty, err := p.accept("}"); err != nil || empty {
		e.Location = p.from(start)
		return e, err
	}
	for {
		m, err := p.objectMember()
		if err != nil {
			return nil, err
		}
		e.Members = append(e.Members, m)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	err := p.expect("}")
	e.Location = p.from(start)
	return e, err
}

func (p *parser) objectMember() (ObjectMember, error) {
	m := ObjectMember{}
	var err error
	if p.tok.kind == tokenString {
		m.Name = p.tok.text
		err = p.advance()
	} else {
		m.Name, err = p.name()
	}
	if err != nil {
		return m, err
	}
	if err := p.expect(":"); err != nil {
		return m, err
	}
	m.Value, err = p.expr(precNone)
	return m, err
}
