package repository_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Knot's members are called as aliases and clauses of queries are.
type Knot struct {
	tenantitem.TenantItem[Knot]
	C     string      `json:"c"`
	Title string      `json:"title"`
	Items []knotItem  `json:"items"`
	Inner knotContent `json:"inner"`
}

type knotItem struct {
	C     string   `json:"c"`
	Title string   `json:"title"`
	Tags  []string `json:"tags"`
}

type knotContent struct {
	C     knotItem   `json:"c"`
	Items []knotItem `json:"items"`
}

// sqlShape says what a path leads to, so that conditions are about something.
type sqlShape int

const (
	textShape sqlShape = iota
	itemShape
	contentShape
	knotShape
	textsShape
	itemsShape
)

var sqlMembers = map[sqlShape]map[string]sqlShape{
	knotShape:    {"c": textShape, "title": textShape, "items": itemsShape, "inner": contentShape},
	contentShape: {"c": itemShape, "items": itemsShape},
	itemShape:    {"c": textShape, "title": textShape, "tags": textsShape},
}

var sqlElements = map[sqlShape]sqlShape{textsShape: textShape, itemsShape: itemShape}

// sqlText writes conditions in the ways that an application may.
type sqlText struct {
	r     *rapid.T
	depth int
}

func (w *sqlText) pick(from ...string) string { return rapid.SampledFrom(from).Draw(w.r, "pick") }

// path follows members from an alias to something of a shape; false where none is in reach.
func (w *sqlText) path(scope map[string]sqlShape, want sqlShape) (string, bool) {
	type end struct {
		steps []string
		shape sqlShape
	}
	var found [][]string
	var follow func(e end)
	follow = func(e end) {
		if e.shape == want {
			found = append(found, e.steps)
		}
		for name, shape := range sqlMembers[e.shape] {
			follow(end{append(slices.Clip(e.steps), name), shape})
		}
		if element, ok := sqlElements[e.shape]; ok {
			follow(end{append(slices.Clip(e.steps), "0"), element})
		}
	}
	for alias, shape := range scope {
		follow(end{[]string{alias}, shape})
	}
	if len(found) == 0 {
		return "", false
	}
	slices.SortFunc(found, func(a, b []string) int { return strings.Compare(strings.Join(a, "."), strings.Join(b, ".")) })
	steps := rapid.SampledFrom(found).Draw(w.r, "path")
	var b strings.Builder
	b.WriteString(steps[0])
	for _, step := range steps[1:] {
		escaped := fmt.Sprintf(`\u%04x%s`, step[0], step[1:])
		switch step {
		case "0":
			b.WriteString(w.pick("[0]", " [ 0 ]"))
		default:
			b.WriteString(w.pick("."+step, " . "+step, ".\n\t"+step, `["`+step+`"]`, ` [ '`+step+`' ]`, `["`+escaped+`"]`))
		}
	}
	return b.String(), true
}

func (w *sqlText) literal() string {
	return w.pick(`'c'`, `"c.title"`, `'it\'s c.title'`, `"\"c.c"`, `'t'`, `"\\"`, `'title'`)
}

// source is an item of FROM and what its alias stands for.
func (w *sqlText) source(scope map[string]sqlShape) (from, alias string, shape sqlShape, ok bool) {
	alias = w.pick("c", "t", "title", "items", "inner")
	shape = rapid.SampledFrom([]sqlShape{textShape, itemShape}).Draw(w.r, "element")
	list := map[sqlShape]sqlShape{textShape: textsShape, itemShape: itemsShape}[shape]
	if rapid.Bool().Draw(w.r, "object") {
		list, shape = itemShape, itemShape
		if rapid.Bool().Draw(w.r, "content") {
			list, shape = contentShape, contentShape
		}
		from, ok = w.path(scope, list)
		return from + w.pick(" AS ", " ") + alias, alias, shape, ok
	}
	from, ok = w.path(scope, list)
	return alias + w.pick(" IN ", " in ", "\nIN\t") + from, alias, shape, ok
}

// subquery is what stands between parentheses.
func (w *sqlText) subquery(scope map[string]sqlShape, selection string) string {
	inner := map[string]sqlShape{}
	for name, shape := range scope {
		inner[name] = shape
	}
	var names []string
	from := " FROM "
	for range 1 + rapid.IntRange(0, 1).Draw(w.r, "joins") {
		text, alias, shape, ok := w.source(inner)
		if !ok || slices.Contains(names, alias) {
			break
		}
		if len(names) > 0 {
			from += " JOIN "
		}
		from += text
		inner[alias] = shape
		names = append(names, alias)
	}
	if len(names) == 0 {
		from = ""
	}
	if selection == "" {
		selection = "SELECT VALUE " + w.text(inner)
		if p, ok := w.path(inner, textShape); ok && rapid.Bool().Draw(w.r, "named") {
			selection = "SELECT " + p
		}
	}
	return "(" + selection + from + " WHERE " + w.condition(inner) + ")"
}

