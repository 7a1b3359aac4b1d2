package denorm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Drift is a member of a stored document that does not hold what its source
// says.
type Drift struct {
	// EntityType, TenantID and ID name the document.
	EntityType, TenantID, ID string
	// Field is the field's path, and Pointer where it stands in the document,
	// as a JSON pointer.
	Field, Pointer string
	// Have is what is stored, nil for nothing, and Want what should be.
	Have, Want json.RawMessage
}

// Audit compares every copy, count, list of newest and link of a tenant with
// its source and yields what differs. It reads every document that holds any,
// 500 at a time with their sources, and changes nothing. Changes that were not
// followed yet are drift too: call CatchUp first. Iteration stops at the first
// error, which is yielded.
//
// Snapshots have no source to be compared with, and are not looked at.
func (k *Keeper) Audit(ctx context.Context, tenant string) iter.Seq2[Drift, error] {
	return func(yield func(Drift, error) bool) {
		w := walk{schema: k.copies.schema, tenant: tenant}
		err := w.run(ctx, func(m *member, found []finding) error {
			for _, f := range found {
				if !f.filling && !yield(f.drift(m, tenant), nil) {
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

func (f finding) drift(m *member, tenant string) Drift {
	return Drift{EntityType: m.name(), TenantID: tenant, ID: f.doc.ID, Field: f.field, Pointer: f.pointer, Have: f.have, Want: f.want}
}

// RepairOptions change how Repair works; nil is the defaults.
type RepairOptions struct {
	// FillSnapshots also fills snapshots whose member is missing from the
	// stored document, with what their source says now: for a snapshot that
	// was declared on existing data. A snapshot with omitempty that was empty
	// when it was written can't be told from one that was never taken.
	FillSnapshots bool
	// Progress, where set, is called after every 500 documents.
	Progress func(RepairProgress)
	// Resume goes on behind the last Progress of a Repair of the same tenant
	// that was stopped.
	Resume string
}

// RepairProgress is how far a Repair is.
type RepairProgress struct {
	// EntityType is the species whose documents were compared last.
	EntityType string
	// Compared and Repaired count documents of this run.
	Compared, Repaired int64
	// Resume goes on from here; see [RepairOptions].
	Resume string
}

// Repair is Audit that writes what should be there, on the condition that the
// document is still the one that was compared. It is also how fields that are
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
	err := w.run(ctx, func(m *member, found []finding) error {
		repaired, err := w.repair(ctx, m, found, fillSnapshots)
		progress.Repaired += repaired
		return err
	}, func(m *member, n int, resume string) {
		progress.EntityType, progress.Resume = m.name(), resume
		progress.Compared += int64(n)
		if tell != nil {
			tell(progress)
		}
	})
	return progress, err
}

// walk visits the documents of a tenant that hold what is kept, species after
// species, by their ids.
type walk struct {
	schema *schema
	tenant string
	from   position
}

// position is where a walk goes on.
type position struct {
	EntityType string `json:"entityType"`
	ID         string `json:"id"`
}

func (w *walk) resume(text string) error {
	if err := json.Unmarshal([]byte(text), &w.from); err != nil || w.from.EntityType == "" {
		return &tenantitem.InvalidError{What: "RepairOptions.Resume", Reason: "it is not one of ours", Hint: "pass what RepairProgress.Resume held, or nothing"}
	}
	return nil
}

func (w *walk) run(ctx context.Context, each func(*member, []finding) error, done func(m *member, n int, resume string)) error {
	if err := tenantitem.ValidateTenantID(w.tenant); err != nil {
		return err
	}
	for _, m := range w.schema.members {
		if len(m.own) == 0 || cmp.Compare(m.name(), w.from.EntityType) < 0 {
			continue
		}
		after := ""
		if m.name() == w.from.EntityType {
			after = w.from.ID
		}
		q := repository.Where(repository.Missing("deletedAt"), repository.Gte("id", after)).OrderBy("id")
		err := inChunks(m.docs.Documents(ctx, w.tenant, nil, q, m.checked()...), func(docs []repository.Document) error {
			found, err := m.checkAll(ctx, w.tenant, docs, true)
			if err == nil {
				err = each(m, found)
			}
			if err != nil {
				return err
			}
			if done == nil {
				return nil
			}
			resume, err := json.Marshal(position{m.name(), docs[len(docs)-1].ID})
			done(m, len(docs), string(resume))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checked are the members that the species' rules look at.
func (m *member) checked() []string {
	var names []string
	for _, r := range m.own {
		names = append(names, r.fields()...)
	}
	return distinct(names)
}

func (m *member) checkAll(ctx context.Context, tenant string, docs []repository.Document, strict bool) ([]finding, error) {
	var found []finding
	for _, r := range m.own {
		f, err := r.check(ctx, tenant, docs, strict)
		if err != nil {
			return nil, err
		}
		found = append(found, f...)
	}
	return found, nil
}

// repair writes findings until nothing differs; documents that changed
// meanwhile are read and compared again.
func (w *walk) repair(ctx context.Context, m *member, found []finding, fillSnapshots bool) (repaired int64, err error) {
	for round := 0; ; round++ {
		found = slices.DeleteFunc(found, func(f finding) bool { return f.filling && !fillSnapshots })
		if len(found) == 0 {
			return repaired, nil
		}
		if round == maxRounds {
			return repaired, fmt.Errorf("denorm: documents of %s are written by others all the time (run Repair again)", m.name())
		}
		if round > 0 {
			if err := pause(ctx, round); err != nil {
				return repaired, err
			}
		}
		patches, err := patchesOf(nil, found)
		if err != nil {
			return repaired, err
		}
		done, err := m.docs.PatchDocuments(ctx, patches)
		repaired += int64(len(done))
		if err != nil {
			return repaired, err
		}
		again, err := w.again(ctx, m, patches, done)
		if err != nil {
			return repaired, err
		}
		if found, err = m.checkAll(ctx, w.tenant, again, true); err != nil {
			return repaired, err
		}
	}
}

// again reads the documents that refused their patch, and those whose patch
// did not have room for everything.
func (w *walk) again(ctx context.Context, m *member, patches []repository.DocumentPatch, done []repository.Stub) ([]repository.Document, error) {
	patched := map[string]bool{}
	for _, stub := range done {
		patched[stub.ID+fmt.Sprint(stub.Key)] = true
	}
	var docs []repository.Document
	for _, p := range patches {
		if patched[p.ID+fmt.Sprint(p.Key)] && len(p.Sets) < repository.MaxDocumentPatch {
			continue
		}
		now, err := m.docs.DocumentsByID(ctx, w.tenant, m.given(p.Key), []string{p.ID}, m.checked()...)
		if err != nil {
			return nil, err
		}
		docs = append(docs, living(values(now))...)
	}
	return docs, nil
}

// given are the values of a document's key that In takes beside the tenant.
func (m *member) given(key []any) []any {
	var more []any
	for i, path := range m.docs.KeyPaths() {
		if i > 0 && path != "/entityType" && i < len(key) {
			more = append(more, key[i])
		}
	}
	return more
}
