package layout

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

type sqlKind uint8

const (
	sqlWord   sqlKind = iota // a name, a keyword or a number
	sqlString                // with its quotes
	sqlOther                 // a parameter
	sqlSymbol                // one byte
)

type sqlToken struct {
	start, end int
	kind       sqlKind
}

// sqlTokens takes a query apart; white space and comments are no tokens.
func sqlTokens(query string) []sqlToken {
	var out []sqlToken
	for i := skipBlank(query, 0); i < len(query); i = skipBlank(query, i) {
		t := sqlToken{start: i, end: i + 1, kind: sqlSymbol}
		switch query[i] {
		case '\'', '"':
			t.kind, t.end = sqlString, stringEnd(query, i)
		case '@', '$':
			t.kind, t.end = sqlOther, wordEnd(query, i+1)
		default:
			if end := wordEnd(query, i); end > i {
				t.kind, t.end = sqlWord, end
			}
		}
		out = append(out, t)
		i = t.end
	}
	return out
}

// closings finds for each bracket the token that closes it: itself where none
// does, as for tokens that are no bracket.
func closings(query string, tokens []sqlToken) []int {
	out := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		out[i] = i
		if t.kind != sqlSymbol {
			continue
		}
		switch query[t.start] {
		case '(', '[', '{':
			open = append(open, i)
		case ')', ']', '}':
			if len(open) > 0 {
				out[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
	for _, i := range open {
		out[i] = len(tokens) // up to the end
	}
	return out
}

// skipBlank steps over white space and comments.
func skipBlank(query string, i int) int {
	for i < len(query) {
		switch rest := query[i:]; {
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				return len(query)
			}
			i += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return len(query)
			}
			i += end + len("/**/")
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\uFEFF' {
				return i
			}
			i += size
		}
	}
	return i
}

// stringEnd returns the index behind the string literal that begins at i.
func stringEnd(query string, i int) int {
	for j := i + 1; j < len(query); j++ {
		switch query[j] {
		case '\\':
			j++
		case query[i]:
			return j + 1
		}
	}
	return len(query)
}

func wordEnd(query string, i int) int {
	for i < len(query) {
		r, size := utf8.DecodeRuneInString(query[i:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

// isIdentifier reports whether a name can be written without quotes. Reserved
// words can't either; where one is the name of a member, a query has to give it
// another one anyway.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != "" && !reserved[strings.ToUpper(name)]
}

var reserved = func() map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields("AND ARRAY AS ASC BETWEEN BY DESC DISTINCT ESCAPE EXISTS FALSE FROM GROUP IN IS JOIN LEFT LIKE LIMIT NOT NULL OFFSET OR ORDER RIGHT SELECT TOP TRUE UDF UNDEFINED VALUE WHERE") {
		out[word] = true
	}
	return out
}()

// unquote returns what a string literal holds; false for one that the service refuses.
func unquote(literal string) (string, bool) {
	if len(literal) < 2 || literal[len(literal)-1] != literal[0] {
		return "", false
	}
	inner := literal[1 : len(literal)-1]
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			b.WriteByte(inner[i])
			continue
		}
		i++
		if i == len(inner) {
			return "", false
		}
		if inner[i] == 'u' {
			r, size := escapedRune(inner[i-1:])
			if size == 0 {
				return "", false
			}
			b.WriteRune(r)
			i += size - len(`\u`)
			continue
		}
		at := strings.IndexByte(`"'\/bfnrt`, inner[i])
		if at < 0 {
			return "", false
		}
		b.WriteByte("\"'\\/\b\f\n\r\t"[at])
	}
	return b.String(), true
}

// escapedRune reads \uXXXX, or two of them for a rune that takes a pair.
func escapedRune(s string) (r rune, size int) {
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := unit(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
		return utf16.DecodeRune(r, low), 12
	}
	return utf8.RuneError, 6
}
