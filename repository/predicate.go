package repository

import (
	"github.com/cosmosgrove/grove/internal/engine"
)

// Predicate is a condition on one field, or a combination of conditions. The
// functions of this file make them. Field names are JSON names, nested ones
// joined by dots ("address.city"); a name that the entity does not have, or a
// value whose JSON type the field can't hold, is [ErrInvalid] when the query
// is used. Values are always sent as parameters.
type Predicate struct{ p engine.Predicate } // whose Write makes the SQL

// Eq holds where the field equals the value. Eq(field, nil) holds where it is
// null; a field that is missing equals nothing, see [Exists].
func Eq(field string, value any) Predicate { return Predicate{engine.Eq(field, value)} }

// Ne holds where the field is there and differs from the value.
func Ne(field string, value any) Predicate { return Predicate{engine.Ne(field, value)} }

// Gt holds where the field is greater than the value, of the same JSON type.
func Gt(field string, value any) Predicate { return Predicate{engine.Gt(field, value)} }

// Gte holds where the field is greater than the value or equal to it.
func Gte(field string, value any) Predicate { return Predicate{engine.Gte(field, value)} }

// Lt holds where the field is less than the value, of the same JSON type.
func Lt(field string, value any) Predicate { return Predicate{engine.Lt(field, value)} }

// Lte holds where the field is less than the value or equal to it.
func Lte(field string, value any) Predicate { return Predicate{engine.Lte(field, value)} }

// In holds where the field equals one of the values. Without values it never holds.
func In(field string, values ...any) Predicate { return Predicate{engine.In(field, values...)} }

// Contains holds where an array field has the value as an element, or where a
// text field has it as a part, case included.
func Contains(field string, value any) Predicate {
	return Predicate{engine.Contains(field, value)}
}

// StartsWith holds where a text field begins with the prefix, case included.
// The index serves it.
func StartsWith(field, prefix string) Predicate {
	return Predicate{engine.StartsWith(field, prefix)}
}

// Exists holds where the field is there, null included; Not(Exists(field))
// where it is missing.
func Exists(field string) Predicate { return Predicate{engine.Exists(field)} }

// And holds where all of the conditions do.
func And(all ...Predicate) Predicate { return Predicate{engine.And(unwrapped(all)...)} }

// Or holds where one of the conditions does. Without any it never holds.
func Or(some ...Predicate) Predicate { return Predicate{engine.Or(unwrapped(some)...)} }

// Not holds where the condition does not. A comparison with a missing field
// neither holds nor fails, so Not of it does not hold either.
func Not(p Predicate) Predicate { return Predicate{engine.Not(p.p)} }

func unwrapped(predicates []Predicate) []engine.Predicate {
	out := make([]engine.Predicate, len(predicates))
	for i, p := range predicates {
		out[i] = p.p
	}
	return out
}
