package codec

import "github.com/go-json-experiment/json/jsontext"

// AppendText appends a JSON string. What is no valid text is written with
// replacement characters, as encoding/json does.
func AppendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // it fails for invalid text only
	return dst
}

// EscapeText returns text for the inside of a JSON string.
func EscapeText(s string) string {
	for i := range len(s) {
		if !isPlain[s[i]] {
			quoted := AppendText(nil, s)
			return string(quoted[1 : len(quoted)-1])
		}
	}
	return s
}
