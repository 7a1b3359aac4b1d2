package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
)

const (
	// chunkSize is how many documents are compared at a time.
	chunkSize = 500
	// maxRounds bounds how often documents are looked at again that others
	// write at the same time. The change comes again then, after a pause.
	maxRounds = 20
)

// follow carries changed documents of a type into the members that a rule
// keeps. A document that another writer changed between our look at it and our
// patch refuses the patch, and is looked for again: the newer version may have
// been read by its writer before the change, and by our feed before it too.
func (k *Keeper) follow(ctx context.Context, tenant string, r rule, by *entityType, changed []engine.Document) error {
	for round := 0; ; round++ {
		refused := 0
		err := r.affected(ctx, tenant, by, changed, func(docs []engine.Document) error {
			n, err := k.correct(ctx, tenant, r, living(docs))
			refused += n
			return err
		})
		if err != nil || refused == 0 {
			return err
		}
		if round == maxRounds {
			return fmt.Errorf("denorm: %d documents of %s are written by others all the time (they are tried again)", refused, r.holder().name())
		}
		if err := pause(ctx, round); err != nil {
			return err
		}
	}
}

// correct brings documents into the state that one rule wants, and returns how
// many refused because they had changed.
func (k *Keeper) correct(ctx context.Context, tenant string, r rule, docs []engine.Document) (refused int, err error) {
	if len(docs) == 0 {
		return 0, nil
	}
	found, err := r.check(ctx, tenant, docs, false)
	if err != nil {
		return 0, err
	}
	found = slices.DeleteFunc(found, func(f finding) bool { return f.filling })
	found, _ = k.unrepairable.skip(ctx, r.holder(), tenant, found)
	patches, err := patchesOf(nil, found)
	if err != nil {
		return 0, err
	}
	done, unrepairable, err := r.holder().patch(ctx, patches)
	_, _ = k.unrepairable.skip(ctx, r.holder(), tenant, unrepairable)
	return len(patches) - len(done) - documentsIn(unrepairable), err
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

// patchesOf adds the findings of each document to its patch. Where these are
// more than a patch can hold, whole top-level members are written instead.
func patchesOf(patches []engine.DocumentPatch, found []finding) ([]engine.DocumentPatch, error) {
	at := map[string]int{}
	of := map[int][]finding{}
	for i, p := range patches {
		at[p.ID+"\x00"+p.ETag] = i
	}
	for _, f := range found {
		if f.unrepairable != nil {
			continue
		}
		key := f.doc.ID + "\x00" + f.doc.ETag
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

// living drops the documents that are deleted.
func living(docs []engine.Document) []engine.Document {
	return slices.DeleteFunc(slices.Clone(docs), func(d engine.Document) bool { return d.DeletedAt != "" })
}

// pause waits a little longer from round to round, at random so that
// processes that met do not meet again.
func pause(ctx context.Context, round int) error {
	timer := time.NewTimer(rand.N(time.Millisecond << min(round+1, 8)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inChunks collects a query's documents.
func inChunks(seq func(func(engine.Document, error) bool), yield func([]engine.Document) error) error {
	var chunk []engine.Document
	for d, err := range seq {
		if err != nil {
			return err
		}
		if chunk = append(chunk, d); len(chunk) == chunkSize {
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
		entity, found := typ.docs.Sibling(ctx, id)
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

var emptyText = json.RawMessage(`""`)
