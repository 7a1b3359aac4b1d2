package sql

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of a query. The first three are the service's; the last keeps hostile text from exhausting the stack.
const (
	MaxText    = 512 << 10 // bytes of text
	MaxJoins   = 10        // JOINs of one FROM clause
	MaxInItems = 16000     // items of one IN list
	MaxNesting = 250       // levels of brackets, operators to the right, subqueries, and steps of one path
)

// Parse reads a query and applies every check that needs no data. The error, if any, is a [*SyntaxError].
func Parse(text string) (*Query, error) {
	if len(text) > MaxText {
		return nil, &SyntaxError{Code: CodeOther, Message: fmt.Sprintf("The SQL query text exceeded the maximum limit of %d characters.", MaxText)}
	}
	if !utf8.ValidString(text) {
		return nil, &SyntaxError{Code: CodeSyntax, Message: "Syntax error, the query text is not valid UTF-8."}
	}
	q, err := parse(text)
	if err == nil {
		err = check(q)
	}
	if err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			syntax.Start, syntax.End = utf16Length(text[:syntax.Start]), utf16Length(text[:syntax.End])
			syntax.Message = shorten(syntax.Message)
		}
		return nil, err
	}
	return q, nil
}

// shorten keeps a name of absurd length from filling an error.
func shorten(message string) string {
	const longest = 300
	if len(message) <= longest {
		return message
	}
	return strings.ToValidUTF8(message[:longest], "") + "..."
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

func parse(text string) (*Query, error) {
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.unexpected()
	}
	return q, nil
}

// parser reads a token ahead, and one more where peek is called.
type parser struct {
	lexer  lexer
	tok    token
	ahead  *token
	end    int // where the last token that was consumed ends
	nested int
}

func (p *parser) advance() error {
	p.end = p.tok.End
	if p.ahead != nil {
		p.tok, p.ahead = *p.ahead, nil
		return nil
	}
	var err error
	p.tok, err = p.lexer.next()
	return err
}

func (p *parser) peek() (token, error) {
	if p.ahead == nil {
		t, err := p.lexer.next()
		if err != nil {
			return token{}, err
		}
		p.ahead = &t
	}
	return *p.ahead, nil
}

func (p *parser) unexpected() error {
	if p.tok.kind == tokenEnd {
		return p.lexer.endOfText()
	}
	return p.lexer.near(p.tok.Start, p.tok.End)
}

// enter counts a level of nesting; the caller defers leave.
func (p *parser) enter() error {
	p.nested++
	if p.nested > MaxNesting {
		return p.tooDeep()
	}
	return nil
}

func (p *parser) tooDeep() error {
	return p.lexer.fail(CodeOther, p.tok.Start, p.tok.End, fmt.Sprintf("The query is nested more than %d levels deep.", MaxNesting))
}

func (p *parser) leave() { p.nested-- }

// from is the location of everything consumed since start.
func (p *parser) from(start int) Location { return Location{Start: start, End: p.end} }

