package sql

import (
	"fmt"
	"hash/maphash"
)

// fingerprints holds a hash of each expression that was taken, the same for equal expressions wherever they stand.
// Comparing hashes keeps the search for grouping keys linear: comparing trees would let a long chain of operators, each of
// them a tree of nearly the same size, take time by the square of the query's length.
type fingerprints struct {
	seed maphash.Seed
	of   map[Expr]uint64
}

// take computes, keeps and returns the hash of an expression, after those of its operands.
func (f fingerprints) take(e Expr) uint64 {
	operands := make([]uint64, 0, 2)
	direct := true
	Walk(e, func(child Expr) bool {
		if direct {
			direct = false
			return true
		}
		operands = append(operands, f.take(child))
		return false
	})
	h := maphash.String(f.seed, label(e))
	for _, operand := range operands {
		h = maphash.Comparable(f.seed, [2]uint64{h, operand})
	}
	f.of[e] = h
	return h
}

// label is what an expression is apart from its operands.
func label(e Expr) string {
	switch e := e.(type) {
	case *Member:
		return fmt.Sprintf("%T %q", e, e.Name)
	case *Unary:
		return fmt.Sprintf("%T %s", e, e.Op)
	case *Binary:
		return fmt.Sprintf("%T %s", e, e.Op)
	case *In:
		return fmt.Sprintf("%T %t", e, e.Not)
	case *Between:
		return fmt.Sprintf("%T %t", e, e.Not)
	case *Like:
		return fmt.Sprintf("%T %t %d", e, e.Not, e.Escape)
	case *Call:
		return fmt.Sprintf("%T %t %s %d", e, e.UserDefined, e.Name, len(e.Args))
	case *ObjectExpr:
		names := make([]string, len(e.Members))
		for i, m := range e.Members {
			names[i] = m.Name
		}
		return fmt.Sprintf("%T %q", e, names)
	case *Index, *Conditional, *ArrayExpr:
		return fmt.Sprintf("%T", e)
	case *Literal, *Parameter, *Identifier, *Exists, *ArraySubquery, *ScalarSubquery:
		return fmt.Sprintf("%T %s", e, e)
	}
	return ""
}
