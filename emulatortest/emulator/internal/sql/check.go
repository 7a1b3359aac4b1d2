package sql

import (
	"fmt"
	"hash/maphash"
	"strings"
)

// check applies the rules that need no data, and marks the paths that begin at the container.
func check(q *Query) error {
	return (&checker{top: true}).query(q)
}

// checker checks one query; each subquery gets its own, which sees the names of those around it.
type checker struct {
	outer *checker
	names []string // bound by this query's FROM so far
	top   bool     // the whole query, not a subquery
	// container is set when a name that nothing binds may stand for the container's item. That is so at the top, and in
	// a subquery that is itself the first source of such a query; any other subquery must refer to what is around it.
	container bool
}

func refuse(at Location, code, format string, args ...any) error {
	return &SyntaxError{Code: code, Start: at.Start, End: at.End, Message: fmt.Sprintf(format, args...)}
}

func (c *checker) query(q *Query) error {
	c.container = c.container || c.top
	for _, step := range []func(*Query) error{c.clauses, c.from, c.where, c.groupBy, c.selectItems, c.grouped, c.orderBy} {
		if err := step(q); err != nil {
			return err
		}
	}
	return nil
}

// clauses refuses combinations of clauses.
func (c *checker) clauses(q *Query) error {
	star := q.Select.Kind == SelectStar
	ordered := len(q.OrderBy) > 0 || q.Rank != nil
	switch {
	case !c.top && ordered:
		return refuse(q.Location, CodeSubqueryOrderBy, "ORDER BY is not supported in subqueries.")
	case !c.top && q.Select.Top != nil:
		return refuse(q.Select.Top.Location, CodeSubqueryTop, "TOP is not supported in subqueries.")
	case !c.top && q.Offset != nil:
		return refuse(q.Offset.Location, CodeSubqueryOffset, "OFFSET LIMIT is not supported in subqueries.")
	case q.Select.Top != nil && q.Offset != nil:
		return refuse(q.Select.Top.Location, CodeOther, "TOP cannot be used in the same query with OFFSET and LIMIT.")
	case star && len(q.GroupBy) > 0:
		return refuse(q.Select.Location, CodeStarWithGroupBy, "'SELECT *' is not allowed with GROUP BY.")
	case star && q.From == nil:
		return refuse(q.Select.Location, CodeOther, "'SELECT *' is not valid if FROM clause is omitted.")
	case star && len(q.From.Sources) > 1:
		return refuse(q.Select.Location, CodeOther, "'SELECT *' is only valid with a single input set.")
	case q.Rank != nil && len(q.GroupBy) > 0:
		return refuse(q.Rank.At(), CodeOther, "ORDER BY RANK is not supported with GROUP BY.")
	}
	return nil
}

func (c *checker) from(q *Query) error {
	if q.From == nil {
		return nil
	}
	for i, s := range q.From.Sources {
		if err := c.source(s, i == 0); err != nil {
			return err
		}
		name := s.Binding()
		if name == "" {
			continue
		}
		for _, taken := range c.names {
			if taken == name {
				return refuse(s.At(), CodeOther, "The input alias '%s' is specified more than once in the FROM clause.", name)
			}
		}
		c.names = append(c.names, name)
	}
	return nil
}

func (c *checker) source(s Source, first bool) error {
	switch s := s.(type) {
	case *PathSource:
		return c.path(&s.Path, s.Location, first)
	case *IteratorSource:
		if s.Query != nil {
			return c.subquery(s.Query, first)
		}
		return c.path(s.Path, s.Location, first)
	case *SubquerySource:
		return c.subquery(s.Query, first)
	}
	return nil
}

func (c *checker) path(path *Path, at Location, first bool) error {
	switch {
	case c.resolves(path.Root):
		return nil
	case first && c.container:
		path.Container = true
		return nil
	}
	return unresolved(at, path.Root)
}

func unresolved(at Location, name string) error {
	return refuse(at, CodeUnresolved, "Identifier '%s' could not be resolved.", name)
}

func (c *checker) resolves(name string) bool {
	for at := c; at != nil; at = at.outer {
		for _, bound := range at.names {
			if bound == name {
				return true
			}
		}
	}
	return false
}

func (c *checker) subquery(q *Query, firstSource bool) error {
	return (&checker{outer: c, container: c.container && firstSource}).query(q)
}

func (c *checker) where(q *Query) error {
	return c.plain(q.Where, "WHERE")
}

// plain checks an expression of a clause that takes no aggregates.
func (c *checker) plain(e Expr, clause string) error {
	if e == nil {
		return nil
	}
	if HasAggregate(e) {
		return refuse(e.At(), CodeOther, "Aggregate functions are not allowed in the %s clause.", clause)
	}
	return c.expr(e)
}

func (c *checker) groupBy(q *Query) error {
	for _, e := range q.GroupBy {
		if err := c.plain(e, "GROUP BY"); err != nil {
			return err
		}
		if hasSubquery(e) {
			return refuse(e.At(), CodeOther, "Subqueries are not allowed in the GROUP BY clause.")
		}
	}
	return nil
}

func hasSubquery(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		found = found || Subquery(e) != nil
		return !found
	})
	return found
}

