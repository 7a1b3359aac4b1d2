package denorm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Drift is a member of a stored document that does not hold what its source
// says.
type Drift struct {
	// EntityType, TenantID and ID name the document.
	EntityType, TenantID, ID string
	// Field is the field's path, and Pointer where it stands in the document,
	// as a JSON pointer. Both are empty where the document as a whole does not
	// fit the cards of a list of the newest.
	Field, Pointer string
	// Have is what is stored, nil for nothing, and Want what should be.
	Have, Want json.RawMessage
	// Reason is set where something else wrote a member that does not fit its
	// struct, or would not fit: nothing can be compared there then, Want is nil,
	// and Repair passes it over. It quotes nothing of the document.
	Reason string
}

// Audit compares every copy, count, list of newest and link of a tenant with
// its source and yields what differs. It reads every document that holds any,
// 1,000 at a time with the sources of their copies, and changes nothing. Changes
// that were not followed yet are drift too: call CatchUp first. A document that
// does not fit its struct is reported with a Reason, and stops nothing. Iteration
// stops at the first error, which is yielded.
//
// Snapshots have no source to be compared with: one is reported only where it
// does not fit its struct.
func (k *Keeper) Audit(ctx context.Context, tenant string) iter.Seq2[Drift, error] {
	return func(yield func(Drift, error) bool) {
		w := walk{schema: k.copies.schema, tenant: tenant}
		err := w.run(ctx, func(st *stage, found []finding) error {
			for _, f := range found {
				if !f.unset && !yield(f.drift(st.typ, tenant), nil) {
					return errFound
				}
			}
			return nil
		}, nil)
		if err != nil && !errors.Is(err, errFound) {
			yield(Drift{}, err)
		}
	}
}

func (f finding) drift(typ *entityType, tenant string) Drift {
	if f.of != nil {
		typ = f.of
	}
	d := Drift{EntityType: typ.name(), TenantID: tenant, ID: f.doc.ID, Field: f.field, Pointer: f.pointer, Have: f.have, Want: f.want}
	if f.unrepairable != nil {
		d.Reason = f.unrepairable.Error()
	}
	return d
}

// RepairOptions change how Repair works; nil is the defaults.
type RepairOptions struct {
	// FillSnapshots also fills snapshots whose member is missing from the
	// stored document, with what their source says now: for a snapshot that
	// was declared on existing data. A snapshot with omitempty that was empty
	// when it was written can't be told from one that was never taken.
	FillSnapshots bool
	// Skipped, where set, is called with what can't be repaired, and why; see
	// Drift.Reason.
	Skipped func(Drift)
	// Progress, where set, is called after every 500 documents.
	Progress func(RepairProgress)
	// Resume goes on behind the last Progress of a Repair of the same tenant
	// that was stopped. Under other declarations than then it begins anew.
	Resume string
}

// RepairProgress is how far a Repair is.
type RepairProgress struct {
	// EntityType is that of the documents that were compared last.
	EntityType string
	// Compared and Repaired count documents of this run, and Skipped the members
	// that can't be repaired.
	Compared, Repaired, Skipped int64
	// Resume goes on from here; see [RepairOptions].
	Resume string
}

// Repair is Audit that writes what should be there, on the condition that the
// document is still the one that was compared. What is copied, counted or shown
// is put right before what follows from it, so that one run leaves nothing to
// do. It is also how fields that are
// declared on existing data get their first values. It may run while the
// application does, may be stopped at any time, and may run again.
func (k *Keeper) Repair(ctx context.Context, tenant string, opts *RepairOptions) (RepairProgress, error) {
	w := walk{schema: k.copies.schema, tenant: tenant}
	var progress RepairProgress
	var tell func(RepairProgress)
	fillSnapshots := false
	if opts != nil {
		fillSnapshots, tell = opts.FillSnapshots, opts.Progress
		if opts.Resume != "" {
			if err := w.resume(opts.Resume); err != nil {
				return progress, err
			}
		}
	}
	err := w.run(ctx, func(st *stage, found []finding) error {
		repaired, unrepairable, err := w.repair(ctx, st, found, fillSnapshots)
		progress.Repaired += repaired
		progress.Skipped += int64(len(unrepairable))
		for _, f := range unrepairable {
			if opts != nil && opts.Skipped != nil {
				opts.Skipped(f.drift(st.typ, tenant))
			}
		}
		return err
	}, func(st *stage, n int, resume string) {
		progress.EntityType, progress.Resume = st.typ.name(), resume
		progress.Compared += int64(n)
		if tell != nil {
			tell(progress)
		}
	})
	return progress, err
}

// walk visits the documents of a tenant that hold what is kept, stage after
// stage, by their ids.
type walk struct {
	schema *schema
	tenant string
	from   position
}

