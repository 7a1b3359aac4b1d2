package sql

import (
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxCount is the greatest count of TOP, OFFSET and LIMIT.
const maxCount = math.MaxInt32

// Resolve returns the count, which is at least 0. A parameter is looked up by its name with the @; the error is a
// [*SyntaxError] when the parameter is missing or holds anything but an integer from 0 to 2147483647.
func (c *Count) Resolve(parameters map[string]value.Value) (int, error) {
	if c.Parameter == "" {
		return int(c.Constant), nil
	}
	f, ok := parameters[c.Parameter].Number()
	if !ok {
		f = math.NaN()
	}
	n, err := c.check(f)
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

func (c *Count) check(f float64) (int32, error) {
	code := CodeTopCount
	switch c.Clause {
	case Offset:
		code = CodeOffsetCount
	case Limit:
		code = CodeLimitCount
	case Top:
	}
	message := ""
	switch {
	case f != math.Trunc(f) || f < 0: // NaN is caught here
		message = "The " + string(c.Clause) + " count must be a non-negative integer."
	case f > maxCount:
		message = "The " + string(c.Clause) + " count exceeds the maximum allowed value of 2147483647."
	default:
		return int32(f), nil
	}
	return 0, &SyntaxError{Code: code, Start: c.Start, End: c.End, Message: message}
}