func (c *checker) selectItems(q *Query) error {
	for _, item := range q.Select.Items {
		if err := c.expr(item.Expr); err != nil {
			return err
		}
	}
	seen := make(map[string]bool, len(q.Select.Items))
	for i, name := range q.Select.Names() {
		if seen[name] {
			return refuse(q.Select.Items[i].Expr.At(), CodeOther, "The property name '%s' is specified more than once in the SELECT clause.", name)
		}
		seen[name] = true
	}
	return nil
}

// grouped refuses, in the SELECT clause of a query that folds its rows, whatever has no one value for all rows of a group.
func (c *checker) grouped(q *Query) error {
	if !q.Aggregates() {
		return nil
	}
	prints, keys := groupKeys(q)
	var err error
	for _, item := range q.Select.Items {
		prints.take(item.Expr)
		Walk(item.Expr, func(e Expr) bool {
			if err != nil || IsAggregate(e) || keys[prints.of[e]] {
				return false
			}
			if Subquery(e) != nil {
				err = refuse(e.At(), CodeOther, "A subquery is not allowed in the SELECT clause of a query with aggregates or GROUP BY.")
			} else if _, _, isReference := ResolvePath(e); isReference {
				err = refuse(e.At(), CodeNotGrouped, "Property reference '%s' is invalid in the select list because it is not contained in "+
					"either an aggregate function or the GROUP BY clause.", e)
			}
			return err == nil
		})
	}
	return err
}

// groupKeys returns the fingerprints of the grouping expressions, and what they were taken with.
func groupKeys(q *Query) (fingerprints, map[uint64]bool) {
	prints := fingerprints{seed: maphash.MakeSeed(), of: map[Expr]uint64{}}
	keys := make(map[uint64]bool, len(q.GroupBy))
	for _, e := range q.GroupBy {
		keys[prints.take(e)] = true
	}
	return prints, keys
}

func (c *checker) orderBy(q *Query) error {
	prints, keys := groupKeys(q)
	for _, item := range q.OrderBy {
		if err := c.plain(item.Expr, "ORDER BY"); err != nil {
			return err
		}
		if err := c.sortKey(q, item.Expr); err != nil {
			return err
		}
		if q.Aggregates() && !keys[prints.take(item.Expr)] {
			return refuse(item.Expr.At(), CodeNotGrouped, "Property reference '%s' is invalid in the ORDER BY clause because it is not contained in "+
				"the GROUP BY clause.", item.Expr)
		}
	}
	return c.rank(q)
}

// sortKey allows a property of the item, and a score.
func (c *checker) sortKey(q *Query, e Expr) error {
	if IsScore(e) {
		return nil
	}
	root, steps, ok := ResolvePath(e)
	if !ok || q.From == nil {
		return refuse(e.At(), CodeOrderByNotAPath, "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.")
	}
	for i, s := range q.From.Sources {
		if s.Binding() != root {
			continue
		}
		if _, iterates := s.(*IteratorSource); iterates || i > 0 {
			return refuse(e.At(), CodeOther, "Order-by over correlated collections is not supported.")
		}
		if path, isPath := s.(*PathSource); isPath && len(path.Path.Steps)+len(steps) == 0 {
			return refuse(e.At(), CodeOrderByNotAPath, "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.")
		}
	}
	return nil
}

// expr checks the names, calls and subqueries of an expression.
func (c *checker) expr(e Expr) error {
	var err error
	Walk(e, func(e Expr) bool {
		if err != nil {
			return false
		}
		switch e := e.(type) {
		case *Identifier:
			if !c.resolves(e.Name) {
				err = unresolved(e.Location, e.Name)
			}
		case *Call:
			err = c.call(e)
		case *Exists, *ArraySubquery, *ScalarSubquery:
			err = c.subquery(Subquery(e), false)
		default:
		}
		return err == nil
	})
	return err
}

func (c *checker) call(e *Call) error {
	if e.UserDefined {
		return nil
	}
	if e.Name == FullTextScore || e.Name == RRF {
		return refuse(e.Location, CodeOther, "The %s function can only be used in the ORDER BY RANK clause.", e.Name)
	}
	if err := c.arity(e); err != nil {
		return err
	}
	if err := c.keywords(e); err != nil {
		return err
	}
	if f, _ := LookupFunction(e.Name); !f.Aggregate {
		return nil
	}
	for _, arg := range e.Args {
		if HasAggregate(arg) || hasSubquery(arg) {
			return refuse(arg.At(), CodeNestedAggregate, "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.")
		}
	}
	return nil
}

func (c *checker) arity(e *Call) error {
	f, ok := LookupFunction(e.Name)
	if !ok {
		return refuse(e.Location, CodeUnknownFunction, "'%s' is not a recognized built-in function name.", e.Name)
	}
	if n := len(e.Args); n < f.MinArgs || f.MaxArgs != Unlimited && n > f.MaxArgs {
		return refuse(e.Location, CodeArity, "The %s function requires %s argument(s).", strings.ToUpper(f.Name), f.arity())
	}
	return nil
}

func (f Function) arity() string {
	switch f.MaxArgs {
	case f.MinArgs:
		return fmt.Sprint(f.MinArgs)
	case Unlimited:
		return fmt.Sprintf("at least %d", f.MinArgs)
	}
	return fmt.Sprintf("%d to %d", f.MinArgs, f.MaxArgs)
}
