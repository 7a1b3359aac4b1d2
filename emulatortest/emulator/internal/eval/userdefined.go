package eval

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxUserDefined is how many calls of user-defined functions a query may hold (maxUdfRefPerSqlQuery).
const maxUserDefined = 10

// UserDefined are the user-defined functions of a container, by their names without udf.
type UserDefined interface {
	Call(name string, args []value.Value) (value.Value, error)
	// Check says why a function can't be called, whatever its arguments.
	Check(name string) error
}

type userDefinedKey struct{}

// WithUserDefined gives the runs under a context the functions of a container. Without them calls are refused.
func WithUserDefined(ctx context.Context, functions UserDefined) context.Context {
	return context.WithValue(ctx, userDefinedKey{}, functions)
}

// CheckUserDefined refuses a program that calls user-defined functions which the context does not have, so that the
// refusal doesn't depend on there being items.
func (p *Program) CheckUserDefined(ctx context.Context) error {
	for _, name := range p.userDefined {
		functions, ok := ctx.Value(userDefinedKey{}).(UserDefined)
		if !ok {
			return unsupported("user-defined functions (udf." + name + ")")
		}
		if err := functions.Check(name); err != nil {
			return err
		}
	}
	return nil
}

// userDefined compiles udf.name(...). Which functions there are is known when the query runs.
func (c *compiler) userDefined(e *sql.Call, in *scope) node {
	if c.functions = append(c.functions, e.Name); len(c.functions) > maxUserDefined {
		return c.fail(&Error{Message: fmt.Sprintf("The query calls more than %d user-defined functions, the most that one query may.", maxUserDefined)})
	}
	args := c.exprs(e.Args, in)
	name := e.Name
	return func(r *run) value.Value {
		functions, ok := r.meter.ctx.Value(userDefinedKey{}).(UserDefined)
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
		result, err := functions.Call(name, values)
		if err != nil {
			r.fail(err)
		}
		return result
	}
}
