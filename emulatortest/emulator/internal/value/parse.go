package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deeply arrays and objects may nest, the service's limit for documents.
const MaxDepth = 128

// SyntaxError says where and why a text is not JSON. It never quotes the text.
type SyntaxError struct {
	Offset int    // byte offset of the first character that can't stand there
	Reason string // lower-case, without a final stop
}

// Error returns the reason and the offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// Parse reads exactly one JSON value with optional white space around it. It is strict (RFC 8259): no comments, trailing
// commas, leading zeros or byte-order mark; the text must be valid UTF-8 and nest no deeper than [MaxDepth]. An escaped
// lone surrogate becomes U+FFFD. Of members with one name the last value stands, in the first one's position. The bytes
// are not kept. Every error is a [*SyntaxError].
func Parse(b []byte) (Value, error) {
	// One copy of the whole text; names and strings without escapes are slices of it.
	return ParseString(string(b))
}

// ParseString is [Parse] for a string. The value may keep the string alive.
func ParseString(text string) (Value, error) {
	if !utf8.ValidString(text) {
		return Value{}, &SyntaxError{Offset: invalidUTF8(text), Reason: "the text is not valid UTF-8"}
	}
	const usual = 16 // most documents and their arrays fit, and then the stacks need no heap
	p := parser{text: text, elements: make([]Value, 0, usual), members: make([]Member, 0, usual)}
	p.skipSpace()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.skipSpace()
	if p.at < len(p.text) {
		return Value{}, p.fail("more text after the value")
	}
	return v, nil
}

func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return len(text)
}

type parser struct {
	text string
	at   int
	// Children are gathered on these stacks and copied out once their number is known: one allocation for each array or
	// object, of exactly its size.
	elements []Value
	members  []Member
}

func (p *parser) fail(reason string) *SyntaxError { return &SyntaxError{Offset: p.at, Reason: reason} }

func (p *parser) skipSpace() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\n', '\t', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if p.at >= len(p.text) {
		return Value{}, p.fail("unexpected end")
	}
	switch c := p.text[p.at]; c {
	case '"':
		s, err := p.str()
		if err != nil {
			return Value{}, err
		}
		return FromString(s), nil
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	case 't':
		return p.word("true", FromBool(true))
	case 'f':
		return p.word("false", FromBool(false))
	case 'n':
		return p.word("null", NullValue())
	default:
		if c == '-' || isDigit(c) {
			return p.number()
		}
		return Value{}, p.fail("a value was expected")
	}
}

func (p *parser) word(word string, v Value) (Value, error) {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return Value{}, p.fail("a value was expected")
	}
	p.at += len(word)
	return v, nil
}

func (p *parser) array(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, p.fail("nested too deeply")
	}
	p.at++
	base := len(p.elements)
	for p.skipSpace(); ; p.skipSpace() {
		if p.at < len(p.text) && p.text[p.at] == ']' && len(p.elements) == base {
			break
		}
		v, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		p.elements = append(p.elements, v)
		more, err := p.separator(']')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	p.at++
	own := make([]Value, len(p.elements)-base)
	copy(own, p.elements[base:])
	p.elements = p.elements[:base]
	return FromArray(own), nil
}

func (p *parser) object(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, p.fail("nested too deeply")
	}
	p.at++
	base := len(p.members)
	for p.skipSpace(); ; p.skipSpace() {
		if p.at < len(p.text) && p.text[p.at] == '}' && len(p.members) == base {
			break
		}
		m, err := p.member(depth)
		if err != nil {
			return Value{}, err
		}
		p.members = append(p.members, m)
		more, err := p.separator('}')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	p.at++
	unique := uniqueMembers(p.members[base:])
	own := make([]Member, len(unique))
	copy(own, unique)
	p.members = p.members[:base]
	return fromDefined(own), nil
}

