package sql

import (
	"fmt"
	"unicode/utf8"
)

// expr reads an expression whose operators all bind at least as tightly as lowest says. It climbs precedences in a loop,
// so that a chain of a thousand ANDs costs no stack; only what nests does.
func (p *parser) expr(lowest precedence) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.tok.Start
	left, err := p.unary()
	for err == nil {
		var more bool
		if left, more, err = p.infix(start, left, lowest); !more {
			break
		}
	}
	return left, err
}

func (p *parser) exprList() ([]Expr, error) {
	var list []Expr
	for {
		e, err := p.expr(precNone)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if more, err := p.accept(","); err != nil || !more {
			return list, err
		}
	}
}

// infix extends left by the operator that follows, if it is one that binds tightly enough.
func (p *parser) infix(start int, left Expr, lowest precedence) (e Expr, more bool, err error) {
	if match, err := p.atMatch(); err != nil {
		return nil, false, err
	} else if match {
		if precMatch < lowest {
			return left, false, nil
		}
		e, err := p.match(start, left)
		return e, true, err
	}
	if p.tok.is("?") {
		if precConditional < lowest {
			return left, false, nil
		}
		e, err := p.conditional(start, left)
		return e, true, err
	}
	op, at := p.binaryOp()
	if at == precNone || at < lowest {
		return left, false, nil
	}
	if err := p.advance(); err != nil {
		return nil, false, err
	}
	right, err := p.expr(at + 1)
	if err != nil {
		return nil, false, err
	}
	return &Binary{Location: p.from(start), Op: op, Left: left, Right: right}, true, nil
}

func (p *parser) binaryOp() (BinaryOp, precedence) {
	if p.tok.kind != tokenSymbol && p.tok.kind != tokenKeyword {
		return "", precNone
	}
	op := BinaryOp(p.tok.text)
	if op == "<>" {
		op = NotEquals
	}
	return op, binaryPrecedence(op)
}

func (p *parser) conditional(start int, test Expr) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	then, err := p.expr(precNone)
	if err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	otherwise, err := p.expr(precConditional)
	if err != nil {
		return nil, err
	}
	return &Conditional{Location: p.from(start), Test: test, Then: then, Else: otherwise}, nil
}

// atMatch reports whether IN, BETWEEN or LIKE follows, with or without NOT.
func (p *parser) atMatch() (bool, error) {
	t := p.tok
	if t.is("NOT") {
		var err error
		if t, err = p.peek(); err != nil {
			return false, err
		}
	}
	return t.is("IN") || t.is("BETWEEN") || t.is("LIKE"), nil
}

func (p *parser) match(start int, operand Expr) (Expr, error) {
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	word := p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch word {
	case "IN":
		list, err := p.inList()
		return &In{Location: p.from(start), Operand: operand, Not: not, List: list}, err
	case "BETWEEN":
		low, err := p.expr(precMatch + 1)
		if err != nil {
			return nil, err
		}
		if err := p.expect("AND"); err != nil {
			return nil, err
		}
		high, err := p.expr(precMatch + 1)
		return &Between{Location: p.from(start), Operand: operand, Not: not, Low: low, High: high}, err
	}
	pattern, err := p.expr(precMatch + 1)
	if err != nil {
		return nil, err
	}
	escape, err := p.escape()
	return &Like{Location: p.from(start), Operand: operand, Not: not, Pattern: pattern, Escape: escape}, err
}

func (p *parser) inList() ([]Expr, error) {
	start := p.tok.Start
	if err := p.expect("("); err != nil {
		return nil, err
	}
	list, err := p.exprList()
	if err != nil {
		return nil, err
	}
	if len(list) > MaxInItems {
		return nil, p.lexer.fail(CodeOther, start, p.end, fmt.Sprintf("The IN list exceeds the maximum of %d items.", MaxInItems))
	}
	return list, p.expect(")")
}

func (p *parser) escape() (rune, error) {
	if escape, err := p.accept("ESCAPE"); err != nil || !escape {
		return 0, err
	}
	if p.tok.kind != tokenString {
		return 0, p.unexpected()
	}
	r, size := utf8.DecodeRuneInString(p.tok.text)
	if size == 0 || size != len(p.tok.text) || r == '\\' || r == 0 {
		return 0, p.lexer.fail(CodeOther, p.tok.Start, p.tok.End, "The ESCAPE clause takes one character, other than a backslash.")
	}
	return r, p.advance()
}

func (p *parser) unary() (Expr, error) {
	start, op := p.tok.Start, UnaryOp(p.tok.text)
	operand := precUnary
	switch {
	case p.tok.is("NOT"):
		operand = precNot
	case p.tok.is("-"), p.tok.is("+"), p.tok.is("~"):
	default:
		return p.postfix()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	e, err := p.expr(operand)
	return &Unary{Location: p.from(start), Op: op, Operand: e}, err
}

func (p *parser) postfix() (Expr, error) {
	start := p.tok.Start
	e, err := p.primary()
	for steps := 0; err == nil; steps++ {
		if steps > MaxNesting {
			return nil, p.tooDeep()
		}
		switch {
		case p.tok.is("."):
			e, err = p.dotMember(start, e)
		case p.tok.is("["):
			e, err = p.bracket(start, e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) dotMember(start int, object Expr) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	name, err := p.name()
	return &Member{Location: p.from(start), Object: object, Name: name}, err
}

func (p *parser) bracket(start int, object Expr) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	index, err := p.expr(precNone)
	if err != nil {
		return nil, err
	}
	if err := p.expect("]"); err != nil {
		return nil, err
	}
	if literal, ok := index.(*Literal); ok {
		if name, ok := literal.Value.Str(); ok {
			return &Member{Location: p.from(start), Object: object, Name: name, Bracketed: true}, nil
		}
	}
	return &Index{Location: p.from(start), Object: object, Index: index}, nil
}
