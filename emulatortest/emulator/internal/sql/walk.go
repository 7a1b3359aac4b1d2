package sql

// Walk calls visit for the expression and, where visit returns true, for each of its operands, outermost first and left to
// right. It doesn't enter subqueries: visit sees [*Exists], [*ArraySubquery] and [*ScalarSubquery] and decides. A nil
// expression is not visited.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	switch e := e.(type) {
	case *Member:
		Walk(e.Object, visit)
	case *Index:
		Walk(e.Object, visit)
		Walk(e.Index, visit)
	case *Unary:
		Walk(e.Operand, visit)
	case *Binary:
		Walk(e.Left, visit)
		Walk(e.Right, visit)
	case *Conditional:
		Walk(e.Test, visit)
		Walk(e.Then, visit)
		Walk(e.Else, visit)
	case *In:
		Walk(e.Operand, visit)
		walkAll(e.List, visit)
	case *Between:
		Walk(e.Operand, visit)
		Walk(e.Low, visit)
		Walk(e.High, visit)
	case *Like:
		Walk(e.Operand, visit)
		Walk(e.Pattern, visit)
	case *Call:
		walkAll(e.Args, visit)
	case *ObjectExpr:
		for _, m := range e.Members {
			Walk(m.Value, visit)
		}
	case *ArrayExpr:
		walkAll(e.Elements, visit)
	case *Literal, *Parameter, *Identifier, *Exists, *ArraySubquery, *ScalarSubquery:
	}
}

func walkAll(list []Expr, visit func(Expr) bool) {
	for _, e := range list {
		Walk(e, visit)
	}
}

// Subquery returns the query inside an EXISTS, ARRAY or scalar subquery, else nil.
func Subquery(e Expr) *Query {
	switch e := e.(type) {
	case *Exists:
		return e.Query
	case *ArraySubquery:
		return e.Query
	case *ScalarSubquery:
		return e.Query
	}
	return nil
}

// IsAggregate reports whether the expression itself is a call of an aggregate function.
func IsAggregate(e Expr) bool {
	call, ok := e.(*Call)
	if !ok || call.UserDefined {
		return false
	}
	f, _ := LookupFunction(call.Name)
	return f.Aggregate
}

// HasAggregate reports whether an aggregate function is called in the expression, outside its subqueries.
func HasAggregate(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		found = found || IsAggregate(e)
		return !found
	})
	return found
}

// Aggregates reports whether the query folds its rows, because its SELECT clause calls an aggregate function or because it
// has a GROUP BY clause.
func (q *Query) Aggregates() bool {
	if len(q.GroupBy) > 0 {
		return true
	}
	for _, item := range q.Select.Items {
		if HasAggregate(item.Expr) {
			return true
		}
	}
	return false
}
