package codec

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// How times, numbers and integers are stored, and which are refused, is decided here; what stored ones
// are read into, in read_plan_scalar.go. The fields of a struct are written in writer.go (makeWritePlan), and where that
// gives up, by the library with the options in codec.go, which are the other differences from encoding/json. A []byte is base64 text, as encoding/json has it.

// timeLayout is the form of a time that the service's own date functions read
// and write. It sorts as text as the times do.
// Source: Microsoft Learn, "GetCurrentDateTime (NoSQL query)".
const timeLayout = "2006-01-02T15:04:05.0000000Z"

// AppendTime appends the stored form of a time, without quotes. What lies
// below 100 ns is cut off. It reports false for a year that has not four
// digits in UTC.
func AppendTime(dst []byte, t time.Time) ([]byte, bool) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return dst, false
	}
	return t.AppendFormat(dst, timeLayout), true
}

func writeTime(enc *jsontext.Encoder, t time.Time) error {
	b, ok := AppendTime(append(enc.AvailableBuffer(), '"'), t)
	if !ok {
		return &ValueError{Reason: "a time's year has not four digits in UTC"}
	}
	return enc.WriteValue(append(b, '"'))
}

// writeNumber writes a json.Number as encoding/json does: a number, but text
// as a name and under the tag option "string". The empty one is 0.
func writeNumber(enc *jsontext.Encoder, n json.Number) error {
	if atName(enc.StackIndex(enc.StackDepth())) {
		return enc.WriteToken(jsontext.String(string(n)))
	}
	text := []byte(n)
	if n == "" {
		text = []byte("0")
	}
	if !isNumber(text) {
		return &ValueError{Reason: "a json.Number holds no number"}
	}
	if isQuoted(enc.Options()) {
		text = append(append([]byte{'"'}, text...), '"')
	}
	return enc.WriteValue(text)
}

// readNumber takes a number as it is written, and text that holds one, as
// encoding/json does.
func readNumber(dec *jsontext.Decoder, n *json.Number) error {
	isName := atName(dec.StackIndex(dec.StackDepth()))
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch value.Kind() {
	case 'n':
		return nil
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return err
		}
		if !isName && !isNumber(text) {
			return &ValueError{Reason: "the text holds no number"}
		}
		*n = json.Number(text)
		return nil
	case '0':
		if isQuoted(dec.Options()) {
			return &ValueError{Reason: "a number stands where text is stored"}
		}
		*n = json.Number(value)
		return nil
	}
	return &ValueError{Reason: "the JSON holds no number"}
}

// isNumber reports whether text is a JSON number and nothing else.
func isNumber(text []byte) bool {
	r := reader{data: text}
	return r.number() && r.pos == len(text)
}

func isQuoted(o jsonv2.Options) bool {
	quoted, _ := jsonv2.GetOption(o, jsonv2.StringifyNumbers)
	return quoted
}

func atName(kind jsontext.Kind, length int64) bool { return kind == '{' && length%2 == 0 }

// MaxInteger is the largest whole number that the service keeps as one. From
// 2^53 on it stores the nearest double and returns it in scientific notation,
// which no integer of Go reads: a document in which something else wrote one is a
// [ValueError] for its reader (read_plan_scalar.go), which hides no other document.
const MaxInteger = 1<<53 - 1

// checkIntegers refuses integers beyond MaxInteger in what v was written as.
// That takes 16 digits in a row, which are looked for first.
func checkIntegers(v any, encoded []byte) error {
	if !hasDigits(encoded, 16) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(encoded), jsontext.AllowDuplicateNames(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil //nolint:nilerr // the end: it was written a moment ago
		}
		if token.Kind() != '0' || fitsDouble(token.String()) {
			continue
		}
		pointer := string(d.StackPointer())
		if isFloat(valueAt(reflect.ValueOf(v), tokensOf(pointer))) {
			continue
		}
		return &ValueError{
			Path:   PathIn(reflect.TypeOf(v), pointer),
			Reason: "an integer lies beyond 2^53, where the service keeps another number,",
			Hint:   `store it as text: with the tag option json:",string", or in a string`,
		}
	}
}

// fitsDouble reports whether a number is no integer beyond MaxInteger.
func fitsDouble(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) < 16 || strings.ContainsAny(digits, ".eE") {
		return true
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return err == nil && n <= MaxInteger
}

func isFloat(v reflect.Value) bool { return v.IsValid() && v.CanFloat() }

// hasDigits reports whether n digits follow one another anywhere. It looks at
// every n-th byte, since each such run covers one of those.
func hasDigits(b []byte, n int) bool {
	for i := n - 1; i < len(b); i += n {
		if b[i]-'0' > 9 {
			continue
		}
		low, high := i, i+1
		for low > 0 && b[low-1]-'0' <= 9 {
			low--
		}
		for high < len(b) && b[high]-'0' <= 9 {
			high++
		}
		if high-low >= n {
			return true
		}
		i = high
	}
	return false
}

// Whole returns a number that a key or a document may hold: without a sign on
// zero, which the service drops.
func Whole(f float64) float64 {
	if f == 0 {
		return math.Abs(f)
	}
	return f
}
