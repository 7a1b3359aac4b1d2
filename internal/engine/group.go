package engine

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// maxGroups bounds what one partition may give to a result that is put
// together in memory.
const maxGroups = 100_000

var errTooManyGroups = &unsupportedError{
	clause: "GROUP BY",
	reason: fmt.Sprintf("one partition has more than %d groups", maxGroups),
	hint:   "narrow the query, or group by a field with fewer values",
}

// grouping is what a struct declares.
type grouping struct {
	by         []groupMember
	aggregates []groupMember
}

type groupMember struct {
	name     string // its JSON name in the struct
	function function
	path     string // of the entity's field
	column   string
}

// GroupBy yields one value for each group of what a query finds, as pointers to
// what the call reads into.
func GroupBy(ctx context.Context, k *Call, q Query, yield func(any) bool) error {
	g, err := groupingOf(k.into(), k.Collection)
	if err != nil {
		return err
	}
	return groupWith(ctx, k, q, g, yield)
}

func groupWith(ctx context.Context, k *Call, q Query, g *grouping, yield func(any) bool) error {
	if len(q.order) > 0 {
		return &unsupportedError{clause: "ORDER BY with GROUP BY", reason: "the service does not serve it", hint: "leave OrderBy out: groups come in the order of their values"}
	}
	limit := q.limit
	q.limit = 0
	q.group = g.columns()
	p, err := k.PlanFor(q, g.projection())
	if err != nil {
		return err
	}
	groups := map[string]*group{}
	err = gather(ctx, k, p, maxGroups, func(rows []map[string]merge.Value) error {
		for _, row := range rows {
			if err := g.add(groups, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, one := range sortedGroups(groups) {
		if limit > 0 && i >= limit {
			return nil
		}
		out := reflect.New(k.into()).Interface()
		if err := codec.Decode(g.encode(one), out); err != nil {
			return &decodeError{err}
		}
		if !yield(out) {
			return nil
		}
	}
	return nil
}

// groupingOf reads the members of a struct and their tags.
func groupingOf(t reflect.Type, c *Collection) (*grouping, error) {
	refuse := func(what, reason, hint string) error {
		return &tenantitem.InvalidError{What: what, Reason: reason, Hint: hint}
	}
	if t.Kind() != reflect.Struct {
		return nil, refuse("grouping", t.String()+" is not a struct", "declare a struct with the fields to group by and the aggregates")
	}
	g := &grouping{}
	for _, sf := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" || !sf.IsExported() || sf.Anonymous && name == "" {
			continue
		}
		m := groupMember{name: cmp.Or(name, sf.Name)}
		m.path = m.name
		what := "grouping " + t.Name() + "." + sf.Name
		word, option, _ := strings.Cut(sf.Tag.Get("group"), ",")
		if option != "" {
			path, ok := strings.CutPrefix(option, "field=")
			if !ok || path == "" || word == "count" {
				return nil, refuse(what, fmt.Sprintf("%q is not an option of its tag", option), "write field= and a field of the entity; count takes none")
			}
			m.path = path
		}
		if err := m.read(word, c); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if m.function == 0 {
			g.by = append(g.by, m)
		} else {
			g.aggregates = append(g.aggregates, m)
		}
	}
	if len(g.by) == 0 {
		return nil, refuse("grouping", t.String()+" has no field to group by", "declare one without a group tag; Count, Sum, Avg, Min and Max aggregate without groups")
	}
	return g, nil
}

// read takes in the first word of the tag.
func (m *groupMember) read(word string, c *Collection) error {
	switch word {
	case "count":
		m.function = countOf
		return nil
	case "", "by":
	case "sum":
		m.function = SumOf
	case "avg":
		m.function = AvgOf
	case "min":
		m.function = MinOf
	case "max":
		m.function = MaxOf
	default:
		return &tenantitem.InvalidError{What: "group tag", Reason: fmt.Sprintf("%q is no aggregate", word), Hint: "use by, count, sum, avg, min or max"}
	}
	if m.function == SumOf || m.function == AvgOf {
		var err error
		m.column, err = c.numberField(m.path)
		return err
	}
	field, ok := c.model.Field(m.path)
	if !ok {
		return c.model.UnknownField(m.path)
	}
	if m.function != 0 && sortsOtherwise(field) {
		return errQuotedOrder(functionNames[m.function] + "(" + m.path + ")")
	}
	m.column = fieldSQL(m.path)
	return nil
}

func (g *grouping) columns() []string {
	out := make([]string, len(g.by))
	for i, m := range g.by {
		out[i] = m.column
	}
	return out
}

// projection names the columns by their place: g0 is the first value that is
// grouped by, n0 and v0 are the first partial.
func (g *grouping) projection() string {
	var columns []string
	for i, m := range g.by {
		columns = append(columns, fmt.Sprintf("%s AS g%d", m.column, i))
	}
	for i, m := range g.aggregates {
		columns = append(columns, m.function.sql(m.column, fmt.Sprintf("n%d", i), fmt.Sprintf("v%d", i)))
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + RootAlias
}

// group is one group with what is known of it.
type group struct {
	values []merge.Value
	totals []total
}

// add takes in what one partition says of one group.
func (g *grouping) add(groups map[string]*group, row map[string]merge.Value) error {
	var key []byte
	values := make([]merge.Value, len(g.by))
	for i := range g.by {
		values[i] = row[fmt.Sprintf("g%d", i)]
		key = values[i].AppendKey(key)
	}
	one, ok := groups[string(key)]
	if !ok {
		one = &group{values: values, totals: make([]total, len(g.aggregates))}
		for i, m := range g.aggregates {
			one.totals[i] = total{function: m.function, field: m.path}
		}
		groups[string(key)] = one
	}
	for i := range one.totals {
		n, _ := row[fmt.Sprintf("n%d", i)].Number()
		if err := one.totals[i].add(partial{Count: int64(n), Value: row[fmt.Sprintf("v%d", i)]}); err != nil {
			return err
		}
	}
	return nil
}

// encode writes a group as the JSON of its struct.
func (g *grouping) encode(one *group) []byte {
	out := []byte{'{'}
	member := func(name string, v merge.Value) {
		if v.IsZero() {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = merge.AppendMember(out, name, v)
	}
	for i, m := range g.by {
		member(m.name, one.values[i])
	}
	for i, m := range g.aggregates {
		member(m.name, one.totals[i].result())
	}
	return append(out, '}')
}

func sortedGroups(groups map[string]*group) []*group {
	out := make([]*group, 0, len(groups))
	for _, one := range groups {
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b *group) int { return slices.CompareFunc(a.values, b.values, merge.Compare) })
	return out
}
