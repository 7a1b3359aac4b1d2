package eval

// Positions and lengths of strings count UTF-16 units, as in the service: a character outside the basic multilingual plane
// is two of them. Half of such a character is no text; where a function cuts one in half, the half becomes U+FFFD.

// unitCount is the length of s.
func unitCount(s string) int {
	const continuation, fourBytes = 0x80, 0xF0
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != continuation {
			n++
		}
		if s[i] >= fourBytes {
			n++
		}
	}
	return n
}

// unitOffset returns where in s the character with the n-th unit begins, or the length of s when there is none. Inside says
// that the unit is the second one of that character.
func unitOffset(s string, n int) (at int, inside bool) {
	if n >= len(s) {
		return len(s), false
	}
	const basic = 0xFFFF
	for i, r := range s {
		if n <= 0 {
			return i, false
		}
		if n--; r > basic {
			if n == 0 {
				return i, true
			}
			n--
		}
	}
	return len(s), false
}

// units returns the part of s from one unit up to before another.
func units(s string, from, to int) string {
	if from = max(from, 0); from >= to {
		return ""
	}
	const pairBytes, half = 4, "\uFFFD"
	start, startInside := unitOffset(s, from)
	end, endInside := unitOffset(s, to)
	before, after := "", ""
	if startInside {
		before, start = half, start+pairBytes
	}
	if endInside {
		after = half
	}
	return before + s[start:end] + after
}
