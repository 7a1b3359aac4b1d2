package sql

import "strings"

// The names of the functions that score items. The last three are those that plans put in the place of the first two; a
// client sends them back in the queries of a plan.
const (
	VectorDistance = "VectorDistance"
	FullTextScore  = "FullTextScore"
	RRF            = "RRF"

	PartialVectorScore   = "_VectorScore"
	PartialFullTextScore = "_FullTextScore"
	FullTextWordCount    = "_FullTextWordCount"
)

// ScoreCall returns the call when a sort key is one that scores items, of one of the names.
func ScoreCall(e Expr, names ...string) (*Call, bool) {
	call, ok := e.(*Call)
	if !ok || call.UserDefined {
		return nil, false
	}
	for _, name := range names {
		if call.Name == name {
			return call, true
		}
	}
	return nil, false
}

// IsScore reports whether ORDER BY takes the expression though it is no path.
func IsScore(e Expr) bool {
	_, ok := ScoreCall(e, VectorDistance, PartialVectorScore, PartialFullTextScore)
	return ok
}

// RankComponents takes the expression of ORDER BY RANK apart: the scores that are fused, one if it is a score by itself, and
// the expression of their weights, if there is one.
func RankComponents(rank Expr) (components []*Call, weights Expr) {
	if single, ok := ScoreCall(rank, FullTextScore, VectorDistance); ok {
		return []*Call{single}, nil
	}
	fusion, ok := ScoreCall(rank, RRF)
	if !ok {
		return nil, nil
	}
	for i, arg := range fusion.Args {
		component, ok := ScoreCall(arg, FullTextScore, VectorDistance)
		switch {
		case ok:
			components = append(components, component)
		case i == len(fusion.Args)-1 && isWeights(arg):
			weights = arg
		default:
			return nil, nil
		}
	}
	return components, weights
}

func isWeights(e Expr) bool {
	switch e.(type) {
	case *ArrayExpr, *Parameter:
		return true
	}
	return false
}

// rank checks ORDER BY RANK.
func (c *checker) rank(q *Query) error {
	if q.Rank == nil {
		return nil
	}
	components, _ := RankComponents(q.Rank)
	if len(components) == 0 {
		return refuse(q.Rank.At(), CodeOther, "The ORDER BY RANK clause takes FullTextScore, VectorDistance, or RRF of those with optional weights.")
	}
	switch {
	case q.Select.Distinct:
		return refuse(q.Location, CodeOther, "ORDER BY RANK is not supported with DISTINCT.")
	case q.Aggregates():
		return refuse(q.Location, CodeOther, "ORDER BY RANK is not supported with GROUP BY or aggregates.")
	}
	for _, component := range components {
		for _, arg := range component.Args {
			if err := c.plain(arg, "ORDER BY"); err != nil {
				return err
			}
		}
		if err := c.arity(component); err != nil {
			return err
		}
		if err := c.keywords(component); err != nil {
			return err
		}
	}
	return nil
}

// FuzzyRefusal says why an object is no keyword of full text.
const FuzzyRefusal = `The emulator does not support fuzzy search: a keyword of full text is a string, not an object such as {"term": ..., "distance": ...}.`

// keywords refuses objects where functions of full text take keywords.
func (c *checker) keywords(e *Call) error {
	if !strings.HasPrefix(e.Name, "FullText") {
		return nil
	}
	for _, arg := range e.Args[1:] {
		list := []Expr{arg}
		if array, ok := arg.(*ArrayExpr); ok {
			list = array.Elements
		}
		for _, keyword := range list {
			if _, isObject := keyword.(*ObjectExpr); isObject {
				return refuse(keyword.At(), CodeOther, "%s", FuzzyRefusal)
			}
		}
	}
	return nil
}
