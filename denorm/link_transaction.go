package denorm

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
)

// entry says in which list of which document an id is to be, or not to be.
type entry struct {
	link   *link
	leads  bool // the list is one of the leading side
	holder string
	id     string
	add    bool
}

func (e entry) entityType() *entityType {
	if e.leads {
		return e.link.lead
	}
	return e.link.other
}

func (r leading) connect() bool {
	if r.samePartition = r.lead.shares(r.other); !r.samePartition {
		return false
	}
	r.lead.hasTransactionFollowers, r.other.hasTransactionFollowers = true, true
	r.lead.transactionFields = append(r.lead.transactionFields, r.leadField.Path)
	r.other.transactionFields = append(r.other.transactionFields, r.otherField.Path, pendingLinksField)
	return true
}

// connect runs after that of the leading side, which decides for both.
func (r following) connect() bool { return r.samePartition }

func (r following) join(*transaction) func(context.Context) error { return nil }

// join changes the other sides of lists. What a document of the leading side
// says comes last, so that it holds.
func (r leading) join(tx *transaction) func(context.Context) error {
	var entries []entry
	for _, c := range tx.changes {
		if c.typ == r.other {
			entries = append(entries, tx.entriesOf(r.link, c, false)...)
		}
	}
	for _, c := range tx.changes {
		if c.typ == r.lead {
			entries = append(entries, tx.entriesOf(r.link, c, true)...)
		}
	}
	for _, e := range entries {
		tx.want(e.entityType(), e.holder)
	}
	return func(context.Context) error {
		for _, e := range entries {
			if t := tx.targets[targetKey{e.entityType(), e.holder}]; t != nil {
				if err := e.write(t); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// entriesOf compares the list of a changed document with what it was. from
// says that the document is of the leading side.
func (tx *transaction) entriesOf(l *link, c change, from bool) []entry {
	field := l.otherField
	if from {
		field = l.leadField
	}
	old, now := refs(c.Before, field), refs(c.After, field)
	var out []entry
	for _, id := range distinct(slices.Concat(old, now)) {
		was, is := slices.Contains(old, id), slices.Contains(now, id)
		if was == is || !from && tx.decided(l, id, c.ID) {
			continue
		}
		out = append(out, entry{link: l, leads: !from, holder: id, id: c.ID, add: is})
	}
	return out
}

// decided reports whether the transaction itself writes a document of the
// leading side and changes whether it lists an id.
func (tx *transaction) decided(l *link, leadID, id string) bool {
	c, ok := tx.changed(l.lead, leadID)
	return ok && slices.Contains(refs(c.Before, l.leadField), id) != slices.Contains(refs(c.After, l.leadField), id)
}

func (e entry) write(t *target) error {
	field := e.link.otherField
	if e.leads {
		field = e.link.leadField
	}
	t.bound = true
	stored := t.now(field.Path)
	list := refsIn(map[string]json.RawMessage{field.Path: stored}, field)
	// A list that something else spoilt is left as it is; the keeper tells of it.
	if _, err := canonical(field.Type, stored); err == nil && slices.Contains(list, e.id) != e.add {
		if e.add {
			list = append(slices.Clone(list), e.id)
		} else {
			list = without(list, e.id)
		}
		raw, err := engine.EncodeValue(list)
		if err != nil {
			return err
		}
		t.set(field.Path, raw)
	}
	if e.leads {
		return nil
	}
	return e.forget(t)
}

// forget takes a pending link away that the leading side has decided about since.
func (e entry) forget(t *target) error {
	all := pendingLinksIn(map[string]json.RawMessage{pendingLinksField: t.now(pendingLinksField)})
	w, ok := all[e.link.otherField.Path]
	if !ok || !slices.Contains(w.Add, e.id) && !slices.Contains(w.Remove, e.id) {
		return nil
	}
	w.Add, w.Remove = without(w.Add, e.id), without(w.Remove, e.id)
	all[e.link.otherField.Path] = w
	if len(w.Add)+len(w.Remove) == 0 {
		delete(all, e.link.otherField.Path)
	}
	if len(all) == 0 {
		t.set(pendingLinksField, nil)
		return nil
	}
	raw, err := engine.EncodeValue(all)
	if err != nil {
		return err
	}
	t.set(pendingLinksField, raw)
	return nil
}