func (w *walk) run(ctx context.Context, each func(*stage, []finding) error, done func(st *stage, n int, resume string)) error {
	if w.tenant != "" || !slices.ContainsFunc(w.schema.entityTypes, (*entityType).isGlobal) {
		if err := tenantitem.ValidateTenantID(w.tenant); err != nil {
			return err
		}
	}
	for i := w.from.Stage; i < len(w.schema.stages); i++ {
		st, after := &w.schema.stages[i], ""
		if st.typ.isGlobal() != (w.tenant == "") {
			continue
		}
		if i == w.from.Stage {
			after = w.from.ID
		}
		q := engine.Where(engine.Missing("deletedAt"), engine.Gte("id", after)).OrderBy("id")
		pages := st.typ.docs.Documents(ctx, w.tenant, nil, q, engine.Fields(st.fields()...))
		err := inChunksOf(pageSize, pages, func(page []engine.Document) error {
			return st.checkPage(ctx, w.tenant, page, func(docs []engine.Document, found []finding) error {
				if err := each(st, found); err != nil || done == nil {
					return err
				}
				last := docs[len(docs)-1]
				next := w.schema.positionIn(i, last.ID)
				if len(page) < pageSize && versionOf(last) == versionOf(page[len(page)-1]) && i+1 < len(w.schema.stages) {
					next = w.schema.positionIn(i+1, "") // this stage has no more pages
				}
				resume, err := json.Marshal(next)
				done(st, len(docs), string(resume))
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fields are the members that the stage's rules look at.
func (st *stage) fields() []string {
	var names []string
	for _, r := range st.rules {
		names = append(names, r.fields()...)
	}
	return distinct(names)
}

// pageSize is how many documents an audit reads at a time: a page of the service.
// Their sources are as many at the most, unless a document refers to several, and
// are asked for by one query.
const pageSize = engine.MaxIDsPerQuery

// pageRule is a rule whose check reads what many documents have in common, and
// so takes a whole page of them at once. Others ask for each document, or for a
// few, and would only delay what a repair tells of its progress.
type pageRule interface {
	rule
	checksPages()
}

// checkPage compares a page and hands it on in chunks, with what was found in
// each. While one is written, the sources that the next one was compared with may
// change. Its patches are bound to the etags of its documents: one in which the
// change was followed meanwhile is compared anew, and of any other the patch comes
// back through the feed.
func (st *stage) checkPage(ctx context.Context, tenant string, page []engine.Document, yield func([]engine.Document, []finding) error) error {
	var whole, single []rule
	for _, r := range st.rules {
		if _, ok := r.(pageRule); ok {
			whole = append(whole, r)
		} else {
			single = append(single, r)
		}
	}
	all, err := check(ctx, whole, tenant, page)
	if err != nil {
		return err
	}
	byVersion := map[string][]finding{}
	for _, f := range all {
		byVersion[versionOf(f.doc)] = append(byVersion[versionOf(f.doc)], f)
	}
	for docs := range slices.Chunk(page, chunkSize) {
		var found []finding
		for _, d := range docs {
			found = append(found, byVersion[versionOf(d)]...)
		}
		more, err := check(ctx, single, tenant, docs)
		if err != nil {
			return err
		}
		if err := yield(docs, append(found, more...)); err != nil {
			return err
		}
	}
	return nil
}

// check compares documents by some rules of one holder.
func check(ctx context.Context, rules []rule, tenant string, docs []engine.Document) ([]finding, error) {
	var found []finding
	for _, r := range rules {
		f, err := r.check(ctx, tenant, docs, true)
		if err != nil {
			return nil, err
		}
		found = append(found, f...)
	}
	return found, nil
}

// repair writes findings until nothing differs; documents that changed
// meanwhile are read and compared again. What is unrepairable is returned.
func (w *walk) repair(ctx context.Context, st *stage, found []finding, fillSnapshots bool) (repaired int64, unrepairable []finding, err error) {
	for _, f := range found {
		if f.unrepairable != nil && !f.unset {
			unrepairable = append(unrepairable, f)
		}
	}
	for round := 0; ; round++ {
		found = slices.DeleteFunc(found, func(f finding) bool { return f.unrepairable != nil || f.unset && !fillSnapshots })
		if len(found) == 0 {
			return repaired, unrepairable, nil
		}
		if round == maxRounds {
			return repaired, unrepairable, fmt.Errorf("denorm: documents of %s are written by others all the time (run Repair again)", st.typ.name())
		}
		if round > 0 {
			if err := pause(ctx, round); err != nil {
				return repaired, unrepairable, err
			}
		}
		patches, err := patchesOf(nil, found)
		if err != nil {
			return repaired, unrepairable, err
		}
		done, refused, err := st.typ.patch(ctx, patches)
		repaired += int64(len(done))
		unrepairable = append(unrepairable, refused...)
		if err != nil {
			return repaired, unrepairable, err
		}
		again, err := w.again(ctx, st, patches, done, refused)
		if err != nil {
			return repaired, unrepairable, err
		}
		if found, err = check(ctx, st.rules, w.tenant, again); err != nil {
			return repaired, unrepairable, err
		}
	}
}

// again reads the documents that refused their patch because they changed, and
// those whose patch did not have room for everything. A patch that was refused for
// what it would write is left.
func (w *walk) again(ctx context.Context, st *stage, patches []engine.DocumentPatch, done []engine.Document, refused []finding) ([]engine.Document, error) {
	var docs []engine.Document
	for _, p := range patches {
		written := slices.ContainsFunc(done, func(d engine.Document) bool { return sameDocument(d.ID, d.Key, p.Document) })
		hopeless := slices.ContainsFunc(refused, func(f finding) bool { return sameDocument(f.doc.ID, f.doc.Key, p.Document) })
		if hopeless || written && len(p.Sets) < engine.MaxDocumentPatch {
			continue
		}
		now, err := st.typ.docs.DocumentsByID(ctx, w.tenant, st.typ.given(p.Key), []string{p.ID}, st.fields()...)
		if err != nil {
			return nil, err
		}
		docs = append(docs, living(values(now))...)
	}
	return docs, nil
}
