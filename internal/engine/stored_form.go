package engine

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/cosmosgrove/grove/internal/layout"
)

// Here documents, patches and queries pass between Grove's form and that of a
// container with a layout. Grove's own form goes through untouched.

// layoutOf is the layout of the operation's document; nil for Grove's form, and
// for what is in the stored form already.
func (k *Call) layoutOf(op *Operation) *layout.Layout {
	switch {
	case op.stored:
		return nil
	case op.collection != nil:
		return op.collection.layout
	case op.Reads != nil:
		return op.Reads.layout
	}
	return k.Collection.layout
}

// coreOf is the collection of an operation.
func (k *Call) coreOf(op *Operation) *Collection {
	switch {
	case op.collection != nil:
		return op.collection
	case op.Reads != nil:
		return op.Reads
	}
	return k.Collection
}

// storedForm returns the operations as they are sent.
func (k *Call) storedForm(ops []Operation) ([]Operation, error) {
	var out []Operation
	for i := range ops {
		l := k.layoutOf(&ops[i])
		if l == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(ops)
		}
		op := &out[i]
		op.ID = l.StoredID(op.ID)
		var err error
		switch {
		case op.Body != nil:
			op.Body, err = l.Stored(op.Body)
		case op.Kind == OpPatch:
			op.Patch = l.Patch(op.Patch)
		}
		if err != nil {
			return nil, refusedLayout(err)
		}
	}
	if out == nil {
		return ops, nil
	}
	return out, nil
}

// canonicalForm turns what was answered back.
func (k *Call) canonicalForm(ops []Operation, results []Result, err error) ([]Result, error) {
	var failed *BatchError
	if errors.As(err, &failed) && failed.Index < len(ops) {
		failed.ID = ops[failed.Index].ID
	}
	for i := range results {
		if i >= len(ops) || len(results[i].Body) == 0 {
			continue
		}
		if l := k.layoutOf(&ops[i]); l != nil {
			results[i].Body, _ = l.Canonical(results[i].Body) // a misplaced one fails where it is decoded
		}
	}
	return results, err
}

// textOf is a statement's text as it is sent.
func (k *Call) textOf(st Statement) string {
	if k.Collection.layout == nil || st.stored {
		return st.Text
	}
	return k.Collection.layout.SQL(st.Text)
}

// decodeRows reads the rows of a feed page of a container with a layout.
func decodeRows[R any](k *Call, st Statement, items [][]byte) ([]R, error) {
	rows := make([]R, len(items))
	begin(k, rows)
	for i, item := range items {
		var err error
		if !st.stored {
			switch st.rows {
			case documentRow:
				item, err = k.Collection.layout.Canonical(item)
				if _, raw := any(&rows[i]).(*json.RawMessage); raw {
					err = nil // decoding fails, for this one document
				}
			case sortedRow:
				item = k.Collection.layout.CanonicalIn(item, "d")
			}
		}
		if err := decodeInto(&rows[i], item, err); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
