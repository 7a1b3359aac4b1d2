package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Where documents that keep account of each other share a logical partition,
// they change in one transaction: the schema is the repository.TransactionHook of their
// species. What it leaves out, because the other document lies elsewhere or
// the transaction has no room, the change feed brings later; and what it did,
// the feed finds done.

// shares reports whether documents of both may lie in one logical partition.
func (m *member) shares(other *member) bool {
	if m.species.Container != other.species.Container {
		return false
	}
	return m == other || !slices.Contains(m.species.PartitionKey, "/entityType")
}

// Members are what Companions looks at.
func (s *schema) Members(sp *repository.Species) (names []string, leads bool) {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.docs.Same(sp) })
	if i < 0 {
		return nil, false
	}
	return s.members[i].near, s.members[i].leads
}

// besides finds out which species have to change with which.
func (s *schema) transactionHooks() {
	for _, r := range s.rules {
		switch r := r.(type) {
		case *kin:
			if !r.parent.shares(r.child) {
				continue
			}
			r.near = true
			r.child.leads = true
			r.child.near = append(r.child.near, topOf(r.ref.Path))
			if len(r.recents) > 0 {
				r.child.near = append(r.child.near, "id") // lists are in the order of ids
			}
			for _, n := range r.recents {
				r.child.near = append(r.child.near, n.card...)
			}
			r.parent.near = append(r.parent.near, r.fields()...)
		case leading:
			if !r.lead.shares(r.other) {
				continue
			}
			r.near = true
			r.lead.leads, r.other.leads = true, true
			r.lead.near = append(r.lead.near, r.leadField.Path)
			r.other.near = append(r.other.near, r.otherField.Path, wishesField)
		}
	}
	for _, m := range s.members {
		m.near = distinct(m.near)
	}
}

// Companions returns what has to change with a transaction.
func (s *schema) Companions(ctx context.Context, tx repository.Transaction) ([]repository.Companion, error) {
	b := &beside{schema: s, tx: tx, targets: map[targetKey]*target{}, kins: map[relatedKey]*family{}}
	for _, c := range tx.Changes {
		at := slices.IndexFunc(s.members, func(m *member) bool { return m.docs.Same(c.Species) })
		if at < 0 {
			continue
		}
		b.changes = append(b.changes, change{Change: c, m: s.members[at]})
	}
	for i := range b.changes {
		c := &b.changes[i]
		b.restore(*c)
		if err := b.revive(ctx, *c); err != nil {
			return nil, err
		}
		if t := b.targets[targetKey{c.m, c.ID}]; t != nil {
			c.After = t.asItWillBe()
		}
	}
	for _, c := range b.changes {
		b.collectKin(c)
	}
	if err := b.collectLinks(ctx); err != nil {
		return nil, err
	}
	if err := b.resolveRelated(ctx); err != nil {
		return nil, err
	}
	return b.companions()
}

// beside is one call of Companions.
type beside struct {
	schema   *schema
	tx       repository.Transaction
	changes  []change
	kins     map[relatedKey]*family
	families []*family // in the order in which they were found
	targets  map[targetKey]*target
	order    []*target
}

// change is a change of the transaction, of a species that takes part.
type change struct {
	repository.Change
	m *member
}

func alive(d *repository.Document) bool { return d != nil && d.DeletedAt == "" }

// refs returns the references of a document that counts; none of one that is
// not there.
func refs(d *repository.Document, f *tenantitem.Field) []string {
	if !alive(d) {
		return nil
	}
	return distinct(slices.Clone(refsIn(d.Fields, f)))
}

// target is a document that has to change.
type target struct {
	m   *member
	doc repository.Document
	// own says that the transaction itself writes the document, which is
	// changed once more, as it is then.
	own bool
	// looked says that what changes depends on what the document holds, also
	// where nothing has to.
	looked bool
	sets   map[string]json.RawMessage // by top-level member; nil removes it
	names  []string
	incs   []repository.MemberIncrement
}

type targetKey struct {
	m  *member
	id string
}

