package eval

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxUserDefined is how many calls of user-defined functions a query may hold (maxUdfRefPerSqlQuery).
const maxUserDefined = 10

// UserDefined calls a user-defined function by its name without udf.
type UserDefined func(name string, args []value.Value) (value.Value, error)

type userDefinedKey struct{}

// WithUserDefined gives the runs under a context the functions of a container. Without them calls are refused.
func WithUserDefined(ctx context.Context, call UserDefined) context.Context {
	return context.WithValue(ctx, userDefinedKey{}, call)
}

// userDefined compiles udf.name(...). Which functions there are is known when the query runs.
func (c *compiler) userDefined(e *sql.Call, in *scope) node {
	if c.userDefinedCalls++; c.userDefinedCalls > maxUserDefined {
		return c.fail(&Error{Message: fmt.Sprintf("The query calls more than %d user-defined functions, the most that one query may.", maxUserDefined)})
	}
	args := c.exprs(e.Args, in)
	name := e.Name
	return func(r *run) value.Value {
		call, ok := r.meter.ctx.Value(userDefinedKey{}).(UserDefined)
		if !ok {
			r.fail(unsupported("user-defined functions (udf." + name + ")"))
		}
		if r.err != nil {
			return value.Value{}
		}
		values := make([]value.Value, len(args))
		for i, n := range args {
			values[i] = n(r)
		}
		result, err := call(name, values)
		if err != nil {
			r.fail(err)
		}
		return result
	}
}
