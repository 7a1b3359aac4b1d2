package denorm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// changedDocs are the changed documents of one type and tenant on one page.
type changedDocs struct {
	typ    *entityType
	tenant string
	docs   []engine.Document
}

// followPage follows the changes of one page: a change of a document that others
// copy, count, list or link becomes patches of those (follow), and each changed
// document is compared with its own sources (correctThemselves). Which documents are
// rewritten says each kind of rule: affected in copy_rule.go (those that refer to a changed
// source and hold another value), link_rule.go and related.go. Every step
// computes anew what should be there, so that a page may come again, or come late: the
// sources are read after the documents that hold the copies, and a patch holds for the
// state that was read (patchOp in internal/engine/patch_documents.go). So a late change writes the newest value or is
// refused by the etag, and never brings an older one back.
//
// The order matters in one place: what a document left behind for others is
// taken away from it last.
func (k *Keeper) followPage(ctx context.Context, container string, changes []changefeed.Change) error {
	changed, err := k.copies.schema.groupByType(container, changes)
	if err != nil {
		return err
	}
	for _, b := range changed {
		for _, r := range b.typ.followers {
			if err := k.follow(ctx, b.tenant, r, b.typ, b.docs); err != nil {
				return err
			}
		}
		if err := k.correctThemselves(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// groupByType groups the changes of a page by type and tenant; what is of no known
// type is passed over.
func (s *schema) groupByType(container string, changes []changefeed.Change) ([]*changedDocs, error) {
	var groups []*changedDocs
	for _, c := range changes {
		i := slices.IndexFunc(s.entityTypes, func(typ *entityType) bool { return typ.entity.Container == container && typ.docs.Owns(c.Document) })
		if i < 0 || len(s.entityTypes[i].own) == 0 && len(s.entityTypes[i].followers) == 0 {
			continue
		}
		typ := s.entityTypes[i]
		typ.docs.Saw(c.Session)
		d, tenant, err := typ.docs.ReadDocument(c.Document)
		if err != nil {
			return nil, fmt.Errorf("denorm: document %q of %s: %w", c.ID, typ.name(), err)
		}
		at := slices.IndexFunc(groups, func(b *changedDocs) bool { return b.typ == typ && b.tenant == tenant })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &changedDocs{typ: typ, tenant: tenant})
		}
		groups[at].docs = append(groups[at].docs, d)
	}
	return groups, nil
}

// correctThemselves compares the changed documents themselves with what they
// should hold: a writer may have read a source before it changed and written
// its copy after the change was followed, and documents may be written by
// others. A document that changed since this page was read is left alone; its
// newer version comes as a change of its own. A document that can't be kept is
// an error, after the others were.
func (k *Keeper) correctThemselves(ctx context.Context, b *changedDocs) error {
	docs := living(b.docs)
	var found []finding
	for _, r := range b.typ.own {
		f, err := r.check(ctx, b.tenant, docs, false)
		if err != nil {
			return err
		}
		found = append(found, f...)
	}
	found = slices.DeleteFunc(found, func(f finding) bool { return f.unset })
	found, reason := k.unrepairable.skip(ctx, b.typ, b.tenant, found)
	patches, err := b.acknowledge()
	if err == nil {
		patches, err = patchesOf(patches, found)
	}
	if err != nil {
		return err
	}
	_, unrepairable, err := b.typ.patch(ctx, patches)
	if errors.Is(err, repository.ErrAmbiguous) {
		return fmt.Errorf("denorm: copies in %s: %w", b.typ.name(), err)
	}
	if err != nil {
		return err
	}
	if _, refusal := k.unrepairable.skip(ctx, b.typ, b.tenant, unrepairable); refusal != nil {
		return refusal
	}
	return reason
}

// acknowledge takes away what the documents had left behind for others, now that
// these know of it, and notes the references that were followed.
func (b *changedDocs) acknowledge() ([]engine.DocumentPatch, error) {
	var patches []engine.DocumentPatch
	for _, d := range b.docs {
		p := engine.DocumentPatch{Document: d}
		for _, name := range []string{engine.MovedField, pendingLinksField} {
			if d.Fields[name] != nil {
				p.Removes = append(p.Removes, "/"+name)
			}
		}
		if counted, ok := b.typ.counted(d); !ok && d.DeletedAt == "" {
			raw, err := engine.EncodeValue(counted)
			if err != nil {
				return nil, err
			}
			p.Sets = append(p.Sets, engine.MemberValue{Pointer: "/" + countedField, Value: raw})
		}
		if len(p.Removes)+len(p.Sets) > 0 {
			patches = append(patches, p)
		}
	}
	return patches, nil
}

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
	found = slices.DeleteFunc(found, func(f finding) bool { return f.unset })
	found, _ = k.unrepairable.skip(ctx, r.holder(), tenant, found)
	patches, err := patchesOf(nil, found)
	if err != nil {
		return 0, err
	}
	done, unrepairable, err := r.holder().patch(ctx, patches)
	_, _ = k.unrepairable.skip(ctx, r.holder(), tenant, unrepairable)
	return len(patches) - len(done) - documentsIn(unrepairable), err
}

// maxRounds bounds how often documents are looked at again that others
// write at the same time. The change comes again then, after a pause.
const maxRounds = 20

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
