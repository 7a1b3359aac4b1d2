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
// because of the document's content, such as one that would grow beyond 2 MB, is
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
	for _, p := range patches {
		if slices.ContainsFunc(done, func(s engine.Document) bool { return sameDocument(s.ID, s.Key, p.Document) }) {
			continue
		}
		one, err := typ.docs.PatchDocuments(ctx, []engine.DocumentPatch{p})
		switch {
		case err == nil:
			done = append(done, one...)
		case isRefusal(err):
			for _, set := range p.Sets {
				unrepairable = append(unrepairable, finding{doc: p.Document, field: set.Pointer, pointer: set.Pointer, unrepairable: err})
			}
		default:
			return done, unrepairable, err
		}
	}
	return done, unrepairable, nil
}

func sameDocument(id string, key []any, d engine.Document) bool {
	return id == d.ID && slices.Equal(key, d.Key)
}

// isRefusal reports whether an error says that nothing was changed because of
// what was to be written.
func isRefusal(err error) bool {
	if errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
		return false
	}
	var at *repository.BatchError
	if errors.As(err, &at) {
		return at.Status == http.StatusBadRequest || at.Status == http.StatusRequestEntityTooLarge
	}
	return errors.Is(err, repository.ErrInvalid) || errors.Is(err, repository.ErrTooLarge)
}
