package plan

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// maxLevels is the greatest number of paths of a hierarchical partition key.
const maxLevels = 3

// maxCases bounds how many combinations of key values are followed. A query with more is taken to concern any key, which
// costs time and changes no result.
const maxCases = 20_000

// maxWork bounds how many combinations are tried in all. Beyond it nothing more is learned of a query's keys.
const maxWork = 1_000_000

// Container is what plans depend on of a container.
type Container struct {
	Paths  [][]string // of the partition key, as member names, one list to a level
	Scheme epk.Scheme
	Planar bool // its geospatialConfig is Geometry
}

// Keys are the partition key values for which a query's WHERE clause can be true. There may be more of them than there are
// with results, never fewer.
type Keys struct {
	// Any is set when nothing is known: every partition is concerned.
	Any bool
	// Prefixes holds one key for each alternative: all levels, or the first few. None at all means that the clause
	// contradicts itself. It is nil when Any is set.
	Prefixes [][]epk.Component
}

// KeysOf finds what a query says of the container's partition key. It understands comparisons of its paths with constants,
// IN, BETWEEN, LIKE without wildcards and the functions that name single values or types, under AND and OR, and in
// subqueries without whose rows there is no row of the query.
func KeysOf(q *sql.Query, parameters map[string]value.Value, c Container) Keys {
	if q.From == nil || len(c.Paths) == 0 {
		return Keys{Any: true}
	}
	f := finder{container: c, parameters: parameters, paths: c.Paths[:min(len(c.Paths), maxLevels)]}
	return f.prefixes(f.rows(q, nil))
}

// assignment bounds some levels of a key.
type assignment struct {
	bounded [maxLevels]bool
	at      [maxLevels]interval
}

// cases are alternatives; any means that nothing is known, and no alternatives mean a contradiction.
type cases struct {
	any  bool
	list []assignment
}

func one(level int, i interval) cases {
	a := assignment{}
	a.bounded[level], a.at[level] = true, i
	return cases{list: []assignment{a}}
}

// either holds where one of the expressions does.
func (f *finder) either(list []sql.Expr, in *names) cases {
	union := cases{}
	seen := map[assignment]bool{}
	for _, e := range list {
		c := f.find(e, in)
		if c.any || len(union.list)+len(c.list) > maxCases {
			return cases{any: true}
		}
		for _, a := range c.list {
			if !seen[a] {
				seen[a] = true
				union.list = append(union.list, a)
			}
		}
	}
	return union
}

// all holds where all of the expressions do.
func (f *finder) all(list []sql.Expr, in *names) cases {
	product := cases{any: true}
	for _, e := range list {
		product = f.both(product, f.find(e, in))
	}
	return product
}

// both combines alternatives. Where there would be too many of them it keeps one side's, which hold as well.
func (f *finder) both(a, b cases) cases {
	work := len(a.list) * len(b.list)
	switch {
	case a.any:
		return b
	case b.any:
		return a
	case (work > maxCases || f.work+work > maxWork) && len(a.list) <= len(b.list):
		return a
	case work > maxCases || f.work+work > maxWork:
		return b
	}
	f.work += work
	product := cases{}
	for _, x := range a.list {
		for _, y := range b.list {
			if z, ok := merge(x, y); ok {
				product.list = append(product.list, z)
			}
		}
	}
	return product
}

func merge(x, y assignment) (assignment, bool) {
	for level, bounded := range y.bounded {
		if !bounded {
			continue
		}
		if x.bounded[level] {
			both, some := x.at[level].intersect(y.at[level])
			if !some {
				return x, false
			}
			x.at[level] = both
			continue
		}
		x.bounded[level], x.at[level] = true, y.at[level]
	}
	return x, true
}

// prefixes keeps of each alternative the levels up to the first that has more than one value.
func (f *finder) prefixes(c cases) Keys {
	if c.any {
		return Keys{Any: true}
	}
	keys := Keys{}
	seen := map[[maxLevels + 1]epk.Component]bool{}
	for _, a := range c.list {
		var prefix [maxLevels + 1]epk.Component // the last one tells the number of levels
		n := 0
		for ; n < len(f.paths) && a.bounded[n]; n++ {
			component, ok := a.at[n].component()
			if !ok {
				break
			}
			prefix[n] = component
		}
		if n == 0 {
			return Keys{Any: true}
		}
		prefix[maxLevels] = epk.Number(float64(n))
		if !seen[prefix] {
			seen[prefix] = true
			keys.Prefixes = append(keys.Prefixes, append([]epk.Component(nil), prefix[:n]...))
		}
	}
	return keys
}
