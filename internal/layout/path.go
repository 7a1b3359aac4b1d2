package layout

import "strings"

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
	return pathSQL(root, append([]string{stored}, level.Path...))
}
