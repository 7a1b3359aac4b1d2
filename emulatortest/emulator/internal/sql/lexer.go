package sql

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The constants that are spelled like names, and are case-sensitive.
const (
	nameNaN      = "NaN"
	nameInfinity = "Infinity"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenKeyword   // text is in capitals
	tokenParameter // text keeps its @
	tokenString    // text is decoded
	tokenNumber
	tokenSymbol
)

type token struct {
	kind tokenKind
	Location
	text   string
	number float64
}

// is reports whether the token is that symbol or keyword.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == tokenSymbol || t.kind == tokenKeyword)
}

// isReserved reports whether the name is a keyword, in any case, and so can't be an alias or follow a dot.
func isReserved(name string) bool {
	_, ok := keyword(name)
	return ok
}

// keyword returns a reserved word in capitals. The service publishes no list: these are the words of its grammar, which it
// has been seen to refuse as aliases and after a dot. RANK, ALL, NaN and the like are names with a meaning by position.
func keyword(name string) (string, bool) {
	const longest = len("UNDEFINED")
	if len(name) > longest {
		return "", false
	}
	upper := strings.ToUpper(name)
	switch upper {
	case "AND", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "DESC", "DISTINCT", "ESCAPE", "EXISTS", "FALSE", "FROM", "GROUP", "IN", "IS", "JOIN",
		"LEFT", "LIKE", "LIMIT", "NOT", "NULL", "OFFSET", "OR", "ORDER", "RIGHT", "SELECT", "TOP", "TRUE", "UDF", "UNDEFINED", "VALUE",
		"WHERE":
		return upper, true
	}
	return "", false
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool { return isNameStart(r) || unicode.IsDigit(r) }

// isIdentifier reports whether the name can be written without quotes.
func isIdentifier(name string) bool {
	for i, r := range name {
		if i == 0 && !isNameStart(r) || !isNamePart(r) {
			return false
		}
	}
	return name != ""
}

type lexer struct {
	text string
	at   int
}

func (l *lexer) fail(code string, start, end int, message string) *SyntaxError {
	return &SyntaxError{Code: code, Start: start, End: end, Message: message}
}

func (l *lexer) near(start, end int) *SyntaxError {
	// A long run of text is cut: an error quotes a word, not a document.
	const quoted = 40
	word := l.text[start:end]
	if len(word) > quoted {
		word = strings.ToValidUTF8(word[:quoted], "") + "..."
	}
	return l.fail(CodeSyntax, start, end, "Syntax error, incorrect syntax near '"+word+"'.")
}

func (l *lexer) endOfText() *SyntaxError {
	return l.fail(CodeUnexpectedEnd, len(l.text), len(l.text), "Syntax error, unexpected end-of-file.")
}

// skip steps over white space and comments.
func (l *lexer) skip() error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.HasPrefix(rest, "--"):
			if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
				l.at += end
			} else {
				l.at = len(l.text)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return l.endOfText()
			}
			l.at += end + 4
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\uFEFF' {
				return nil
			}
			l.at += size
		}
	}
	return nil
}

// next reads one token. At the end of the text it returns tokenEnd, again and again.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	start := l.at
	if start >= len(l.text) {
		return token{kind: tokenEnd, Location: Location{Start: start, End: start}}, nil
	}
	r, size := utf8.DecodeRuneInString(l.text[start:])
	switch {
	case isNameStart(r):
		return l.name(), nil
	case r == '@':
		l.at++
		l.nameParts()
		if l.at == start+1 {
			return token{}, l.near(start, l.at)
		}
		return l.made(tokenParameter, start), nil
	case r == '"' || r == '\'':
		return l.str(byte(r))
	case isDigit(l.text[start]), r == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.numeral()
	}
	if n := symbolLength(l.text[start:]); n > 0 {
		l.at += n
		return l.made(tokenSymbol, start), nil
	}
	return token{}, l.near(start, start+size)
}

