package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reader goes through the JSON of one document.
type reader struct {
	data    []byte
	pos     int
	depth   int
	aside   func(name []byte) Aside
	extra   Extra
	met     [][]byte // unknown names of the objects that are open
	strings []string
	arena   strings.Builder
	used    int // bytes of text in this document
	usual   int // and in the one before
	// unescaped is the text of the last string that had escapes.
	unescaped []byte
}

// Strings of one document are cut from one piece of memory, which saves most
// allocations. A piece is small, so that a string that is kept for long does
// not hold much else.
const (
	maxPiece = 4 << 10
	maxCut   = 1 << 10
)

// keep copies text out of the page.
func (r *reader) keep(raw []byte) string {
	r.used += len(raw)
	switch {
	case len(raw) == 0:
		return ""
	case len(raw) > maxCut:
		return string(raw)
	}
	if r.arena.Cap()-r.arena.Len() < len(raw) {
		r.arena = strings.Builder{}
		r.arena.Grow(min(max(r.usual-r.used+len(raw), 2*len(raw), 64), maxPiece))
	}
	from := r.arena.Len()
	r.arena.Write(raw)
	return r.arena.String()[from:]
}

// begin makes the reader ready for the next document.
func (r *reader) begin() {
	r.usual, r.used = r.used, 0
	r.arena = strings.Builder{}
	r.extra = Extra{}
	r.met = r.met[:0]
	r.depth = 0
}

func (r *reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\n', '\t', '\r':
			r.pos++
		default:
			return
		}
	}
}

// next takes one character behind white space.
func (r *reader) next(c byte) bool {
	if r.pos < len(r.data) && r.data[r.pos] == c {
		r.pos++
		return true
	}
	r.space()
	if r.pos < len(r.data) && r.data[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// element moves to the n-th element or member, or behind the end.
func (r *reader) element(n int, end byte) (more, ok bool) {
	if r.next(end) {
		return false, true
	}
	if n > 0 && !r.next(',') {
		return false, false
	}
	r.space()
	return true, n == 0 || r.pos < len(r.data) && r.data[r.pos] != end
}

func (r *reader) literal(word string) bool {
	r.space()
	if len(r.data)-r.pos >= len(word) && string(r.data[r.pos:r.pos+len(word)]) == word {
		r.pos += len(word)
		return true
	}
	return false
}

func (r *reader) null() bool {
	r.space()
	return r.pos < len(r.data) && r.data[r.pos] == 'n' && r.literal("null")
}

// isPlain holds the bytes that stand for themselves in a JSON string.
var isPlain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// Eight bytes at a time: every byte of these words is the same.
const (
	eachOne  = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// plainRun is how many of eight bytes, from the lowest on, are plain: a byte is
// not if it is a quote, a backslash, below 0x20 or above 0x7f. The subtractions
// borrow only from bytes above the first that is not, so that this one is exact.
func plainRun(word uint64) int {
	special := word | (word - 0x20*eachOne) | ((word ^ '"'*eachOne) - eachOne) | ((word ^ '\\'*eachOne) - eachOne)
	return bits.TrailingZeros64(special&eachHigh) / 8
}

// quoted takes a string and returns what stands between the quotes; plain says
// that it is valid as it stands, without escapes.
func (r *reader) quoted() (raw []byte, plain, ok bool) {
	if !r.next('"') {
		return nil, false, false
	}
	from, i := r.pos, r.pos
	plain, ascii := true, true
	for i < len(r.data) {
		if len(r.data)-i >= 8 {
			run := plainRun(binary.LittleEndian.Uint64(r.data[i:]))
			if i += run; run == 8 {
				continue
			}
		}
		c := r.data[i]
		switch {
		case isPlain[c]:
			i++
		case c == '"':
			r.pos = i + 1
			raw = r.data[from:i]
			return raw, plain && (ascii || utf8.Valid(raw)), true
		case c == '\\':
			plain = false
			i += 2
		case c >= 0x80:
			ascii = false
			for i++; i < len(r.data) && r.data[i] >= 0x80; i++ {
			}
		default:
			return nil, false, false
		}
	}
	return nil, false, false
}

// text takes a string.
func (r *reader) text() (string, bool) {
	raw, plain, ok := r.quoted()
	switch {
	case !ok:
		return "", false
	case plain:
		return r.keep(raw), true
	}
	if r.unescape(raw) {
		return r.keep(r.unescaped), true
	}
	var s string
	err := Decode(r.data[r.pos-len(raw)-2:r.pos], &s)
	return s, err == nil
}

// shortEscapes are the characters that two-character escapes stand for.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape puts the text of a string with escapes into r.unescaped. It gives up
// on what is not valid, and on halves of surrogate pairs.
func (r *reader) unescape(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	out := r.unescaped[:0]
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			out = append(out, raw...)
			r.unescaped = out
			return true
		}
		out = append(out, raw[:at]...)
		if raw = raw[at+1:]; len(raw) == 0 {
			return false
		}
		c := raw[0]
		raw = raw[1:]
		if c != 'u' {
			if shortEscapes[c] == 0 {
				return false
			}
			out = append(out, shortEscapes[c])
			continue
		}
		char, ok := hexDigits(raw)
		if !ok {
			return false
		}
		raw = raw[4:]
		if utf16.IsSurrogate(char) {
			if !bytes.HasPrefix(raw, []byte(`\u`)) {
				return false
			}
			low, ok := hexDigits(raw[2:])
			if char = utf16.DecodeRune(char, low); !ok || char == utf8.RuneError {
				return false
			}
			raw = raw[6:]
		}
		out = utf8.AppendRune(out, char)
	}
}

// hexDigits reads the four digits of an escape.
func hexDigits(raw []byte) (rune, bool) {
	if len(raw) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[:4]), 16, 16)
	return rune(n), err == nil
}

