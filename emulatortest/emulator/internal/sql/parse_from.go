package sql

import "fmt"

func (p *parser) fromClause(q *Query) error {
	start := p.tok.Start
	from, err := p.accept("FROM")
	if err != nil || !from {
		return err
	}
	f := &From{}
	for {
		s, err := p.fromSource()
		if err != nil {
			return err
		}
		f.Sources = append(f.Sources, s)
		if len(f.Sources) > MaxJoins+1 {
			return p.lexer.fail(CodeOther, start, p.end, fmt.Sprintf("The query exceeds the maximum of %d JOINs.", MaxJoins))
		}
		if join, err := p.accept("JOIN"); err != nil {
			return err
		} else if !join {
			break
		}
	}
	f.Location = p.from(start)
	q.From = f
	return nil
}

func (p *parser) fromSource() (Source, error) {
	start := p.tok.Start
	if p.tok.is("(") {
		q, err := p.subquery()
		if err != nil {
			return nil, err
		}
		alias, err := p.optionalAlias()
		return &SubquerySource{Location: p.from(start), Query: q, Alias: alias}, err
	}
	root, err := p.name()
	if err != nil {
		return nil, err
	}
	if in, err := p.accept("IN"); err != nil {
		return nil, err
	} else if in {
		return p.iterator(start, root)
	}
	path, err := p.steps(root)
	if err != nil {
		return nil, err
	}
	alias, err := p.optionalAlias()
	return &PathSource{Location: p.from(start), Path: *path, Alias: alias}, err
}

func (p *parser) iterator(start int, alias string) (Source, error) {
	s := &IteratorSource{Alias: alias}
	var err error
	if p.tok.is("(") {
		s.Query, err = p.subquery()
	} else {
		var root string
		if root, err = p.name(); err != nil {
			return nil, err
		}
		s.Path, err = p.steps(root)
	}
	s.Location = p.from(start)
	return s, err
}

func (p *parser) steps(root string) (*Path, error) {
	path := &Path{Root: root}
	for {
		if len(path.Steps) > MaxNesting {
			return nil, p.tooDeep()
		}
		if dot, err := p.accept("."); err != nil {
			return nil, err
		} else if dot {
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			path.Steps = append(path.Steps, Step{Name: name})
			continue
		}
		if bracket, err := p.accept("["); err != nil || !bracket {
			return path, err
		}
		step, err := p.bracketStep()
		if err != nil {
			return nil, err
		}
		path.Steps = append(path.Steps, step)
	}
}

func (p *parser) bracketStep() (Step, error) {
	step := Step{}
	switch p.tok.kind {
	case tokenString:
		step.Name, step.Bracketed = p.tok.text, true
	case tokenNumber:
		if p.tok.number > maxCount || p.tok.number != float64(int32(p.tok.number)) {
			return step, p.unexpected()
		}
		step.Index, step.Element = int32(p.tok.number), true
	case tokenEnd, tokenName, tokenKeyword, tokenParameter, tokenSymbol:
		return step, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return step, err
	}
	return step, p.expect("]")
}

// subquery consumes a query in parentheses.
func (p *parser) subquery() (*Query, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	return q, p.expect(")")
}
