package store

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// MaxPatchOperations is how many operations one patch may have.
const MaxPatchOperations = 10

// Patch is a parsed patch request.
type Patch struct {
	Operations []PatchOperation
	// ConditionSQL is the text of the condition; empty without one.
	ConditionSQL string
	// Condition decides whether the document meets the condition. The caller compiles ConditionSQL into it, so that the
	// store need not know the query language; a patch with a text and no function is refused.
	Condition func(document value.Value) (bool, error)
}

// PatchOperation is one step of a patch.
type PatchOperation struct {
	// Kind is add, set, replace, remove, incr or move.
	Kind string
	// Path and From are JSON pointers.
	Path, From string
	// Value is JSON; nil counts as null.
	Value []byte
}

// ParsePatch reads a patch body: an object with operations and an optional condition, or a bare array (400).
func ParsePatch(body []byte) (Patch, error) {
	tree, v, err := parseNode(body)
	if err != nil {
		return Patch{}, badRequest("The patch is not valid: %v. A condition must be escaped as JSON.", err)
	}
	var p Patch
	operations, list := tree, v
	if v.Kind() == value.Object {
		if condition := v.Get("condition"); condition.Kind() != value.Undefined && condition.Kind() != value.Null {
			text, ok := condition.Str()
			if !ok {
				return Patch{}, badRequest("The condition of a patch should be a string.")
			}
			p.ConditionSQL = text
		}
		operations, list = tree.get("operations"), v.Get("operations")
	}
	elements, ok := list.Array()
	if !ok {
		return Patch{}, badRequest("The patch has no operations: send an object with an array named operations.")
	}
	operations.open()
	for i, e := range elements {
		op := PatchOperation{}
		op.Kind, _ = e.Get("op").Str()
		op.Path, ok = e.Get("path").Str()
		op.From, _ = e.Get("from").Str()
		if !ok {
			return Patch{}, badRequest("For Operation(%d): the path is missing.", i+1)
		}
		if raw := operations.elements[i].get("value"); raw != nil {
			op.Value = raw.raw
		}
		p.Operations = append(p.Operations, op)
	}
	return p, p.check()
}

// check refuses what can be refused without the document (400).
func (p Patch) check() error {
	switch n := len(p.Operations); {
	case n == 0:
		return badRequest("The patch has no operations.")
	case n > MaxPatchOperations:
		return badRequest("The number of patch operations can't exceed '%d'.", MaxPatchOperations)
	}
	return nil
}

func (t *txn) patch(id string, p Patch, pre Precondition) (Result, error) {
	old := t.s.find(t.canon, id)
	if old == nil {
		return Result{}, notFound()
	}
	if err := pre.check(old.etag()); err != nil {
		return Result{}, err
	}
	if err := p.holds(t.c.document(old)); err != nil {
		return Result{}, err
	}
	tree := &node{raw: old.raw}
	for i, op := range p.Operations {
		step, err := parseStep(i+1, op, t.d)
		if err != nil {
			return Result{}, err
		}
		if err := step.apply(tree); err != nil {
			return Result{}, err
		}
	}
	text := tree.appendTo(nil)
	tree, v, err := parseNode(text)
	if err != nil {
		return Result{}, badRequest("The patched document is not valid: %v.", err)
	}
	dr, err := t.d.draftTree(tree, v)
	if err != nil {
		return Result{}, err
	}
	if dr.canon != t.canon || dr.id != old.id {
		return Result{}, badRequest("A patch can't change the id or the partition key: create another item and delete this one.")
	}
	dr.unindexed = old.unindexed
	return t.put(dr, old, http.StatusOK)
}

// holds evaluates the condition (412/1110 when it is not met).
func (p Patch) holds(document Document) error {
	if p.ConditionSQL == "" && p.Condition == nil {
		return nil
	}
	if p.Condition == nil {
		return badRequest("The condition of the patch was not compiled.")
	}
	ok, err := p.Condition(document.Value())
	if err != nil {
		return err
	}
	if !ok {
		return refuse(http.StatusPreconditionFailed, SubstatusPatchConditionNotMet, textPrecondition)
	}
	return nil
}
