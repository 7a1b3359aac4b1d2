package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
)

// vectorFunctions are compiled for the policy of their path: see [compiler.vectorCall].
func vectorFunctions() []builtin {
	compute := pure(func(args []value.Value) value.Value {
		return vectorDistance(args, vector.Embedding{Function: vector.Cosine})
	})
	return []builtin{fn(sql.VectorDistance, 2, 4, compute), fn(sql.PartialVectorScore, 2, 4, compute)}
}

// vectorCall returns the implementation of a call that compares vectors.
func (c *compiler) vectorCall(e *sql.Call) implementation {
	embedding := c.schema.Vectors.Of(e, c.root, c.schema.Parameters)
	return pure(func(args []value.Value) value.Value { return vectorDistance(args, embedding) })
}

// vectorDistance has no result for what isn't a list of numbers, such as an array of several dimensions. It always
// computes: whether the service would use an index (third argument) is no matter here.
func vectorDistance(args []value.Value, embedding vector.Embedding) value.Value {
	x, okX := numbers(args[0])
	y, okY := numbers(args[1])
	if !okX || !okY {
		return value.Value{}
	}
	const options = 3
	if len(args) > options {
		embedding = embedding.With(args[options])
	}
	distance, ok := embedding.Distance(x, y)
	if !ok {
		return value.Value{}
	}
	return value.FromNumber(distance)
}