// fetch makes targets of those documents that lie in the transaction's
// partition and are not deleted.
func (b *beside) fetch(ctx context.Context, m *member, ids []string) error {
	var missing []string
	for _, id := range validIDs(slices.Clone(ids)) {
		if b.targets[targetKey{m, id}] != nil {
			continue
		}
		if c, ok := b.changed(m, id); ok {
			if alive(c.After) {
				b.add(m, &target{m: m, doc: *c.After, own: true})
			}
			continue
		}
		missing = append(missing, id)
	}
	if len(missing) == 0 {
		return nil
	}
	docs, err := m.docs.DocumentsByID(ctx, b.tx.TenantID, m.given(b.tx.Key), missing, m.near...)
	if err != nil {
		return err
	}
	for _, id := range missing {
		if d, ok := docs[id]; ok && alive(&d) && fmt.Sprint(d.Key) == fmt.Sprint(b.tx.Key) {
			b.add(m, &target{m: m, doc: d})
		}
	}
	return nil
}

// changed finds a document among those that the transaction writes.
func (b *beside) changed(m *member, id string) (change, bool) {
	i := slices.IndexFunc(b.changes, func(c change) bool { return c.m == m && c.ID == id })
	if i < 0 {
		return change{}, false
	}
	return b.changes[i], true
}

func (b *beside) add(m *member, t *target) *target {
	t.sets = map[string]json.RawMessage{}
	b.targets[targetKey{m, t.doc.ID}] = t
	b.order = append(b.order, t)
	return t
}

// now returns a top-level member as it is going to be.
func (t *target) now(name string) json.RawMessage {
	if raw, ok := t.sets[name]; ok {
		return raw
	}
	return t.doc.Fields[name]
}

// set writes a top-level member; nil removes it.
func (t *target) set(name string, raw json.RawMessage) {
	if _, ok := t.sets[name]; !ok {
		t.names = append(t.names, name)
	}
	t.sets[name] = raw
}

// restore gives a document that is written over what is kept in it: whoever
// writes without having read does not know.
func (b *beside) restore(c change) {
	if !c.Upsert || !alive(c.After) {
		return
	}
	for _, f := range c.m.kept {
		var was json.RawMessage
		if alive(c.Before) {
			was = c.Before.Fields[f.Path]
		}
		raw, err := canonical(f.Type, was)
		if err != nil {
			continue // the keeper tells of it
		}
		if same, err := sameValue(f.Type, c.After.Fields[f.Path], raw); err != nil || same {
			continue
		}
		b.itself(c).set(f.Path, raw)
	}
}

// revive brings up to date what is kept in a document that was deleted and
// comes back: while it was away, nobody did.
func (b *beside) revive(ctx context.Context, c change) error {
	if c.Before == nil || alive(c.Before) || !alive(c.After) {
		return nil
	}
	for _, r := range c.m.own {
		if !isNear(r) {
			continue
		}
		found, err := r.check(ctx, b.tx.TenantID, []repository.Document{*b.itself(c).asItWillBe()}, false)
		if err != nil {
			return err
		}
		for _, f := range found {
			b.itself(c).set(f.field, f.want)
		}
	}
	return nil
}

func isNear(r rule) bool {
	switch r := r.(type) {
	case *kin:
		return r.near
	case leading:
		return r.near
	case following:
		return r.near
	}
	return false
}

// itself is a changed document as a target.
func (b *beside) itself(c change) *target {
	if t := b.targets[targetKey{c.m, c.ID}]; t != nil {
		return t
	}
	return b.add(c.m, &target{m: c.m, doc: *c.After, own: true})
}

// asItWillBe is the document with what was set.
func (t *target) asItWillBe() *repository.Document {
	d := t.doc
	d.Fields = maps.Clone(d.Fields)
	for name, raw := range t.sets {
		if d.Fields[name] = raw; raw == nil {
			delete(d.Fields, name)
		}
	}
	return &d
}

// companions writes the targets down. What has no room in one patch is left to
// the change feed.
func (b *beside) companions() ([]repository.Companion, error) {
	var out []repository.Companion
	for _, t := range b.order {
		c := repository.Companion{Species: t.m.docs, DocumentPatch: repository.DocumentPatch{Document: t.doc}}
		for _, name := range t.names {
			if len(c.Sets)+len(c.Removes)+len(t.incs) >= repository.MaxDocumentPatch {
				break
			}
			pointer := "/" + escapePointer(name)
			if raw := t.sets[name]; raw != nil {
				c.Sets = append(c.Sets, repository.MemberValue{Pointer: pointer, Value: raw})
			} else {
				c.Removes = append(c.Removes, pointer)
			}
		}
		c.Increments = t.incs[:min(len(t.incs), repository.MaxDocumentPatch)]
		if t.own || !t.looked && len(c.Sets)+len(c.Removes) == 0 {
			c.ETag = "" // an increment is right whatever else changed
		}
		if len(c.Sets)+len(c.Removes)+len(c.Increments) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}
