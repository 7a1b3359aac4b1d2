package layout

import (
	"fmt"
	"slices"
	"strings"
)

// root is the alias under which Grove's queries name the document.
const root = "c"

// SQL returns a canonical query as it is sent. Every path that begins at the
// document is mapped, in text that Grove wrote and in an application's own
// conditions alike. A selected id loses its prefix, while a condition compares
// the stored one.
func (l *Layout) SQL(query string) string {
	return l.mapSQL(query, strings.HasPrefix(query, "SELECT"))
}

// SQLOfAny is [Layout.SQL] for documents of any entity: ids stay as stored.
func (l *Layout) SQLOfAny(query string) string { return l.mapSQL(query, false) }

func (l *Layout) mapSQL(query string, selecting bool) string {
	if l == nil {
		return query
	}
	m := sqlMapper{l: l, text: query, tokens: sqlTokens(query)}
	m.closing = closings(query, m.tokens)
	m.query(0, len(m.tokens), []string{root}, selecting)
	m.out.WriteString(query[m.at:])
	return m.out.String()
}

// sqlMapper writes a query again. It knows which names stand for the document
// in each subquery: FROM and JOIN may give it another one, or its own name to
// something else.
type sqlMapper struct {
	l       *Layout
	text    string
	tokens  []sqlToken
	closing []int // of a bracket, the token that closes it
	out     strings.Builder
	at      int // up to where the text was written
}

// query maps the tokens of one query. roots are the names of the document around it;
// selecting says that an id that is selected loses its prefix.
func (m *sqlMapper) query(lo, hi int, roots []string, selecting bool) {
	from := m.clause(lo, hi, "FROM")
	end := m.clause(min(from+1, hi), hi, "WHERE", "GROUP", "ORDER", "OFFSET")
	sources := m.sources(from+1, end)
	inner := roots
	for _, s := range sources {
		inner = s.names(m, inner)
	}
	m.selection(lo, from, inner, selecting)
	for _, s := range sources {
		m.expression(s.lo, s.hi, roots, false)
		if s.implied != "" && m.isMapped(s.lo, roots) {
			m.copyTo(m.tokens[s.hi-1].end)
			m.out.WriteString(" AS " + s.implied)
		}
		roots = s.names(m, roots)
	}
	m.expression(end, hi, inner, false)
}

// clause finds the first of some words that stands outside of all brackets; hi for none.
func (m *sqlMapper) clause(lo, hi int, words ...string) int {
	for i := lo; i < hi; i = m.next(i) {
		if m.isKeyword(i, words...) {
			return i
		}
	}
	return hi
}

// source is an item of FROM: an expression, and the name that it gets.
type source struct {
	lo, hi  int    // its expression
	name    string // "" is none
	implied string // the name, where only the expression's last step says it
}

// sources takes FROM apart, whose items JOIN separates.
func (m *sqlMapper) sources(lo, hi int) []source {
	var out []source
	for lo < hi {
		end := m.clause(lo, hi, "JOIN")
		if lo < end {
			out = append(out, m.source(lo, end))
		}
		lo = end + 1
	}
	return out
}

func (m *sqlMapper) source(lo, hi int) source {
	if lo+1 < hi && m.isKeyword(lo+1, "IN") {
		return source{lo: lo + 2, hi: hi, name: m.word(lo)}
	}
	s := source{lo: lo, hi: min(m.next(lo), hi)}
	steps, named := m.steps(lo + 1)
	if m.word(lo) != "" {
		s.hi = min(m.pathEnd(named), hi)
	}
	rest := s.hi
	if rest < hi && m.isKeyword(rest, "AS") {
		rest++
	}
	switch {
	case rest < hi:
		s.name = m.word(rest)
	case m.word(lo) == "":
	case s.hi == lo+1:
		s.name = m.word(lo)
	case m.is(s.hi-2, "."):
		s.name = m.word(s.hi - 1) // of a member of an element, say
		s.implied = s.name
	case named == s.hi && len(steps) > 0:
		s.name = steps[len(steps)-1]
		s.implied = s.name
	}
	if !isIdentifier(s.implied) {
		s.implied = ""
	}
	return s
}

// names are those of the document once the source has its name.
func (s source) names(m *sqlMapper, roots []string) []string {
	out := slices.DeleteFunc(slices.Clone(roots), func(name string) bool { return name == s.name })
	if s.name != "" && s.hi == s.lo+1 && slices.Contains(roots, m.word(s.lo)) {
		out = append(out, s.name)
	}
	return out
}

