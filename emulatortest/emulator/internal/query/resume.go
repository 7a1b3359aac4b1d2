package query

import (
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// ResumeFilter is a place in the result of an ORDER BY, which a client that goes on after a split sends beside the query
// instead of writing it into the WHERE clause.
type ResumeFilter struct {
	// Values are the sort keys of the place.
	Values []value.Value
	// RID is that of the last item that the client has seen there. Empty means that no item is known: rows with the same
	// keys then all come before the place, or all behind it.
	RID string
	// Exclude leaves out the item itself, or without a RID the rows with the same keys.
	Exclude bool
}

// ParseResumeFilter reads {"value": [...], "rid": "...", "exclude": false}, where [] among the values is undefined. Arrays
// and objects as values are refused: clients send them as hashes, which are not published.
func ParseResumeFilter(v value.Value) (*ResumeFilter, error) {
	refusal := &eval.Error{Message: `The resumeFilter is not of the form {"value":[...],"rid":"...","exclude":false}.`}
	values, ok := v.Get("value").Array()
	if !ok {
		return nil, refusal
	}
	f := &ResumeFilter{Values: make([]value.Value, len(values))}
	for i, key := range values {
		elements, isArray := key.Array()
		_, isObject := key.Members()
		switch {
		case isObject || len(elements) > 0:
			return nil, &eval.Error{Message: "The emulator can't resume at an array or object: their order is that of a hash that is not published."}
		case !isArray:
			f.Values[i] = key
		}
	}
	if rid := v.Get("rid"); !rid.IsUndefined() && rid.Kind() != value.Null {
		if f.RID, ok = rid.Str(); !ok {
			return nil, refusal
		}
	}
	if exclude := v.Get("exclude"); !exclude.IsUndefined() {
		if f.Exclude, ok = exclude.Bool(); !ok {
			return nil, refusal
		}
	}
	return f, nil
}

// check refuses a filter that the query has no use for.
func (f *ResumeFilter) check(q *sql.Query) error {
	if f != nil && (len(q.OrderBy) != len(f.Values) || q.Aggregates()) {
		return &eval.Error{Message: "The resumeFilter needs one value for each item of the ORDER BY clause."}
	}
	return nil
}

// appendIdentity ties continuation tokens to the filter.
func (f *ResumeFilter) appendIdentity(id []byte) []byte {
	if f == nil {
		return id
	}
	for _, v := range f.Values {
		id = value.FromArray([]value.Value{v}).AppendJSON(id)
	}
	return strconv.AppendBool(value.AppendString(id, f.RID), f.Exclude)
}

// beforeResume reports whether a row lies before the place at which the request resumes.
func (e *execution) beforeResume(at *position) bool {
	f := e.req.Resume
	for i, down := range e.program.Keys() {
		if c := value.Compare(at.keys[i], f.Values[i]); c != 0 {
			return directed(c, down) < 0
		}
	}
	if f.RID == "" {
		return f.Exclude
	}
	c := directed(compareRIDs(at.rid, f.RID), e.reverse)
	return c < 0 || c == 0 && f.Exclude
}