// accept consumes the symbol or keyword if it is next.
func (p *parser) accept(text string) (bool, error) {
	if !p.tok.is(text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(texts ...string) error {
	for _, text := range texts {
		if !p.tok.is(text) {
			return p.unexpected()
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

// name consumes an identifier; keywords are refused, after a dot too: c.order is an error and c["order"] is not.
func (p *parser) name() (string, error) {
	if p.tok.kind != tokenName {
		return "", p.unexpected()
	}
	name := p.tok.text
	return name, p.advance()
}

func (p *parser) query() (*Query, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	q := &Query{}
	start := p.tok.Start
	for _, clause := range []func(*Query) error{p.selectClause, p.fromClause, p.whereClause, p.groupByClause, p.orderByClause, p.offsetClause} {
		if err := clause(q); err != nil {
			return nil, err
		}
	}
	q.Location = p.from(start)
	return q, nil
}

func (p *parser) selectClause(q *Query) error {
	start := p.tok.Start
	if err := p.expect("SELECT"); err != nil {
		return err
	}
	s := &q.Select
	var err error
	if s.Distinct, err = p.accept("DISTINCT"); err != nil {
		return err
	}
	if top, err := p.accept("TOP"); err != nil {
		return err
	} else if top {
		if s.Top, err = p.count(Top); err != nil {
			return err
		}
	}
	switch {
	case p.tok.is("*"):
		s.Kind = SelectStar
		err = p.advance()
	case p.tok.is("VALUE"):
		s.Kind = SelectValue
		err = p.selectValue(s)
	default:
		s.Kind = SelectList
		err = p.selectList(s)
	}
	s.Location = p.from(start)
	return err
}

func (p *parser) selectValue(s *SelectSpec) error {
	if err := p.advance(); err != nil {
		return err
	}
	e, err := p.expr(precNone)
	s.Items = []SelectItem{{Expr: e}}
	if err != nil {
		return err
	}
	_, err = p.optionalAlias() // the grammar has one here too; a value without a name has no use for it
	return err
}

func (p *parser) selectList(s *SelectSpec) error {
	for {
		e, err := p.expr(precNone)
		if err != nil {
			return err
		}
		alias, err := p.optionalAlias()
		if err != nil {
			return err
		}
		s.Items = append(s.Items, SelectItem{Expr: e, Alias: alias})
		if more, err := p.accept(","); err != nil || !more {
			return err
		}
	}
}

func (p *parser) optionalAlias() (string, error) {
	as, err := p.accept("AS")
	if err != nil || !as && p.tok.kind != tokenName {
		return "", err
	}
	return p.name()
}

func (p *parser) count(clause CountClause) (*Count, error) {
	c := &Count{Clause: clause, Location: p.tok.Location}
	switch p.tok.kind {
	case tokenParameter:
		c.Parameter = p.tok.text
	case tokenNumber:
		n, err := c.check(p.tok.number)
		if err != nil {
			return nil, err
		}
		c.Constant = n
	case tokenEnd, tokenName, tokenKeyword, tokenString, tokenSymbol:
		return nil, p.unexpected()
	}
	return c, p.advance()
}

func (p *parser) whereClause(q *Query) error {
	where, err := p.accept("WHERE")
	if err != nil || !where {
		return err
	}
	q.Where, err = p.expr(precNone)
	return err
}

func (p *parser) groupByClause(q *Query) error {
	group, err := p.accept("GROUP")
	if err != nil || !group {
		return err
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	q.GroupBy, err = p.exprList()
	return err
}

func (p *parser) orderByClause(q *Query) error {
	order, err := p.accept("ORDER")
	if err != nil || !order {
		return err
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	if rank, err := p.atRank(); err != nil {
		return err
	} else if rank {
		if err := p.advance(); err != nil {
			return err
		}
		if q.Rank, err = p.expr(precNone); err != nil {
			return err
		}
		return p.noDirection()
	}
	for {
		item := OrderItem{}
		if item.Expr, err = p.expr(precNone); err != nil {
			return err
		}
		if item.Descending, err = p.accept("DESC"); err != nil {
			return err
		}
		if !item.Descending {
			if item.Ascending, err = p.accept("ASC"); err != nil {
				return err
			}
		}
		q.OrderBy = append(q.OrderBy, item)
		if more, err := p.accept(","); err != nil || !more {
			return err
		}
	}
}

// noDirection refuses a direction after ORDER BY RANK, which always begins with the best.
func (p *parser) noDirection() error {
	at := p.tok
	for _, word := range []string{"ASC", "DESC"} {
		if given, err := p.accept(word); err != nil {
			return err
		} else if given {
			return refuse(at.Location, CodeOther,
				"Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not allowed.")
		}
	}
	return nil
}

// atRank reports whether ORDER BY goes on with RANK and a function: rank alone is a name like any other.
func (p *parser) atRank() (bool, error) {
	if p.tok.kind != tokenName || !strings.EqualFold(p.tok.text, "RANK") {
		return false, nil
	}
	next, err := p.peek()
	return next.kind == tokenName, err
}

func (p *parser) offsetClause(q *Query) error {
	offset, err := p.accept("OFFSET")
	if err != nil || !offset {
		return err
	}
	if q.Offset, err = p.count(Offset); err != nil {
		return err
	}
	if err := p.expect("LIMIT"); err != nil {
		return err
	}
	q.Limit, err = p.count(Limit)
	return err
}
