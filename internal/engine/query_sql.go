package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// The SQL of a query: what Where makes. Compile writes it: the projection; WHERE with the
// scope's own conditions (tenant, entity type, and not deleted where documents are deleted
// softly), and then those that were given, joined by AND (writeConditions); ORDER BY. The SQL of
// one condition is in predicate.go. Values are parameters, @p0 and on. Over a container with a
// layout the text is rewritten just before it is sent (textOf in stored_form.go). So
// Where(Eq("title", "x")).OrderBy("title") under the default key is (ExampleScopeOf_Explain)
//
//	SELECT * FROM c WHERE c["tenantId"] = @p0 AND c["entityType"] = @p1 AND c["title"] = @p2 ORDER BY c["title"]

// Statement is a query as it is sent.
type Statement struct {
	Text   string
	Params []cosmos.QueryParameter

	rows rowKind
	// stored says that the text is in the stored form already.
	stored bool
}

// rowKind says what a row is where documents are stored in another form.
type rowKind uint8

const (
	// otherRow is what a projection made.
	otherRow rowKind = iota
	// documentRow is a document, sortedRow one beside what it is sorted by.
	documentRow
	sortedRow
)

func rowsOf(projection string) rowKind {
	switch {
	case projection == SelectAll, projection == "SELECT VALUE "+RootAlias+" FROM "+RootAlias:
		return documentRow
	case strings.HasPrefix(projection, sortedPrefix) && strings.HasSuffix(projection, ", "+RootAlias+" AS d FROM "+RootAlias):
		return sortedRow
	}
	return otherRow
}

// Fingerprint identifies what a statement asks, values included.
func (s Statement) Fingerprint() (string, error) {
	params, err := asStored(s.Params)
	if err != nil {
		return "", err
	}
	values, err := codec.Encode(params)
	if err != nil {
		return "", RefusedValue("query parameter", err)
	}
	sum := sha256.Sum256(append([]byte(s.Text+"\x00"), values...))
	return hex.EncodeToString(sum[:]), nil
}

// SQLWriter puts a statement together; a nil model accepts every field.
type SQLWriter struct {
	model  *tenantitem.Model
	layout *layout.Layout
	Text   strings.Builder
	Params []cosmos.QueryParameter
	// literal writes values into the text, for the one place where the
	// service takes no parameters.
	literal bool
	err     error
}

func (w *SQLWriter) param(v any) string {
	if w.literal {
		text, err := codec.Encode(v)
		if err != nil {
			w.err = RefusedValue("predicate", err)
		}
		return string(text)
	}
	name := fmt.Sprintf("@p%d", len(w.Params))
	w.Params = append(w.Params, cosmos.QueryParameter{Name: name, Value: v})
	return name
}

func (w *SQLWriter) field(path string) (string, error) {
	if w.model != nil {
		if strings.Contains(path, "[]") {
			return "", &tenantitem.InvalidError{What: "field", Reason: fmt.Sprintf("%q lies inside an array", path), Hint: `use SQL, as in SQL("EXISTS (SELECT VALUE i FROM i IN c.items WHERE i.productId = @id)", P("id", id))`}
		}
		if _, ok := w.model.Field(path); !ok {
			return "", w.model.UnknownField(path)
		}
	}
	return fieldSQL(path), nil
}

// SelectAll is the projection of whole documents.
const SelectAll = "SELECT * FROM c"

// Compile writes the statement for one target of a scope. The partition's
// levels stand in the WHERE clause as well as in the key: the predicate keeps
// the index in use. Of a prefix, the request names ranges of hashes only, which
// other tenants' documents lie in too: there the predicate is what restricts it.
func (c *Collection) Compile(at *Partition, q Query, projection string) (Statement, error) {
	if q.broken != nil {
		return Statement{}, q.broken
	}
	w := &SQLWriter{model: c.model, layout: c.layout}
	if at.mixed {
		w.layout = nil // ids are those that are stored
	}
	w.Text.WriteString(projection)
	if err := c.writeConditions(w, " WHERE ", at, q); err != nil {
		return Statement{}, err
	}
	if err := q.writeOrder(w); err != nil {
		return Statement{}, err
	}
	if _, err := asStored(w.Params); err != nil {
		return Statement{}, err
	}
	st := Statement{Text: w.Text.String(), Params: w.Params, rows: rowsOf(projection)}
	if at.mixed && c.layout != nil {
		st.Text, st.stored = c.layout.SQLOfAny(st.Text), true
	}
	return st, nil
}

