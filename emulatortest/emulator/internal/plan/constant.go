package plan

import (
	"context"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxFolded bounds how many expressions are looked at for being constants.
const maxFolded = 20_000

// constant computes an expression that is the same for every item, and reports whether it is one. Functions of the clock
// and of chance are none, and neither are parameters without a value.
func (f *finder) constant(e sql.Expr) (value.Value, bool) {
	switch e := e.(type) {
	case *sql.Literal:
		return e.Value, true
	case *sql.Parameter:
		v, ok := f.parameters[e.Name]
		return v, ok
	default:
	}
	if f.folded++; f.folded > maxFolded || !f.isConstant(e) {
		return value.Value{}, false
	}
	program, err := eval.Compile(&sql.Query{Select: sql.SelectSpec{Kind: sql.SelectValue, Items: []sql.SelectItem{{Expr: e}}}})
	if err != nil {
		return value.Value{}, false
	}
	// A plan is no place for long computations: what takes one is left to the partitions.
	const most = 100_000
	run := program.NewRun(context.Background(), eval.Env{
		Parameters: f.parameters, Planar: f.container.Planar, Now: func() time.Time { return time.Time{} },
		Limits: eval.Limits{Rows: most, Text: most, Bytes: 10 * most, Steps: most},
	})
	var result value.Value
	err = run.Item(value.Value{}, func(r eval.Row) bool {
		result, _, _ = r.Value() // the run keeps the error
		return false
	})
	return result, err == nil
}

func (f *finder) isConstant(e sql.Expr) bool {
	same := true
	sql.Walk(e, func(part sql.Expr) bool {
		switch part := part.(type) {
		case *sql.Identifier:
			same = false
		case *sql.Parameter:
			_, bound := f.parameters[part.Name]
			same = same && bound
		case *sql.Call:
			same = same && !part.UserDefined && !sql.IsAggregate(part) && !volatile(part.Name)
		default:
			same = same && sql.Subquery(part) == nil
		}
		return same
	})
	return same
}

// volatile reports whether a function gives another value each time or at another time.
func volatile(name string) bool {
	switch name {
	case "RAND", "Ago", "DocumentId", "GetCurrentDateTime", "GetCurrentDateTimeStatic", "GetCurrentTicks", "GetCurrentTicksStatic",
		"GetCurrentTimestamp", "GetCurrentTimestampStatic", "Now":
		return true
	}
	return false
}