func (w *sqlText) text(scope map[string]sqlShape) string {
	p, ok := w.path(scope, textShape)
	if !ok || rapid.IntRange(0, 3).Draw(w.r, "literal") == 0 {
		return w.literal()
	}
	return p
}

func (w *sqlText) condition(scope map[string]sqlShape) string {
	w.depth++
	defer func() { w.depth-- }()
	kinds := []string{"=", "IN", "object", "defined"}
	if w.depth < 4 {
		kinds = append(kinds, "AND", "OR", "NOT", "EXISTS", "ARRAY", "COUNT")
	}
	switch kind := w.pick(kinds...); kind {
	case "AND", "OR":
		return "(" + w.condition(scope) + " " + kind + " " + w.condition(scope) + ")"
	case "NOT":
		return "NOT (" + w.condition(scope) + ")"
	case "IN":
		return w.text(scope) + " IN (" + w.text(scope) + "," + w.text(scope) + ")"
	case "object":
		return "{c:" + w.text(scope) + `, "title" : ` + w.text(scope) + "}.c != " + w.text(scope)
	case "defined":
		return "IS_DEFINED(" + w.text(scope) + ")"
	case "EXISTS":
		return "EXISTS" + w.subquery(scope, "")
	case "ARRAY":
		return `ToString(ARRAY` + w.subquery(scope, "") + `) > '[{"title"'`
	case "COUNT":
		return w.subquery(scope, "SELECT VALUE COUNT(1)") + " >= 1"
	}
	return w.text(scope) + w.pick("=", " <> ", " > ", "\n<=\n") + w.text(scope)
}

// An application's condition finds the same documents in every layout: it names
// members, and nothing in its text is taken for one that is none.
func TestConditionsMeanTheSameInEveryLayout(t *testing.T) {
	t.Parallel()
	scopes := map[string]*repository.Scope[Knot]{}
	for name, l := range map[string]*layout.Layout{
		"Grove's":  nil,
		"swapped":  {Names: map[string]string{"c": "title", "title": "c", "items": "inner", "inner": "items"}},
		"envelope": {Envelope: "c", Outside: []string{"title"}, Names: map[string]string{"title": "items", "items": "Items", "c": "a\"b"}, IDPrefix: "Knot|"},
	} {
		e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		knots, err := repository.New[Knot](newContainer(t, e.Client(nil), "/tenantId", "/entityType"), repository.Config{Layout: l})
		must(t, err)
		scopes[name] = knots.In("acme")
		for i := range 16 {
			texts := []string{"c", "title", "c.title", "it's c.title", "t", `"c.c`, `\`}
			item := func(n int) knotItem {
				return knotItem{C: texts[(i+n)%7], Title: texts[(i*3+n)%7], Tags: texts[:(i+n)%4]}
			}
			k := &Knot{C: texts[i%7], Title: texts[i*2%7], Inner: knotContent{C: item(1), Items: []knotItem{item(2)}}}
			for n := range i % 3 {
				k.Items = append(k.Items, item(n+3))
			}
			k.ID = fmt.Sprint("k", i)
			must(t, scopes[name].Create(t.Context(), k))
		}
	}
	find := func(name, condition string) string {
		var ids []string
		for k, err := range scopes[name].Query(t.Context(), repository.SQL(condition)) {
			if err != nil {
				if errors.Is(err, repository.ErrInvalid) {
					return "invalid"
				}
				return err.Error()
			}
			ids = append(ids, k.ID)
		}
		slices.Sort(ids)
		return strings.Join(ids, " ")
	}
	found := map[bool]int{}
	rapid.Check(t, func(r *rapid.T) {
		w := sqlText{r: r}
		condition := w.condition(map[string]sqlShape{"c": knotShape})
		want := find("Grove's", condition)
		if strings.Contains(want, "400") || want == "invalid" {
			r.Fatalf("%s\nis refused: %s", condition, want)
		}
		found[want != "" && strings.Count(want, "k") < 16]++
		for _, name := range []string{"swapped", "envelope"} {
			if have := find(name, condition); have != want {
				r.Fatalf("%s\nfinds %q, and in the layout %s %q", condition, want, name, have)
			}
		}
	})
	if found[true] == 0 {
		t.Error("no condition chose between the documents")
	}
	t.Logf("%d conditions chose some documents, %d all or none", found[true], found[false])
}