func (p *parser) member(depth int) (Member, error) {
	if p.at >= len(p.text) || p.text[p.at] != '"' {
		return Member{}, p.fail("a member name in double quotes was expected")
	}
	name, err := p.str()
	if err != nil {
		return Member{}, err
	}
	p.skipSpace()
	if p.at >= len(p.text) || p.text[p.at] != ':' {
		return Member{}, p.fail("a colon was expected")
	}
	p.at++
	p.skipSpace()
	v, err := p.value(depth)
	return Member{Name: name, Value: v}, err
}

// separator steps over a comma and reports true, or stays on the closing character and reports false.
func (p *parser) separator(closing byte) (more bool, err error) {
	p.skipSpace()
	if p.at < len(p.text) {
		switch p.text[p.at] {
		case ',':
			p.at++
			return true, nil
		case closing:
			return false, nil
		}
	}
	return false, p.fail("a comma or '" + string(closing) + "' was expected")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) digits() (some bool) {
	start := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	return p.at > start
}

func (p *parser) number() (Value, error) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '0' {
		p.at++
	} else if !p.digits() {
		return Value{}, p.fail("a digit was expected")
	}
	whole := true
	if p.at < len(p.text) && p.text[p.at] == '.' {
		whole = false
		p.at++
		if !p.digits() {
			return Value{}, p.fail("a digit was expected")
		}
	}
	if p.at < len(p.text) && p.text[p.at]|0x20 == 'e' {
		whole = false
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if !p.digits() {
			return Value{}, p.fail("a digit was expected")
		}
	}
	if f, ok := smallInteger(p.text[start:p.at]); ok && whole {
		return FromNumber(f), nil
	}
	f, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil || math.IsInf(f, 0) {
		p.at = start
		return Value{}, p.fail("the number is outside the range of a double")
	}
	return FromNumber(f + 0), nil // -0.0 becomes 0
}

// smallInteger converts integers that fit a double exactly, without the general and slower conversion.
func smallInteger(digits string) (float64, bool) {
	const exactDigits = 15
	unsigned := strings.TrimPrefix(digits, "-")
	if len(unsigned) > exactDigits {
		return 0, false
	}
	n := int64(0)
	for i := range len(unsigned) {
		n = n*10 + int64(unsigned[i]-'0')
	}
	if len(unsigned) < len(digits) {
		n = -n // -0 becomes 0, which the service takes it for
	}
	return float64(n), true
}

// str reads a string whose opening quote is the current character.
func (p *parser) str() (string, error) {
	p.at++
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			s := p.text[start:p.at]
			p.at++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped")
		}
	}
	return "", p.fail("unexpected end in a string")
}

// escaped finishes a string that began at start, from its first backslash on.
func (p *parser) escaped(start int) (string, error) {
	out := append(make([]byte, 0, p.at-start+32), p.text[start:p.at]...)
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(out), nil
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped")
		case c != '\\':
			out = append(out, c)
			p.at++
		default:
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail("unexpected end in a string")
}

func (p *parser) escape(out []byte) ([]byte, error) {
	p.at++ // the backslash
	if p.at >= len(p.text) {
		return nil, p.fail("unexpected end in a string")
	}
	c := p.text[p.at]
	if c == 'u' {
		return p.unicodeEscape(out)
	}
	plain := strings.IndexByte(`"\/bfnrt`, c)
	if plain < 0 {
		return nil, p.fail("unknown escape in a string")
	}
	p.at++
	return append(out, "\"\\/\b\f\n\r\t"[plain]), nil
}

func (p *parser) unicodeEscape(out []byte) ([]byte, error) {
	r, ok := p.hex4(p.at + 1)
	if !ok {
		return nil, p.fail("four hexadecimal digits were expected after \\u")
	}
	p.at += 5
	if utf16.IsSurrogate(r) {
		pair := rune(utf8.RuneError)
		if strings.HasPrefix(p.text[p.at:], `\u`) {
			if low, lowOK := p.hex4(p.at + 2); lowOK {
				pair = utf16.DecodeRune(r, low)
			}
		}
		if pair != utf8.RuneError {
			p.at += 6
		}
		r = pair
	}
	return utf8.AppendRune(out, r), nil
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	var r rune
	for i := at; i < at+4; i++ {
		switch c := p.text[i]; {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