// integer takes a whole number without exponent.
func (r *reader) integer() (n uint64, negative, ok bool) {
	from := r.pos
	if !r.number() {
		return 0, false, false
	}
	digits := r.data[from:r.pos]
	if digits[0] == '-' {
		negative, digits = true, digits[1:]
	}
	if len(digits) > 18 {
		return 0, false, false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, negative, true
}

// number passes a number by the grammar of JSON.
func (r *reader) number() bool {
	i := r.pos
	if i < len(r.data) && r.data[i] == '-' {
		i++
	}
	if i < len(r.data) && r.data[i] == '0' {
		i++
	} else if i = r.digits(i); i < 0 {
		return false
	}
	if i < len(r.data) && r.data[i] == '.' {
		if i = r.digits(i + 1); i < 0 {
			return false
		}
	}
	if i < len(r.data) && r.data[i]|0x20 == 'e' {
		if i++; i < len(r.data) && (r.data[i] == '+' || r.data[i] == '-') {
			i++
		}
		if i = r.digits(i); i < 0 {
			return false
		}
	}
	r.pos = i
	return true
}

// digits passes at least one digit and returns what lies behind, or -1.
func (r *reader) digits(from int) int {
	i := from
	for i < len(r.data) && r.data[i]-'0' <= 9 {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// maxDepth bounds the nesting that is followed here. The service's limit is 128.
const maxDepth = 1000

// skip passes one value. strict gives up on text that is not valid, too.
func (r *reader) skip(strict bool) bool { return r.skipValue(strict, 0) }

func (r *reader) skipValue(strict bool, depth int) bool {
	r.space()
	if r.pos == len(r.data) || depth > maxDepth {
		return false
	}
	switch c := r.data[r.pos]; c {
	case '"':
		return r.skipString(strict)
	case '{', '[':
		r.pos++
		for n := 0; ; n++ {
			more, ok := r.element(n, c+2) // '{' and '}', '[' and ']' lie two apart
			if !ok || !more {
				return ok
			}
			if c == '{' && (!r.skipString(strict) || !r.next(':')) {
				return false
			}
			if !r.skipValue(strict, depth+1) {
				return false
			}
		}
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	}
	return r.number()
}

func (r *reader) skipString(strict bool) bool {
	raw, plain, ok := r.quoted()
	if !ok || plain || !strict {
		return ok
	}
	var s string
	return Decode(r.data[r.pos-len(raw)-2:r.pos], &s) == nil
}