func (l *lexer) made(kind tokenKind, start int) token {
	return token{kind: kind, Location: Location{Start: start, End: l.at}, text: l.text[start:l.at]}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHexDigit(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// symbolLength returns the length of the longest symbol that begins the text, or 0.
func symbolLength(text string) int {
	for _, symbol := range []string{">>>", "<<", ">>", "<=", ">=", "<>", "!=", "??", "||"} {
		if strings.HasPrefix(text, symbol) {
			return len(symbol)
		}
	}
	if strings.IndexByte("=<>+-*/%~&|^?:.,()[]{}", text[0]) >= 0 {
		return 1
	}
	return 0
}

func (l *lexer) nameParts() {
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !isNamePart(r) {
			return
		}
		l.at += size
	}
}

func (l *lexer) name() token {
	start := l.at
	l.nameParts()
	t := l.made(tokenName, start)
	if word, ok := keyword(t.text); ok {
		t.kind, t.text = tokenKeyword, word
	}
	return t
}

func (l *lexer) digits() {
	for l.at < len(l.text) && isDigit(l.text[l.at]) {
		l.at++
	}
}

func (l *lexer) numeral() (token, error) {
	start := l.at
	if rest := l.text[l.at:]; len(rest) > 1 && rest[0] == '0' && rest[1]|0x20 == 'x' {
		return l.hexadecimal()
	}
	l.digits()
	if l.at < len(l.text) && l.text[l.at] == '.' {
		l.at++
		l.digits()
	}
	if l.at < len(l.text) && l.text[l.at]|0x20 == 'e' {
		mark := l.at
		l.at++
		if l.at < len(l.text) && (l.text[l.at] == '+' || l.text[l.at] == '-') {
			l.at++
		}
		digits := l.at
		l.digits()
		if l.at == digits {
			return token{}, l.near(mark, l.at)
		}
	}
	return l.number(start, l.text[start:l.at])
}

// hexadecimal reads 0x and one or more digits, whose value becomes a double like that of any other number.
func (l *lexer) hexadecimal() (token, error) {
	start := l.at
	l.at += len("0x")
	for l.at < len(l.text) && isHexDigit(l.text[l.at]) {
		l.at++
	}
	const noExponent = "p0" // without one, the standard library takes no hexadecimal number
	return l.number(start, l.text[start:l.at]+noExponent)
}

// number makes the token that began at start, from its text as the standard library spells it.
func (l *lexer) number(start int, spelled string) (token, error) {
	t := l.made(tokenNumber, start)
	f, err := strconv.ParseFloat(spelled, 64)
	if err != nil || math.IsInf(f, 0) {
		return token{}, l.near(start, l.at)
	}
	// 12abc is no number followed by a name.
	if r, size := utf8.DecodeRuneInString(l.text[l.at:]); isNameStart(r) {
		return token{}, l.near(l.at, l.at+size)
	}
	t.number = f
	return t, nil
}

func (l *lexer) str(quote byte) (token, error) {
	start := l.at
	l.at++
	rest := l.text[l.at:]
	if end := strings.IndexByte(rest, quote); end >= 0 && strings.IndexByte(rest[:end], '\\') < 0 {
		l.at += end + 1
		t := l.made(tokenString, start)
		t.text = rest[:end]
		return t, nil
	}
	var out []byte
	for l.at < len(l.text) {
		switch c := l.text[l.at]; c {
		case quote:
			l.at++
			t := l.made(tokenString, start)
			t.text = string(out)
			return t, nil
		case '\\':
			var err error
			if out, err = l.escape(out); err != nil {
				return token{}, err
			}
		default:
			out = append(out, c)
			l.at++
		}
	}
	return token{}, l.endOfText()
}

func (l *lexer) escape(out []byte) ([]byte, error) {
	start := l.at
	l.at++
	if l.at >= len(l.text) {
		return nil, l.endOfText()
	}
	c := l.text[l.at]
	if c == 'u' {
		return l.unicodeEscape(out)
	}
	plain := strings.IndexByte(`"'\/bfnrt`, c)
	if plain < 0 {
		_, size := utf8.DecodeRuneInString(l.text[l.at:])
		return nil, l.near(start, l.at+size)
	}
	l.at++
	return append(out, "\"'\\/\b\f\n\r\t"[plain]), nil
}

// unicodeEscape reads \uXXXX, and a second one that completes a surrogate pair. A lone surrogate becomes U+FFFD.
func (l *lexer) unicodeEscape(out []byte) ([]byte, error) {
	unit := func(at int) (rune, bool) {
		if at+4 > len(l.text) {
			return 0, false
		}
		n, err := strconv.ParseUint(l.text[at:at+4], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(l.at + 1)
	if !ok {
		return nil, l.near(l.at-1, l.at+1)
	}
	l.at += 5
	if utf16.IsSurrogate(r) {
		high := r
		r = utf8.RuneError
		if strings.HasPrefix(l.text[l.at:], `\u`) {
			if low, lowOK := unit(l.at + 2); lowOK && utf16.DecodeRune(high, low) != utf8.RuneError {
				r = utf16.DecodeRune(high, low)
				l.at += 6
			}
		}
	}
	return utf8.AppendRune(out, r), nil
}
