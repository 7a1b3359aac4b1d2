package repository

import (
	"github.com/cosmosgrove/grove/internal/engine"
)

// Edits are changes to parts of a document, applied by Patch in their order,
// all or none. Paths are JSON pointers ("/title", "/address/city", "/tags/0",
// "/tags/-"), and each must lead to a field of the entity that can hold the
// value. It is a value: every method returns a changed copy. Start one with
// [Set] or [Increment], or with Edits{}.
//
// A value that the field's Go type can't hold is refused before any request.
// An increment that would leave the type's range fails with
// [ErrPreconditionFailed].
type Edits struct{ e engine.Edits }

// Set writes a field, whether it is there or not. A nil value writes null.
func Set(path string, value any) Edits { return Edits{}.Set(path, value) }

// Increment adds to a number; a field that is missing counts as 0. A lost answer
// does not apply it twice: see [ScopeOf.Patch].
func Increment(path string, by int64) Edits { return Edits{}.Increment(path, by) }

// Set is [Set] as a further change.
func (e Edits) Set(path string, value any) Edits { return Edits{e.e.Set(path, value)} }

// Add writes a field of an object, or inserts into an array: before an index,
// or at its end with "/tags/-".
func (e Edits) Add(path string, value any) Edits { return Edits{e.e.Add(path, value)} }

// Remove takes a field, or an element of an array, away. It must be there.
func (e Edits) Remove(path string) Edits { return Edits{e.e.Remove(path)} }

// Increment is [Increment] as a further change.
func (e Edits) Increment(path string, by int64) Edits { return Edits{e.e.Increment(path, by)} }

// If applies the edits only to a document for which the conditions hold;
// otherwise the patch fails with [ErrPreconditionFailed].
func (e Edits) If(conditions ...Predicate) Edits {
	return Edits{e.e.If(unwrapped(conditions)...)}
}

// IfMatch applies the edits only to the document with that etag.
func (e Edits) IfMatch(etag string) Edits { return Edits{e.e.IfMatch(etag)} }