// selection maps what stands before FROM. An item without a name is called as
// its last step, which the mapping must not change.
func (m *sqlMapper) selection(lo, hi int, roots []string, selecting bool) {
	if lo >= hi || !m.isKeyword(lo, "SELECT") || m.clause(lo, hi, "VALUE") < hi {
		m.expression(lo, hi, roots, selecting)
		return
	}
	lo++
	for lo < hi && (m.isKeyword(lo, "DISTINCT", "TOP") || m.isKeyword(lo-1, "TOP")) {
		lo++
	}
	for lo < hi {
		end := lo
		for end < hi && !m.is(end, ",") {
			end = m.next(end)
		}
		end = min(end, hi)
		m.expression(lo, end, roots, selecting)
		if steps, behind := m.steps(lo + 1); behind == end && len(steps) > 0 && m.isMapped(lo, roots) && isIdentifier(steps[len(steps)-1]) {
			m.copyTo(m.tokens[end-1].end)
			m.out.WriteString(" AS " + steps[len(steps)-1])
		}
		lo = end + 1
	}
}

// expression maps the paths in tokens that are no query of their own.
func (m *sqlMapper) expression(lo, hi int, roots []string, selecting bool) {
	for i := lo; i < hi; {
		switch {
		case m.is(i, "(") && i+1 < hi && m.isKeyword(i+1, "SELECT"):
			end := min(m.closing[i], hi)
			m.query(i+1, end, roots, selecting)
			i = end
		case m.isMapped(i, roots):
			i = m.path(i, selecting)
		default:
			i++
		}
	}
}

// isMapped reports whether a path of the document begins at a token.
func (m *sqlMapper) isMapped(i int, roots []string) bool {
	if i >= len(m.tokens) || m.tokens[i].kind != sqlWord || i > 0 && m.is(i-1, ".") || !slices.Contains(roots, m.word(i)) {
		return false
	}
	steps, _ := m.steps(i + 1)
	return len(steps) > 0
}

// path writes a path where it lies, and returns the token behind it.
func (m *sqlMapper) path(i int, selecting bool) int {
	steps, next := m.steps(i + 1)
	m.copyTo(m.tokens[i].start)
	path := pathSQL(m.word(i), m.l.Path(steps))
	if prefix := m.l.options.IDPrefix; prefix != "" && selecting && len(steps) == 1 && steps[0] == ID {
		path = fmt.Sprintf("SUBSTRING(%s, %d, LENGTH(%s))", path, len(prefix), path)
	}
	m.out.WriteString(path)
	m.at = m.tokens[next-1].end
	return next
}

// steps reads the named steps of a path; an index ends what is mapped.
func (m *sqlMapper) steps(i int) (steps []string, next int) {
	for {
		switch {
		case m.is(i, ".") && m.word(i+1) != "":
			steps, i = append(steps, m.word(i+1)), i+2
		case m.is(i, "[") && i+2 < len(m.tokens) && m.tokens[i+1].kind == sqlString && m.is(i+2, "]"):
			name, ok := unquote(m.text[m.tokens[i+1].start:m.tokens[i+1].end])
			if !ok {
				return steps, i
			}
			steps, i = append(steps, name), i+3
		default:
			return steps, i
		}
	}
}

// pathEnd is the token behind a path's further steps, elements of lists too.
func (m *sqlMapper) pathEnd(i int) int {
	for {
		switch {
		case m.is(i, ".") && m.word(i+1) != "":
			i += 2
		case m.is(i, "["):
			i = m.next(i)
		default:
			return i
		}
	}
}

func (m *sqlMapper) copyTo(end int) {
	m.out.WriteString(m.text[m.at:end])
	m.at = end
}

// next is the token behind one, or behind the brackets that it opens.
func (m *sqlMapper) next(i int) int {
	if m.closing[i] > i {
		return m.closing[i] + 1
	}
	return i + 1
}

func (m *sqlMapper) is(i int, symbol string) bool {
	return i < len(m.tokens) && m.tokens[i].kind == sqlSymbol && m.text[m.tokens[i].start:m.tokens[i].end] == symbol
}

// word is a name or a keyword; "" is none.
func (m *sqlMapper) word(i int) string {
	if i >= len(m.tokens) || m.tokens[i].kind != sqlWord {
		return ""
	}
	return m.text[m.tokens[i].start:m.tokens[i].end]
}

// isKeyword reports whether a token is one of some words, and not a member's name.
func (m *sqlMapper) isKeyword(i int, words ...string) bool {
	word := m.word(i)
	return word != "" && (i == 0 || !m.is(i-1, ".")) && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

func pathSQL(alias string, steps []string) string {
	var b strings.Builder
	b.WriteString(alias)
	for _, step := range steps {
		b.WriteByte('[')
		b.Write(text(step))
		b.WriteByte(']')
	}
	return b.String()
}
