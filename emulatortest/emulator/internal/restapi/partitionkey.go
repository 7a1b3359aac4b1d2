package restapi

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// errKeyHeader says that a partition key header is not an array of strings, numbers, Booleans, nulls or {}.
var errKeyHeader = errors.New("the partition key in x-ms-documentdb-partitionkey is not a JSON array of strings, numbers, Booleans, nulls or {}")

// maxKeyHeaderComponents is far above the three levels that a container may have: the store says how many are too many.
const maxKeyHeaderComponents = 16

// parsePartitionKey reads a partition key header: one entry for each path of the container, {} standing for a
// missing value (undefined). The Go SDK quotes strings as Go source, so the escapes of Go are understood beside those of JSON.
func parsePartitionKey(header string) ([]epk.Component, error) {
	p := keyParser{text: header}
	p.space()
	if !p.take('[') {
		return nil, errKeyHeader
	}
	components := []epk.Component{}
	p.space()
	if p.take(']') {
		return components, p.end()
	}
	for {
		component, err := p.component()
		if err != nil {
			return nil, err
		}
		if components = append(components, component); len(components) > maxKeyHeaderComponents {
			return nil, errKeyHeader
		}
		p.space()
		switch {
		case p.take(','):
		case p.take(']'):
			return components, p.end()
		default:
			return nil, errKeyHeader
		}
	}
}

type keyParser struct {
	text string
	pos  int
}

func (p *keyParser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *keyParser) take(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *keyParser) end() error {
	p.space()
	if p.pos != len(p.text) {
		return errKeyHeader
	}
	return nil
}

func (p *keyParser) component() (epk.Component, error) {
	p.space()
	switch {
	case p.word("null"):
		return epk.Null(), nil
	case p.word("true"):
		return epk.Bool(true), nil
	case p.word("false"):
		return epk.Bool(false), nil
	case p.take('{'):
		p.space()
		if !p.take('}') {
			return epk.Component{}, errKeyHeader
		}
		return epk.Undefined(), nil
	case p.take('"'):
		s, err := p.quoted()
		if err != nil {
			return epk.Component{}, err
		}
		return epk.String(s), nil
	}
	return p.number()
}

func (p *keyParser) word(w string) bool {
	if strings.HasPrefix(p.text[p.pos:], w) {
		p.pos += len(w)
		return true
	}
	return false
}

func (p *keyParser) number() (epk.Component, error) {
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte("+-.0123456789eE", p.text[p.pos]) >= 0 {
		p.pos++
	}
	// The alphabet above keeps out what ParseFloat accepts and JSON does not: hexadecimal, underscores, Inf and NaN.
	n, err := strconv.ParseFloat(p.text[start:p.pos], 64)
	if err != nil {
		return epk.Component{}, errKeyHeader
	}
	return epk.Number(n + 0), nil // -0 and 0 are one key
}

// quoted reads the rest of a string after its opening quote.
func (p *keyParser) quoted() (string, error) {
	var b strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch c {
		case '"':
			if !utf8.ValidString(b.String()) {
				return "", errKeyHeader
			}
			return b.String(), nil
		case '\\':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", errKeyHeader
}

func (p *keyParser) escape(b *strings.Builder) error {
	if p.pos >= len(p.text) {
		return errKeyHeader
	}
	c := p.text[p.pos]
	p.pos++
	if i := strings.IndexByte(`abfnrtv"\/'`, c); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v\"\\/'"[i])
		return nil
	}
	switch c {
	case 'x':
		n, err := p.hex(2)
		if err != nil {
			return err
		}
		b.WriteByte(byte(n)) // a lone byte of broken UTF-8 is found out at the closing quote
		return nil
	case 'U':
		n, err := p.hex(8)
		if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return errKeyHeader
		}
		b.WriteRune(rune(n))
		return nil
	case 'u':
		return p.unicode(b)
	}
	return errKeyHeader
}

// unicode reads the digits of \uXXXX, and of a second one where the first is half of a surrogate pair.
func (p *keyParser) unicode(b *strings.Builder) error {
	n, err := p.hex(4)
	if err != nil {
		return err
	}
	if n < 0xD800 || n > 0xDFFF {
		b.WriteRune(rune(n))
		return nil
	}
	if n >= 0xDC00 || !p.word(`\u`) {
		return errKeyHeader
	}
	low, err := p.hex(4)
	if err != nil || low < 0xDC00 || low > 0xDFFF {
		return errKeyHeader
	}
	b.WriteRune(rune(0x10000 + (n-0xD800)<<10 + (low - 0xDC00)))
	return nil
}

func (p *keyParser) hex(digits int) (uint64, error) {
	if p.pos+digits > len(p.text) {
		return 0, errKeyHeader
	}
	n, err := strconv.ParseUint(p.text[p.pos:p.pos+digits], 16, 32)
	if err != nil {
		return 0, errKeyHeader
	}
	p.pos += digits
	return n, nil
}
