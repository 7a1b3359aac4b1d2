package eval

import (
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// debit is what a call of a function takes from the limits of its request (limits.go, meter.go) for each byte of the strings
// and each element of the arrays that it is given, before it runs. It has nothing to do with request units. A function whose cost doesn't grow with those alone debits the rest by itself.
type debit struct {
	steps int
	bytes int // that it builds; 0 for functions that give parts of what they are given
	// deep is for functions that walk their arguments to the last part.
	deep bool
}

// debitOf returns what a function debits, which is built in.
func debitOf(name string) debit {
	const (
		copied    = 2  // a copy, with room for letters that grow
		asRunes   = 8  // a copy as runes and the result
		elements  = 32 // a list of values, or a list of numbers taken out of values
		distinct  = 2 * SetBytes
		decoded   = 4 // besides the values that are counted by themselves
		formatted = 16
	)
	switch strings.ToUpper(name) {
	case "LOWER", "UPPER", "CONTAINS", "ENDSWITH", "STARTSWITH", "STRINGEQUALS", "CONTAINS_ALL_CI", "CONTAINS_ANY_CI":
		return debit{steps: 10, bytes: copied}
	case "REVERSE", "LTRIM", "RTRIM", "TRIM":
		return debit{steps: 10, bytes: asRunes}
	case "STRINGTOARRAY", "STRINGTOBOOLEAN", "STRINGTONULL", "STRINGTONUMBER", "STRINGTOOBJECT":
		return debit{steps: 10, bytes: decoded}
	case "TOSTRING":
		return debit{steps: 10, bytes: formatted, deep: true}
	case "ARRAY_AVG", "ARRAY_MEDIAN", "ARRAY_SUM", "ARRAY_SLICE", "VECTORDISTANCE", "_VECTORSCORE":
		return debit{steps: 20, bytes: elements}
	case "SETDIFFERENCE", "SETEQUAL", "SETINTERSECT", "SETUNION":
		return debit{steps: 100, bytes: distinct, deep: true}
	case "DATETIMEFORMAT":
		return debit{steps: 20, bytes: formatted}
	case "FULLTEXTCONTAINS", "FULLTEXTCONTAINSALL", "FULLTEXTCONTAINSANY", "_FULLTEXTSCORE", "_FULLTEXTWORDCOUNT":
		return debit{steps: 20, bytes: elements}
	}
	return debit{steps: 1}
}

// take debits a call and reports whether it may be made.
func (p debit) take(r *run, args []value.Value) bool {
	size := 1
	for _, a := range args {
		if p.deep && !r.walks(a) {
			return false
		}
		text, _ := a.Str()
		elements, _ := a.Array()
		members, _ := a.Members()
		size += 1 + len(text) + len(elements) + len(members)
	}
	if p.deep && p.bytes > 0 && len(args) == 1 { // what is printed whole
		size = sizeUpTo(args[0], r.env.Limits.Text)
	}
	return r.work(p.steps*size) && (p.bytes == 0 || r.hold(p.bytes*size))
}