// writeConditions writes what restricts a query to the scope and to what q
// looks for. word stands before the first condition.
func (c *Collection) writeConditions(w *SQLWriter, word string, at *Partition, q Query) error {
	condition := func(format string, args ...any) {
		w.Text.WriteString(word)
		fmt.Fprintf(&w.Text, format, args...)
		word = " AND "
	}
	inKey, tenantInKey := false, false
	for i, value := range at.Values {
		condition("%s = %s", c.levels[i].sql(), w.param(value))
		inKey = inKey || c.levels[i].isEntityType()
		tenantInKey = tenantInKey || c.levels[i].source.Kind == layout.FromTenant
	}
	if c.layout != nil && !tenantInKey && !at.All && !at.global {
		condition("%s = %s", fieldSQL(tenantField), w.param(at.Tenant))
	}
	switch {
	case inKey || at.mixed || c.layout.Typeless():
	case c.layout.TypeOptional():
		names := make([]string, 0, 1+len(c.aliases))
		for _, name := range append([]string{c.entityType}, c.aliases...) {
			names = append(names, w.param(name))
		}
		condition("(%s IN (%s) OR NOT IS_DEFINED(%s))", fieldSQL(entityField), strings.Join(names, ", "), fieldSQL(entityField))
	case len(c.aliases) == 0:
		condition("%s = %s", fieldSQL(entityField), w.param(c.entityType))
	default:
		names := []string{w.param(c.entityType)}
		for _, alias := range c.aliases {
			names = append(names, w.param(alias))
		}
		condition("%s IN (%s)", fieldSQL(entityField), strings.Join(names, ", "))
	}
	if c.Tombstones && !at.Deleted {
		condition(`NOT IS_DEFINED(%s["deletedAt"])`, RootAlias)
	}
	for _, p := range q.where {
		condition("")
		if err := p.Write(w); err != nil {
			return err
		}
	}
	if err := checkRaws(q.raw); err != nil {
		return err
	}
	for _, raw := range q.raw {
		condition("(%s)", raw.text)
		for _, p := range raw.params {
			w.Params = append(w.Params, cosmos.QueryParameter{Name: "@" + p.Name, Value: p.Value})
		}
	}
	return nil
}

func (q Query) writeOrder(w *SQLWriter) error {
	if len(q.group) > 0 {
		w.Text.WriteString(" GROUP BY " + strings.Join(q.group, ", "))
	}
	word := " ORDER BY "
	for _, o := range q.order {
		field, err := w.sortField(o.field)
		if err != nil {
			return err
		}
		w.Text.WriteString(word + field)
		if o.desc {
			w.Text.WriteString(" DESC")
		}
		word = ", "
	}
	if q.limit > 0 {
		fmt.Fprintf(&w.Text, " OFFSET 0 LIMIT %d", q.limit)
	}
	return nil
}

// checkRaws checks the raw conditions of one query: each by itself, and that
// every parameter has exactly one value. The service takes one that has none
// for undefined, so that the query would silently find nothing.
func checkRaws(raws []rawCondition) error {
	given := map[string]bool{}
	for _, raw := range raws {
		for _, p := range raw.params {
			if given[p.Name] {
				return &tenantitem.InvalidError{What: "SQL condition", Reason: fmt.Sprintf("the parameter %q is given twice", p.Name), Hint: "give each value a name of its own, also across the conditions of one query"}
			}
			given[p.Name] = true
		}
	}
	for _, raw := range raws {
		if err := checkRaw(raw, given); err != nil {
			return err
		}
	}
	return nil
}

// parameterName returns the name that text begins with.
func parameterName(text string) string {
	end := 0
	for end < len(text) && (text[end] == '_' || text[end] >= '0' && text[end] <= '9' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
		end++
	}
	return text[:end]
}

// checkRaw makes sure that a raw condition is one closed expression, which the
// parentheses around it then keep from touching the rest of the statement.
func checkRaw(raw rawCondition, given map[string]bool) error {
	refuse := func(reason string) error {
		return &tenantitem.InvalidError{What: "SQL condition", Reason: reason, Hint: "give one condition, such as c.title = @t, and its values as parameters"}
	}
	if strings.TrimSpace(raw.text) == "" {
		return refuse("it is empty")
	}
	for _, p := range raw.params {
		if p.Name == "" || parameterName(p.Name) != p.Name || p.Name[0] >= '0' && p.Name[0] <= '9' {
			return refuse(fmt.Sprintf("the parameter name %q is not a plain word without @", p.Name))
		}
		if len(p.Name) > 1 && p.Name[0]|0x20 == 'p' && strings.Trim(p.Name[1:], "0123456789") == "" {
			return refuse(fmt.Sprintf("the parameter name %q is taken", p.Name))
		}
	}
	var open []byte
	for i := 0; i < len(raw.text); i++ {
		switch ch := raw.text[i]; ch {
		case '\'', '"':
			end := closingQuote(raw.text, i)
			if end < 0 {
				return refuse("a quote is not closed")
			}
			i = end
		case '(', '[', '{':
			open = append(open, ch)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != opening(ch) {
				return refuse("its parentheses are not balanced")
			}
			open = open[:len(open)-1]
		case '-', '/':
			if next := raw.text[i+1:]; ch == '-' && strings.HasPrefix(next, "-") || ch == '/' && strings.HasPrefix(next, "*") {
				return refuse("it holds a comment")
			}
		case ';':
			return refuse("it holds a semicolon")
		case '@':
			if name := parameterName(raw.text[i+1:]); !given[name] {
				return refuse(fmt.Sprintf("the parameter %q has no value", "@"+name))
			}
		}
	}
	if len(open) > 0 {
		return refuse("its parentheses are not balanced")
	}
	return nil
}

func closingQuote(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i
		}
	}
	return -1
}

func opening(closing byte) byte {
	switch closing {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}
