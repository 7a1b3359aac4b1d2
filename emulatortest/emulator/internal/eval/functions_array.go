package eval

import (
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func arrayFunctions() []builtin {
	return []builtin{
		fn("ARRAY_AVG", 1, 1, pure(arrayAverage)),
		fn("ARRAY_CONCAT", 2, unlimited, arrayConcat),
		fn("ARRAY_CONTAINS", 2, 3, arrayContains),
		fn("ARRAY_CONTAINS_ALL", 2, unlimited, func(r *run, args []value.Value) value.Value {
			return all(args[1:], func(v value.Value) value.Value { return arrayContains(r, []value.Value{args[0], v}) })
		}),
		fn("ARRAY_CONTAINS_ANY", 2, unlimited, func(r *run, args []value.Value) value.Value {
			return anyOf(args[1:], func(v value.Value) value.Value { return arrayContains(r, []value.Value{args[0], v}) })
		}),
		fn("ARRAY_LENGTH", 1, 1, pure(func(args []value.Value) value.Value {
			elements, ok := args[0].Array()
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(len(elements)))
		})),
		fn("ARRAY_MAX", 1, 1, pure(func(args []value.Value) value.Value { return extreme(args[0], 1) })),
		fn("ARRAY_MEDIAN", 1, 1, pure(arrayMedian)),
		fn("ARRAY_MIN", 1, 1, pure(func(args []value.Value) value.Value { return extreme(args[0], -1) })),
		fn("ARRAY_SLICE", 2, 3, pure(arraySlice)),
		fn("ARRAY_SUM", 1, 1, pure(arraySum)),
		fn("CHOOSE", 2, unlimited, pure(choose)),
		fn("ObjectToArray", 1, 3, objectToArray),
	}
}

// all is the AND of the test over the values, in three-valued logic.
func all(values []value.Value, test func(value.Value) value.Value) value.Value {
	result := value.FromBool(true)
	for _, v := range values {
		if result = and(result, test(v)); isFalse(result) {
			break
		}
	}
	return result
}

// anyOf is the OR of the test over the values, in three-valued logic.
func anyOf(values []value.Value, test func(value.Value) value.Value) value.Value {
	result := value.FromBool(false)
	for _, v := range values {
		if result = or(result, test(v)); isTrue(result) {
			break
		}
	}
	return result
}

func arrayConcat(r *run, args []value.Value) value.Value {
	n := 0
	for _, a := range args {
		elements, ok := a.Array()
		if !ok {
			return value.Value{}
		}
		n += len(elements)
	}
	if !r.hold(arrayBytes(n)) || !r.work(n) {
		return value.Value{}
	}
	joined := make([]value.Value, 0, n)
	for _, a := range args {
		elements, _ := a.Array()
		joined = append(joined, elements...)
	}
	return value.FromArray(joined)
}

func arrayContains(r *run, args []value.Value) value.Value {
	elements, ok := args[0].Array()
	if !ok || args[1].IsUndefined() {
		return value.Value{}
	}
	match := value.Equal
	if len(args) == 3 {
		partial, isBool := args[2].Bool()
		if !isBool {
			return value.Value{}
		}
		if partial {
			match = contains
		}
	}
	found := slices.ContainsFunc(elements, func(e value.Value) bool {
		// Once the run has failed, true ends the search.
		return !r.compares(e, args[1]) || match(e, args[1])
	})
	if r.err != nil {
		return value.Value{}
	}
	return value.FromBool(found)
}

// contains reports whether whole has every member that part has, at every depth; what is not an object must be equal.
func contains(whole, part value.Value) bool {
	wanted, ok := part.Members()
	if !ok || whole.Kind() != value.Object {
		return value.Equal(whole, part)
	}
	for _, m := range wanted {
		if has := whole.Get(m.Name); has.IsUndefined() || !contains(has, m.Value) {
			return false
		}
	}
	return true
}

// numbers returns the elements of an array that holds nothing but numbers.
func numbers(v value.Value) ([]float64, bool) {
	elements, ok := v.Array()
	if !ok {
		return nil, false
	}
	xs := make([]float64, len(elements))
	for i, e := range elements {
		if xs[i], ok = e.Number(); !ok {
			return nil, false
		}
	}
	return xs, true
}

func arraySum(args []value.Value) value.Value {
	xs, ok := numbers(args[0])
	if !ok {
		return value.Value{}
	}
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return finite(total)
}

func arrayAverage(args []value.Value) value.Value {
	total, ok := arraySum(args).Number()
	elements, _ := args[0].Array()
	if !ok || len(elements) == 0 {
		return value.Value{}
	}
	return finite(total / float64(len(elements)))
}

func arrayMedian(args []value.Value) value.Value {
	xs, ok := numbers(args[0])
	if !ok || len(xs) == 0 {
		return value.Value{}
	}
	slices.Sort(xs)
	middle := len(xs) / 2
	if len(xs)%2 == 1 {
		return finite(xs[middle])
	}
	return finite((xs[middle-1] + xs[middle]) / 2)
}

// extreme returns the largest (direction 1) or smallest (direction -1) element of an array of primitive values, in the
// order null, Booleans, numbers, strings.
func extreme(v value.Value, direction int) value.Value {
	elements, _ := v.Array()
	var best value.Value
	for _, e := range elements {
		if e.Kind() > value.String {
			return value.Value{}
		}
		if best.IsUndefined() || value.Compare(e, best)*direction > 0 {
			best = e
		}
	}
	return best
}

func arraySlice(args []value.Value) value.Value {
	elements, ok := args[0].Array()
	start, okStart := position(args[1])
	if !ok || !okStart {
		return value.Value{}
	}
	if start < 0 {
		start += len(elements)
	}
	length := len(elements)
	if len(args) == 3 {
		if length, ok = position(args[2]); !ok {
			return value.Value{}
		}
	}
	start = min(max(start, 0), len(elements))
	length = min(max(length, 0), len(elements)-start)
	return value.FromArray(slices.Clone(elements[start : start+length]))
}

func choose(args []value.Value) value.Value {
	i, ok := position(args[0])
	if !ok || i < 1 || i >= len(args) {
		return value.Value{}
	}
	return args[i]
}

func objectToArray(r *run, args []value.Value) value.Value {
	members, ok := args[0].Members()
	keyName, valueName := "k", "v"
	if len(args) > 1 && ok {
		keyName, ok = args[1].Str()
	}
	if len(args) > 2 && ok {
		valueName, ok = args[2].Str()
	}
	if !ok || !r.hold(len(members)*(elementBytes+objectBytes(2))) {
		return value.Value{}
	}
	pairs := make([]value.Value, len(members))
	for i, m := range members {
		pairs[i] = value.FromObject([]value.Member{{Name: keyName, Value: value.FromString(m.Name)}, {Name: valueName, Value: m.Value}})
	}
	return value.FromArray(pairs)
}
