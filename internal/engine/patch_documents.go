package engine

import (
	"context"
	"encoding/json"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// DocumentPatch changes members of one document, if it still has its etag. It
// is how package denorm writes copies. The verb Patch of an application is
// another thing: edits.go, and patch.go of package repository.
type DocumentPatch struct {
	Document
	// Sets are written, Removes taken away: at most nine of them together.
	// They are JSON pointers.
	Sets    []MemberValue
	Removes []string
}

// MemberValue is what is written at a JSON pointer.
type MemberValue struct {
	Pointer string
	Value   json.RawMessage
}

// MaxDocumentPatch is the most changes in one DocumentPatch: the service's ten
// without the one that marks the write.
const MaxDocumentPatch = MaxPatchOperations - 1

// PatchDocuments applies patches in transactional batches of one logical
// partition each, without hooks. A document that changed since it was read, or
// is gone, is passed over. It returns the ids of those that were changed.
// After [ErrAmbiguous] the caller has to look at what is there.
func (c *Collection) PatchDocuments(ctx context.Context, patches []DocumentPatch) (patched []Document, err error) {
	outlines := make([]Document, 0, len(patches))
	byETag := make(map[string]*DocumentPatch, len(patches))
	size := 0
	flush := func() error {
		done, err := c.change(ctx, "PatchDocuments", outlines, func(outline Document) (Operation, Document) {
			return c.patchOp(byETag[outline.ID+outline.ETag]), outline
		})
		patched = append(patched, done...)
		outlines, size = outlines[:0], 0
		return err
	}
	for i := range patches {
		p := &patches[i]
		more := p.size()
		if size > 0 && size+more > maxPatchedBytes {
			if err := flush(); err != nil {
				return patched, err
			}
		}
		size += more
		outlines = append(outlines, Document{ID: p.ID, ETag: p.ETag, Key: p.Key})
		byETag[p.ID+p.ETag] = p
	}
	return patched, flush()
}

// maxPatchedBytes keeps patches that carry large values within a batch's 2 MB.
const maxPatchedBytes = 1_500_000

func (p *DocumentPatch) size() int {
	n := len(p.ID) + operationOverhead*(1+len(p.Removes))
	for _, set := range p.Sets {
		n += len(set.Value) + len(set.Pointer) + operationOverhead
	}
	return n
}

// patch are the changes without the mark of the write.
func (p *DocumentPatch) patch() cosmos.Patch {
	var ops cosmos.Patch
	for _, set := range p.Sets {
		ops.Set(set.Pointer, set.Value)
	}
	for _, pointer := range p.Removes {
		ops.Remove(pointer)
	}
	return ops
}

func (c *Collection) patchOp(p *DocumentPatch) Operation {
	op := Operation{Kind: OpPatch, ID: p.ID, ETag: p.ETag, Mark: c.Mark()}
	ops := p.patch()
	ops.Set("/"+markField, op.Mark)
	op.Patch = ops
	return op
}
