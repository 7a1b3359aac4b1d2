package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Policy is a container's indexing policy, as far as queries depend on it. A nil policy indexes everything and asks for no
// composite index.
type Policy struct {
	none               bool // indexingMode none
	included, excluded []indexPath
	composites         [][]compositePath
}

// indexPath is a path of a policy: its steps, and what it ends in.
type indexPath struct {
	steps []string // arrays are the step []
	deep  bool     // ends in *: everything below as well; else in ?: the value itself
}

type compositePath struct {
	path       string // as spec gives it, without an ending
	descending bool
}

// ParsePolicy reads the indexingPolicy of a container. What it doesn't know it passes over: refusing bad policies is for
// who stores them.
func ParsePolicy(v value.Value) *Policy {
	p := &Policy{included: indexPaths(v.Get("includedPaths")), excluded: indexPaths(v.Get("excludedPaths"))}
	mode, _ := v.Get("indexingMode").Str()
	p.none = strings.EqualFold(mode, "none")
	composites, _ := v.Get("compositeIndexes").Array()
	for _, c := range composites {
		parts, _ := c.Array()
		var index []compositePath
		for _, part := range parts {
			text, _ := part.Get("path").Str()
			order, _ := part.Get("order").Str()
			steps, _ := splitPath(text)
			index = append(index, compositePath{path: joinPath(steps), descending: strings.EqualFold(order, "descending")})
		}
		p.composites = append(p.composites, index)
	}
	return p
}

func indexPaths(v value.Value) []indexPath {
	list, _ := v.Array()
	var paths []indexPath
	for _, e := range list {
		text, _ := e.Get("path").Str()
		steps, ending := splitPath(text)
		paths = append(paths, indexPath{steps: steps, deep: ending == "*"})
	}
	return paths
}

// splitPath takes apart a path such as /a/"b c"/[]/? and returns the * or ? at its end separately.
func splitPath(text string) (steps []string, ending string) {
	for text != "" {
		text = strings.TrimPrefix(text, "/")
		var step string
		if strings.HasPrefix(text, `"`) {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return steps, ending
			}
			step, _ = strconv.Unquote(quoted)
			text = text[len(quoted):]
		} else if step, text, _ = strings.Cut(text, "/"); step == "*" || step == "?" {
			return steps, step
		}
		if step != "" {
			steps = append(steps, step)
		}
	}
	return steps, ending
}

func joinPath(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		if strings.ContainsAny(s, `/"*? `) {
			s = strconv.Quote(s)
		}
		b.WriteString(s)
	}
	return b.String()
}

// indexed reports whether the value at the path has an index. The most precise path of the policy decides; of two that are
// equally precise, the one that excludes. The id and _ts of an item have indexes whatever the paths say.
func (p *Policy) indexed(steps []string) bool {
	if p == nil {
		return true
	}
	if len(steps) == 1 && (steps[0] == "id" || steps[0] == "_ts") {
		return !p.none
	}
	return !p.none && precision(p.included, steps) > precision(p.excluded, steps)
}

// precision rates the path that says most about the steps: how long it is, and whether it names exactly them. It is -1 when
// none says anything.
func precision(paths []indexPath, steps []string) int {
	best := -1
	for _, p := range paths {
		switch {
		case len(p.steps) > len(steps) || !slices.Equal(p.steps, steps[:len(p.steps)]):
		case p.deep:
			best = max(best, 2*len(p.steps))
		case len(p.steps) == len(steps):
			best = max(best, 2*len(p.steps)+1)
		}
	}
	return best
}

// checkOrderBy refuses an ORDER BY that the container's indexes can't serve.
func (p *Policy) checkOrderBy(q *sql.Query) error {
	if p == nil || len(q.OrderBy) == 0 {
		return nil
	}
	keys := make([]compositePath, len(q.OrderBy))
	for i, item := range q.OrderBy {
		_, path, ok := sql.ResolvePath(item.Expr)
		if !ok {
			return nil // a function of the item, which the parser allows for vectors only
		}
		steps := stepNames(path)
		if len(q.OrderBy) == 1 && !p.indexed(steps) {
			return &eval.Error{Message: "The index path corresponding to the specified order-by item is excluded."}
		}
		keys[i] = compositePath{path: joinPath(steps), descending: item.Descending}
	}
	if len(keys) > 1 && p.composite(keys) == nil {
		return &eval.Error{Message: "The order by query does not have a corresponding composite index that it can be served from."}
	}
	return nil
}

// scansReverse reports whether the index that serves an ORDER BY is read backwards, which decides the order of rows with
// equal keys. An index on one property is ascending; a composite index is read forwards where the directions are its own.
// Without an index to go by the first key's direction decides.
func (p *Policy) scansReverse(q *sql.Query, descending []bool) bool {
	if len(descending) == 0 {
		return false
	}
	keys := make([]compositePath, len(q.OrderBy))
	for i, item := range q.OrderBy {
		_, path, _ := sql.ResolvePath(item.Expr)
		keys[i] = compositePath{path: joinPath(stepNames(path)), descending: item.Descending}
	}
	if index := p.composite(keys); index != nil {
		return index[0].descending != descending[0]
	}
	return descending[0]
}

// composite returns the composite index that has exactly these paths, in these or in the opposite directions.
func (p *Policy) composite(keys []compositePath) []compositePath {
	if p == nil {
		return nil
	}
	for _, index := range p.composites {
		same, opposite := len(index) == len(keys), len(index) == len(keys)
		for i := 0; (same || opposite) && i < len(keys); i++ {
			fits := index[i].path == keys[i].path
			same = same && fits && index[i].descending == keys[i].descending
			opposite = opposite && fits && index[i].descending != keys[i].descending
		}
		if same || opposite {
			return index
		}
	}
	return nil
}

// directed gives the paths of a filter, for which directions don't matter, the directions of a composite index if there is one.
func (p *Policy) directed(keys []compositePath) []compositePath {
	if p == nil {
		return keys
	}
	for _, index := range p.composites {
		if slices.EqualFunc(index, keys, func(a, b compositePath) bool { return a.path == b.path }) {
			return index
		}
	}
	return keys
}

// stepNames writes the steps of a property as an indexing policy does.
func stepNames(path []sql.Step) []string {
	names := make([]string, len(path))
	for i, s := range path {
		if names[i] = s.Name; s.Element {
			names[i] = "[]"
		}
	}
	return names
}
