package layout

import (
	"fmt"
	"strconv"
	"strings"
)

// Path returns where a canonical path lies in the stored document.
func (l *Layout) Path(path []string) []string {
	if l == nil || len(path) == 0 {
		return path
	}
	switch path[0] {
	case stored, outside:
		return path[1:]
	case inside:
		return append([]string{l.options.Envelope}, path[1:]...)
	}
	name := path[0]
	out := make([]string, 0, len(path)+1)
	if l.isWithin(name) {
		out = append(out, l.options.Envelope)
	}
	if to, ok := l.names[name]; ok {
		name = to
	}
	return append(append(out, name), path[1:]...)
}

// Pointer returns where a canonical JSON pointer leads in the stored document;
// false where the member is never stored.
func (l *Layout) Pointer(pointer string) (string, bool) {
	if l == nil || !strings.HasPrefix(pointer, "/") {
		return pointer, true
	}
	tokens := strings.Split(pointer[1:], "/")
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[0])
	if l.absent[name] {
		return "", false
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, step := range l.Path([]string{name}) {
		b.WriteString("/" + escape.Replace(step))
	}
	for _, token := range tokens[1:] {
		b.WriteString("/" + token)
	}
	return b.String(), true
}

// LevelSQL is how canonical SQL names a level of the key.
func LevelSQL(level Level) string {
	var b strings.Builder
	b.WriteString(root + "[" + strconv.Quote(stored) + "]")
	for _, step := range level.Path {
		b.WriteString("[" + strconv.Quote(step) + "]")
	}
	return b.String()
}

// root is the alias under which Grove's queries name the document.
const root = "c"

// SQL returns a canonical query as it is sent. Every path that begins at the
// alias c is mapped, in text that Grove wrote and in an application's own
// conditions alike. A selected id loses its prefix, while a condition compares
// the stored one.
func (l *Layout) SQL(query string) string {
	if l == nil {
		return query
	}
	m := sqlMapper{l: l, text: query, selecting: strings.HasPrefix(query, "SELECT")}
	return m.run()
}

// SQLOfAny is [Layout.SQL] for documents of any entity: ids stay as stored.
func (l *Layout) SQLOfAny(query string) string {
	if l == nil {
		return query
	}
	m := sqlMapper{l: l, text: query}
	return m.run()
}

type sqlMapper struct {
	l         *Layout
	text      string
	out       strings.Builder
	selecting bool // before the FROM of the outermost query
	depth     int
}

func (m *sqlMapper) run() string {
	for i := 0; i < len(m.text); {
		ch := m.text[i]
		switch {
		case ch == '\'' || ch == '"':
			end := stringEnd(m.text, i)
			m.out.WriteString(m.text[i:end])
			i = end
		case isWord(ch) || ch == '@' || ch == '$':
			end := i + 1
			for end < len(m.text) && isWord(m.text[end]) {
				end++
			}
			i = m.word(i, end)
		default:
			switch ch {
			case '(', '{', '[':
				m.depth++
			case ')', '}', ']':
				m.depth--
			}
			m.out.WriteByte(ch)
			i++
		}
	}
	return m.out.String()
}

// word maps the path that a word begins, and returns where to go on.
func (m *sqlMapper) word(start, end int) int {
	word := m.text[start:end]
	if m.depth == 0 && strings.EqualFold(word, "FROM") {
		m.selecting = false
	}
	if word != root || start > 0 && m.text[start-1] == '.' {
		m.out.WriteString(word)
		return end
	}
	steps, next := pathSteps(m.text, end)
	if len(steps) == 0 {
		m.out.WriteString(word)
		return end
	}
	path := pathSQL(m.l.Path(steps))
	if prefix := m.l.options.IDPrefix; prefix != "" && m.selecting && len(steps) == 1 && steps[0] == ID {
		path = fmt.Sprintf("SUBSTRING(%s, %d, LENGTH(%s))", path, len(prefix), path)
	}
	m.out.WriteString(path)
	return next
}

func pathSQL(steps []string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, step := range steps {
		b.WriteString("[" + strconv.Quote(step) + "]")
	}
	return b.String()
}

// pathSteps reads the named steps of a path; an index or a computed step ends
// what is mapped.
func pathSteps(text string, i int) (steps []string, next int) {
	for {
		j := skipSpace(text, i)
		switch {
		case j < len(text) && text[j] == '.':
			j = skipSpace(text, j+1)
			end := j
			for end < len(text) && isWord(text[end]) {
				end++
			}
			if end == j {
				return steps, i
			}
			steps, i = append(steps, text[j:end]), end
		case j < len(text) && text[j] == '[':
			j = skipSpace(text, j+1)
			if j >= len(text) || text[j] != '"' && text[j] != '\'' {
				return steps, i
			}
			end := stringEnd(text, j)
			name, ok := unquote(text[j:end])
			closing := skipSpace(text, end)
			if !ok || closing >= len(text) || text[closing] != ']' {
				return steps, i
			}
			steps, i = append(steps, name), closing+1
		default:
			return steps, i
		}
	}
}

func unquote(literal string) (string, bool) {
	if len(literal) < 2 {
		return "", false
	}
	if literal[0] == '\'' {
		literal = `"` + strings.ReplaceAll(strings.ReplaceAll(literal[1:len(literal)-1], `\'`, `'`), `"`, `\"`) + `"`
	}
	s, err := strconv.Unquote(literal)
	return s, err == nil
}

// stringEnd returns the index behind the string literal that begins at i.
func stringEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case text[i]:
			return j + 1
		}
	}
	return len(text)
}

func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

func isWord(ch byte) bool {
	return ch == '_' || ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z' || ch >= 0x80
}
