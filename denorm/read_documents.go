package denorm

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
)

// chunkSize is how many documents are written, or told of, at a time.
const chunkSize = 500

// inChunks collects a query's documents.
func inChunks(seq iter.Seq2[engine.Document, error], yield func([]engine.Document) error) error {
	return inChunksOf(chunkSize, seq, yield)
}

func inChunksOf(size int, seq iter.Seq2[engine.Document, error], yield func([]engine.Document) error) error {
	var chunk []engine.Document
	for d, err := range seq {
		if err != nil {
			return err
		}
		if chunk = append(chunk, d); len(chunk) == size {
			if err := yield(chunk); err != nil {
				return err
			}
			chunk = nil
		}
	}
	if len(chunk) == 0 {
		return nil
	}
	return yield(chunk)
}

// read gets documents by id that were asked for by many.
func read(ctx context.Context, typ *entityType, tenant string, ids []string, fields []string) (map[string]engine.Document, error) {
	ids = validIDs(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	return typ.docs.DocumentsByID(ctx, tenant, nil, ids, fields...)
}

// readSources is read for a write: what its own transaction writes counts as
// stored, and what it deletes as gone.
func readSources(ctx context.Context, typ *entityType, tenant string, ids []string, fields []string) (map[string]engine.Document, error) {
	var stored []string
	siblings := map[string]engine.Document{}
	for _, id := range validIDs(slices.Clone(ids)) {
		entity, _, found := typ.docs.Sibling(ctx, id)
		switch {
		case !found:
			stored = append(stored, id)
		case entity != nil:
			raw, err := engine.EncodeValue(entity)
			if err != nil {
				return nil, err
			}
			d := engine.Document{ID: id}
			if err := engine.DecodeValue(raw, &d.Fields); err != nil {
				return nil, err
			}
			siblings[id] = d
		}
	}
	docs, err := read(ctx, typ, tenant, stored, fields)
	if err != nil || len(siblings) == 0 {
		return docs, err
	}
	maps.Copy(siblings, docs)
	return siblings, nil
}

func values(docs map[string]engine.Document) []engine.Document {
	out := make([]engine.Document, 0, len(docs))
	for _, d := range docs {
		out = append(out, d)
	}
	return out
}

// living drops the documents that are deleted.
func living(docs []engine.Document) []engine.Document {
	return slices.DeleteFunc(slices.Clone(docs), func(d engine.Document) bool { return d.DeletedAt != "" })
}
