package sql

import (
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func (p *printer) query(q *Query, separator string) {
	p.selectSpec(&q.Select)
	if q.From != nil {
		for i, s := range q.From.Sources {
			if i == 0 {
				p.WriteString(separator + "FROM ")
			} else {
				p.WriteString(" JOIN ")
			}
			p.source(s)
		}
	}
	if q.Where != nil {
		p.WriteString(separator + "WHERE ")
		p.expr(q.Where, precNone)
	}
	if len(q.GroupBy) > 0 {
		p.WriteString(separator + "GROUP BY ")
		p.list(q.GroupBy)
	}
	p.orderBy(q, separator)
	if q.Offset != nil {
		p.WriteString(separator + "OFFSET ")
		p.count(q.Offset)
		p.WriteString(" LIMIT ")
		p.count(q.Limit)
	}
}

func (p *printer) selectSpec(s *SelectSpec) {
	p.WriteString("SELECT ")
	if s.Distinct {
		p.WriteString("DISTINCT ")
	}
	if s.Top != nil {
		p.WriteString("TOP ")
		p.count(s.Top)
		p.WriteByte(' ')
	}
	switch s.Kind {
	case SelectStar:
		p.WriteByte('*')
		return
	case SelectValue:
		p.WriteString("VALUE ")
	case SelectList:
	}
	for i, item := range s.Items {
		if i > 0 {
			p.WriteString(", ")
		}
		p.expr(item.Expr, precNone)
		if item.Alias != "" {
			p.WriteString(" AS " + item.Alias)
		}
	}
}

func (p *printer) orderBy(q *Query, separator string) {
	if q.Rank != nil {
		p.WriteString(separator + "ORDER BY RANK ")
		p.expr(q.Rank, precNone)
	}
	for i, item := range q.OrderBy {
		if i == 0 {
			p.WriteString(separator + "ORDER BY ")
		} else {
			p.WriteString(", ")
		}
		p.expr(item.Expr, precNone)
		if item.Descending {
			p.WriteString(" DESC")
		} else if item.Ascending && IsScore(item.Expr) {
			p.WriteString(" ASC")
		}
	}
}

func (p *printer) count(c *Count) {
	if c.Parameter != "" {
		p.WriteString(c.Parameter)
		return
	}
	p.WriteString(strconv.Itoa(int(c.Constant)))
}

func (p *printer) source(s Source) {
	switch s := s.(type) {
	case *PathSource:
		p.path(&s.Path)
		p.alias(s.Alias)
	case *IteratorSource:
		p.WriteString(s.Alias + " IN ")
		if s.Query != nil {
			p.subquery(s.Query)
			return
		}
		p.path(s.Path)
	case *SubquerySource:
		p.subquery(s.Query)
		p.alias(s.Alias)
	}
}

func (p *printer) alias(name string) {
	if name != "" {
		p.WriteString(" AS " + name)
	}
}

func (p *printer) path(path *Path) {
	p.WriteString(path.Root)
	for _, step := range path.Steps {
		if step.Element {
			p.WriteString("[" + strconv.Itoa(int(step.Index)) + "]")
			continue
		}
		p.member(step.Name, step.Bracketed)
	}
}

func (p *printer) member(name string, bracketed bool) {
	if (!bracketed || p.oneSpelling) && isIdentifier(name) && !isReserved(name) {
		p.WriteString("." + name)
		return
	}
	p.WriteByte('[')
	p.str(name)
	p.WriteByte(']')
}

func (p *printer) str(s string) { p.Write(value.AppendString(nil, s)) }

func (p *printer) subquery(q *Query) {
	p.WriteByte('(')
	p.query(q, " ")
	p.WriteByte(')')
}
