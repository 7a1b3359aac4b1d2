package report

import (
	"context"
	"fmt"
)

const patternWidth = Width - 4 - 2*18

// Patterns begins a table that compares two ways to the same end.
func (r *Report) Patterns(name, one, other string) {
	fmt.Fprintf(r.out, "\n%s", r.styled(bold, pad("", patternWidth+4)+" "+pad(one, 17)+" "+other))
	r.head(pad(name, patternWidth+4) + " " + costHead + " " + costHead)
}

// Way is one way to an end: it says what it led to.
type Way func(ctx context.Context) (string, error)

// Measure counts what a way costs.
type Measure func(ctx context.Context, way Way) (result string, requests int64, units float64, err error)

// Compare goes both ways and prints what each cost. Both must lead to the same
// result.
func (r *Report) Compare(ctx context.Context, title, note string, measure Measure, one, other Way) error {
	var costs [2]cost
	var results [2]string
	for i, way := range []Way{one, other} {
		result, requests, units, err := measure(ctx, way)
		if err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
		costs[i], results[i] = costOf(requests, units), result
		r.rows = r.rows.plus(costs[i])
	}
	if results[0] != results[1] {
		return fmt.Errorf("%s: one way led to %q, the other to %q", title, results[0], results[1])
	}
	r.steps++
	fmt.Fprintf(r.out, "%3d %s %s %s\n", r.steps, pad(title, patternWidth), costs[0], costs[1])
	r.result(r.styled(green, "→"), results[0]+note)
	return nil
}
