package denorm

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// patch applies patches to documents of the type. One that the service refuses
// because of the document's content, such as one that would grow beyond 2 MB, or
// because there is no room in its logical partition for what it would grow by, is
// returned as unrepairable. One whose document another writer has changed meanwhile is
// neither done nor unrepairable. Neither stops the others.
func (typ *entityType) patch(ctx context.Context, patches []engine.DocumentPatch) (done []engine.Document, unrepairable []finding, err error) {
	if len(patches) == 0 {
		return nil, nil, nil
	}
	done, err = typ.docs.PatchDocuments(ctx, patches)
	if err == nil || !isRefusal(err) {
		return done, nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(patches), func(p engine.DocumentPatch) bool {
		return slices.ContainsFunc(done, func(s engine.Document) bool { return sameDocument(s.ID, s.Key, p.Document) })
	})
	if len(rest) == 1 {
		for _, set := range rest[0].Sets {
			unrepairable = append(unrepairable, finding{doc: rest[0].Document, field: set.Pointer, pointer: set.Pointer, unrepairable: err})
		}
		return done, unrepairable, nil
	}
	for _, part := range parted(rest) {
		more, refused, err := typ.patch(ctx, part)
		done, unrepairable = append(done, more...), append(unrepairable, refused...)
		if err != nil {
			return done, unrepairable, err
		}
	}
	return done, unrepairable, nil
}

// parted divides patches by the logical partitions of their documents, which are
// written together; those of one partition into single ones.
func parted(patches []engine.DocumentPatch) [][]engine.DocumentPatch {
	var parts [][]engine.DocumentPatch
	for _, p := range patches {
		i := slices.IndexFunc(parts, func(part []engine.DocumentPatch) bool { return slices.Equal(part[0].Key, p.Key) })
		if i < 0 {
			i = len(parts)
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], p)
	}
	if len(parts) == 1 {
		return slices.Collect(slices.Chunk(patches, 1))
	}
	return parts
}

func sameDocument(id string, key []any, d engine.Document) bool {
	return id == d.ID && slices.Equal(key, d.Key)
}

// versionOf tells the documents of one entity type from each other, in whatever
// partition they lie.
func versionOf(d engine.Document) string { return d.ID + "\x00" + d.ETag }

// isRefusal reports whether an error says that nothing was changed because of
// what was to be written.
func isRefusal(err error) bool {
	if errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
		return false
	}
	if engine.IsPartitionFull(err) {
		return true
	}
	var at *repository.BatchError
	if errors.As(err, &at) {
		return at.Status == http.StatusBadRequest || at.Status == http.StatusRequestEntityTooLarge
	}
	return errors.Is(err, repository.ErrInvalid) || errors.Is(err, repository.ErrTooLarge)
}

// patchesOf adds the findings of each document to its patch. Where these are
// more than a patch can hold, whole top-level members are written instead.
func patchesOf(patches []engine.DocumentPatch, found []finding) ([]engine.DocumentPatch, error) {
	at := map[string]int{}
	of := map[int][]finding{}
	for i, p := range patches {
		at[versionOf(p.Document)] = i
	}
	for _, f := range found {
		if f.unrepairable != nil {
			continue
		}
		key := versionOf(f.doc)
		i, ok := at[key]
		if !ok {
			i = len(patches)
			at[key] = i
			patches = append(patches, engine.DocumentPatch{Document: f.doc})
		}
		of[i] = append(of[i], f)
	}
	for i := range patches {
		sets, err := setsOf(patches[i].Document, of[i], engine.MaxDocumentPatch-len(patches[i].Removes)-len(patches[i].Sets))
		if err != nil {
			return nil, err
		}
		patches[i].Sets = append(patches[i].Sets, sets...)
	}
	return patches, nil
}

func setsOf(doc engine.Document, found []finding, room int) ([]engine.MemberValue, error) {
	sets := make([]engine.MemberValue, 0, len(found))
	if len(found) <= room {
		for _, f := range found {
			sets = append(sets, engine.MemberValue{Pointer: f.pointer, Value: f.want})
		}
		return sets, nil
	}
	tops := map[string][]edit{}
	var order []string
	for _, f := range found {
		tokens := splitPointer(f.pointer)
		if tops[tokens[0]] == nil {
			order = append(order, tokens[0])
		}
		tops[tokens[0]] = append(tops[tokens[0]], edit{tokens[1:], f.want})
	}
	// What does not fit is found again: by the change that this patch makes,
	// or by the next round.
	for _, top := range order[:min(len(order), room)] {
		value, err := setMembers(doc.Fields[top], tops[top])
		if err != nil {
			return nil, err
		}
		sets = append(sets, engine.MemberValue{Pointer: "/" + escapePointer(top), Value: value})
	}
	return sets, nil
}

// documentsIn counts the documents of findings that stand together.
func documentsIn(found []finding) int {
	n := 0
	for i, f := range found {
		if i == 0 || !sameDocument(f.doc.ID, f.doc.Key, found[i-1].doc) {
			n++
		}
	}
	return n
}
