package engine

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Remove deletes the documents, in batches of one logical partition each. A
// document that changed since its outline was read, or that is gone, is passed
// over. It returns what was removed. After [ErrAmbiguous] the caller has to
// look at what is there.
func (c *Collection) Remove(ctx context.Context, outlines []Document) (removed []Document, err error) {
	return c.change(ctx, "Remove", outlines, func(outline Document) (Operation, Document) {
		op := Operation{ID: outline.ID, ETag: outline.ETag, goal: true}
		op.Deletes(c)
		return op, outline
	})
}

// Edit changes what the outline holds of each document (not its id or key), as
// Remove does. It returns the outlines of what was changed, new etags included.
func (c *Collection) Edit(ctx context.Context, outlines []Document, edit func(Document) Document) (edited []Document, err error) {
	return c.change(ctx, "Edit", outlines, func(outline Document) (Operation, Document) {
		next := edit(outline)
		if c.hooks.keepsParents && next.ParentID != outline.ParentID && outline.ParentID != "" {
			next.Moved = movedFrom(outline)
		}
		mark := c.Mark()
		ops := patchBetween(outline, next)
		ops.Set("/"+markField, mark)
		op := Operation{Kind: OpPatch, ID: outline.ID, ETag: outline.ETag, Mark: mark, collection: c, Patch: ops}
		op.after = func(before *Document) *Document {
			return before.with(parentChanges(outline, next), next.DeletedAt)
		}
		return op, next
	})
}

// patchBetween writes the difference of two outlines as a patch.
func patchBetween(old, next Document) cosmos.Patch {
	var ops cosmos.Patch
	field := func(path string, changed, have, want bool, value any) {
		switch {
		case !changed:
		case want:
			ops.Set(path, value)
		case have:
			ops.Remove(path)
		}
	}
	field("/deletedAt", old.DeletedAt != next.DeletedAt, old.DeletedAt != "", next.DeletedAt != "", next.DeletedAt)
	field("/ttl", old.TTL != next.TTL, old.TTL != 0, next.TTL != 0, next.TTL)
	field("/"+JournalField, old.Journal != next.Journal, old.Journal != nil, next.Journal != nil, next.Journal)
	field("/"+MovingField, old.Moving != next.Moving, old.Moving != "", next.Moving != "", next.Moving)
	changes := parentChanges(old, next)
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		if pointer := "/" + strings.ReplaceAll(path, ".", "/"); changes[path] == nil {
			ops.Remove(pointer)
		} else {
			ops.Set(pointer, changes[path])
		}
	}
	if len(next.Moved) > len(old.Moved) || len(next.Moved["parentId"]) > len(old.Moved["parentId"]) {
		ops.Set("/"+MovedField, next.Moved)
	}
	return ops
}

// movedFrom is what a document leaves behind that is given another parent.
func movedFrom(outline Document) map[string][]string {
	moved := maps.Clone(outline.Moved)
	if moved == nil {
		moved = map[string][]string{}
	}
	if !slices.Contains(moved["parentId"], outline.ParentID) {
		moved["parentId"] = append(slices.Clip(moved["parentId"]), outline.ParentID)
	}
	return moved
}

// change applies one operation to each document, a hundred at a time.
func (c *Collection) change(ctx context.Context, op string, outlines []Document, plan func(Document) (Operation, Document)) (done []Document, err error) {
	for _, group := range byPartition(outlines) {
		at, err := c.partitionOf(group[0])
		if err != nil {
			return done, err
		}
		k := Call{Collection: c, Op: op, At: &at, batch: true}
		if err := k.Start(ctx); err != nil {
			return done, k.Fail(err)
		}
		for chunk := range slices.Chunk(group, MaxBatchOperations) {
			changed, err := k.changeTogether(ctx, chunk, plan)
			done = append(done, changed...)
			if err != nil {
				return done, k.Fail(err)
			}
		}
	}
	return done, nil
}

// changeTogether sends one batch, without those that turn out to have changed.
func (k *Call) changeTogether(ctx context.Context, outlines []Document, plan func(Document) (Operation, Document)) ([]Document, error) {
	ops, next := make([]Operation, 0, len(outlines)), make([]Document, 0, len(outlines))
	for _, outline := range outlines {
		op, changed := plan(outline)
		ops, next = append(ops, op), append(next, changed)
	}
	for len(ops) > 0 {
		results, err := k.transact(ctx, ops, true)
		var at *BatchError
		switch {
		case err == nil:
			for i := range next {
				next[i].ETag = results[i].ETag
			}
			return next, nil
		case errors.Is(err, errBatchFull):
			first, err := k.changeTogether(ctx, outlines[:len(outlines)/2], plan)
			if err != nil {
				return first, err
			}
			second, err := k.changeTogether(ctx, outlines[len(outlines)/2:], plan)
			return append(first, second...), err
		case errors.As(err, &at) && !errors.Is(err, ErrAmbiguous) && (at.Status == http.StatusNotFound || at.Status == http.StatusPreconditionFailed):
			ops, next = slices.Delete(ops, at.Index, at.Index+1), slices.Delete(next, at.Index, at.Index+1)
		default:
			return nil, err
		}
	}
	return nil, nil
}

// byPartition groups documents by their logical partition, in the order of
// each partition's first.
func byPartition(outlines []Document) [][]Document {
	var groups [][]Document
	index := map[string]int{}
	for _, outline := range outlines {
		text := KeyText(outline.Key)
		i, ok := index[text]
		if !ok {
			i = len(groups)
			index[text] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], outline)
	}
	return groups
}
