package parented

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
)

// maxParentGroup is how many parents one query names.
const maxParentGroup = 100

// parentGroup is some parents whose children one query finds.
type parentGroup struct {
	relation *relation
	parents  []engine.Document
	// key are the values that are known of the children's partition key.
	key []any
}

// refs name the parents as their children do.
func (f parentGroup) refs() []parentRef {
	refs := make([]parentRef, len(f.parents))
	for i, parent := range f.parents {
		refs[i] = f.relation.refTo(parent)
	}
	return refs
}

// with is the group with only some of its parents.
func (f parentGroup) with(parents []engine.Document) parentGroup {
	f.parents = parents
	return f
}

// children is the condition on them.
func (f parentGroup) children() engine.Predicate { return f.relation.childrenOf(f.refs()) }

// parentGroups groups parents for queries over their children: a hundred together
// of which the same is known of the children's key.
func parentGroups(r *relation, parents []engine.Document) iter.Seq[parentGroup] {
	return func(yield func(parentGroup) bool) {
		for _, group := range groupByChildKey(r, parents) {
			for chunk := range slices.Chunk(group.parents, maxParentGroup) {
				if !yield(group.with(chunk)) {
					return
				}
			}
		}
	}
}

func groupByChildKey(r *relation, parents []engine.Document) []parentGroup {
	var groups []parentGroup
	index := map[string]int{}
	for _, parent := range parents {
		key := r.childKey(r.refTo(parent))
		text := engine.KeyText(key)
		i, ok := index[text]
		if !ok {
			i = len(groups)
			index[text] = i
			groups = append(groups, parentGroup{relation: r, key: key})
		}
		groups[i].parents = append(groups[i].parents, parent)
	}
	return groups
}

// childrenAndMoving narrows a query to the group's children, and to those that are
// moving away from it and may have to come back.
func (f parentGroup) childrenAndMoving(q engine.Query, r *relation) engine.Query {
	if !r.tracksMoves() {
		return q.And(f.children())
	}
	var w conditionParams
	refs := f.refs()
	var some []string
	for _, group := range groupByLevels(refs) {
		ids, where := make([]any, len(group)), ""
		for i, parent := range group {
			ids[i] = parent.id
		}
		for i, level := range r.levels {
			where += fmt.Sprintf(` AND %s = %s`, memberSQL(level.field.Path), w.param(group[0].levels[i]))
		}
		some = append(some, "(c."+parentField+w.in(ids)+where+")")
	}
	marks := make([]any, len(refs))
	for i, parent := range refs {
		marks[i] = r.moveMark(parent)
	}
	some = append(some, memberSQL(engine.MovingField)+w.in(marks))
	return q.AndSQL(strings.Join(some, " OR "), w.params...)
}

// conditionParams collects the parameters of a condition.
type conditionParams struct{ params []engine.Param }

func (w *conditionParams) param(value any) string {
	name := fmt.Sprint("claim", len(w.params))
	w.params = append(w.params, engine.P(name, value))
	return "@" + name
}

func (w *conditionParams) in(values []any) string {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = w.param(value)
	}
	return " IN (" + strings.Join(names, ", ") + ")"
}

// memberSQL names a field in SQL; its steps may be words of the language.
func memberSQL(path string) string {
	var b strings.Builder
	b.WriteByte('c')
	for step := range strings.SplitSeq(path, ".") {
		fmt.Fprintf(&b, "[%q]", step)
	}
	return b.String()
}

// membership says which children belong to the group.
func (f parentGroup) membership() func(child engine.Document) bool {
	parents := map[string]bool{}
	for _, parent := range f.refs() {
		parents[parent.text()] = true
	}
	return func(child engine.Document) bool { return parents[f.relation.namedBy(child).text()] }
}
