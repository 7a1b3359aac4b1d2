package store

import (
	"bytes"
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// normalize returns a text as the service keeps it: without the white space between tokens, and with every number as the
// double that it stands for, so that 1.0 reads as 1 and integers from 2^53 on lose their last digits. It returns the slice
// itself when there is nothing to change. The text must have passed value.Parse.
func normalize(text []byte) []byte {
	at := firstChange(text)
	if at == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	for at < len(text) {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '"':
			end := skipString(text, at)
			out = append(out, text[at:end]...)
			at = end
		case startsNumber(c):
			end := skipNumber(text, at)
			out = appendNumber(out, text[at:end])
			at = end
		default:
			out = append(out, c)
			at++
		}
	}
	return out
}

// firstChange returns where the first token begins that is not kept as it is.
func firstChange(text []byte) int {
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			return at
		case c == '"':
			at = skipString(text, at)
		case startsNumber(c):
			end := skipNumber(text, at)
			if !isPlain(text[at:end]) {
				return at
			}
			at = end
		default:
			at++
		}
	}
	return len(text)
}

func startsNumber(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

func skipNumber(text []byte, at int) int {
	for at < len(text) && (startsNumber(text[at]) || text[at] == '.' || text[at] == '+' || text[at]|0x20 == 'e') {
		at++
	}
	return at
}

// isPlain reports whether a number is surely written as it is kept: few digits and nothing else.
func isPlain(number []byte) bool {
	const exactDigits = 15
	digits := bytes.TrimPrefix(number, []byte("-"))
	return len(digits) <= exactDigits && bytes.IndexByte(number, '.') < 0 && bytes.IndexByte(number, 'e') < 0 &&
		bytes.IndexByte(number, 'E') < 0 && !bytes.Equal(number, []byte("-0"))
}

func appendNumber(dst, number []byte) []byte {
	if isPlain(number) {
		return append(dst, number...)
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil { // it was parsed before
		return append(dst, number...)
	}
	return value.AppendNumber(dst, f)
}
