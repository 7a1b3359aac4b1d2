package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Where documents that keep account of each other share a logical partition,
// they change in one transaction: the schema is the engine.TransactionHook of their
// entity types. What it leaves out, because the other document lies elsewhere or
// the transaction has no room, the change feed brings later; and what it did,
// the feed finds done.

// shares reports whether documents of both may lie in one logical partition.
func (typ *entityType) shares(other *entityType) bool {
	if typ.entity.Container != other.entity.Container {
		return false
	}
	return typ == other || !slices.Contains(typ.entity.Layout.KeyFields(typ.entity.PartitionKey), "entityType")
}

// Members are what Companions looks at.
func (s *schema) Members(docs *engine.Collection) (names []string, leads bool) {
	typ := s.byDocs(docs)
	if typ == nil {
		return nil, false
	}
	return typ.transactionFields, typ.hasTransactionFollowers
}

// connect finds out which entity types have to change with which.
func (s *schema) connect() {
	for _, r := range s.rules {
		if j, ok := r.(transactionRule); ok && j.connect() {
			s.transactionRules = append(s.transactionRules, j)
		}
	}
	for _, typ := range s.entityTypes {
		typ.transactionFields = distinct(typ.transactionFields)
	}
}

// Companions returns what has to change with a transaction.
func (s *schema) Companions(ctx context.Context, its engine.Transaction) ([]engine.Companion, error) {
	tx := &transaction{schema: s, tx: its, targets: map[targetKey]*target{}, wanted: map[*entityType][]string{}}
	for _, c := range its.Changes {
		if typ := s.byDocs(c.Collection); typ != nil {
			tx.changes = append(tx.changes, change{Change: c, typ: typ})
		}
	}
	for i := range tx.changes {
		c := &tx.changes[i]
		tx.keepComputed(*c)
		if err := tx.recompute(ctx, *c); err != nil {
			return nil, err
		}
		if t := tx.targets[targetKey{c.typ, c.ID}]; t != nil {
			c.After = t.asItWillBe()
		}
	}
	var changes []func(context.Context) error
	for _, j := range s.transactionRules {
		if change := j.join(tx); change != nil {
			changes = append(changes, change)
		}
	}
	if err := tx.fetch(ctx); err != nil {
		return nil, err
	}
	for _, change := range changes {
		if err := change(ctx); err != nil {
			return nil, err
		}
	}
	return tx.companions()
}

// transaction is one call of Companions.
type transaction struct {
	schema  *schema
	tx      engine.Transaction
	changes []change
	wanted  map[*entityType][]string // documents to read, by type
	targets map[targetKey]*target
	order   []*target
}

// want names a document that a change depends on.
func (tx *transaction) want(typ *entityType, id string) { tx.wanted[typ] = append(tx.wanted[typ], id) }

// change is a change of the transaction, of an entity type that takes part.
type change struct {
	engine.Change
	typ *entityType
}

func alive(d *engine.Document) bool { return d != nil && d.DeletedAt == "" }

// refs returns the references of a document that counts; none of one that is
// not there.
func refs(d *engine.Document, f *tenantitem.Field) []string {
	if !alive(d) {
		return nil
	}
	return distinct(slices.Clone(refsIn(d.Fields, f)))
}

// target is a document that has to change.
type target struct {
	typ *entityType
	doc engine.Document
	// own says that the transaction itself writes the document, which is
	// changed once more, as it is then.
	own bool
	// bound says that what changes was computed from what the document holds, so
	// that its version is a condition even where nothing is to be changed.
	bound bool
	sets  map[string]json.RawMessage // by top-level member; nil removes it
	names []string
	incs  []engine.MemberIncrement
}

type targetKey struct {
	typ *entityType
	id  string
}

// fetch makes targets of those wanted documents that lie in the transaction's
// partition and are not deleted.
func (tx *transaction) fetch(ctx context.Context) error {
	for _, typ := range tx.schema.entityTypes {
		if err := tx.fetchOf(ctx, typ); err != nil {
			return err
		}
	}
	return nil
}

func (tx *transaction) fetchOf(ctx context.Context, typ *entityType) error {
	var missing []string
	for _, id := range validIDs(tx.wanted[typ]) {
		if tx.targets[targetKey{typ, id}] != nil {
			continue
		}
		if c, ok := tx.changed(typ, id); ok {
			if alive(c.After) {
				tx.add(typ, &target{typ: typ, doc: *c.After, own: true})
			}
			continue
		}
		missing = append(missing, id)
	}
	if len(missing) == 0 {
		return nil
	}
	docs, err := typ.docs.DocumentsByID(ctx, tx.tx.TenantID, typ.given(tx.tx.Key), missing, typ.transactionFields...)
	if err != nil {
		return err
	}
	for _, id := range missing {
		if d, ok := docs[id]; ok && alive(&d) && fmt.Sprint(d.Key) == fmt.Sprint(tx.tx.Key) {
			tx.add(typ, &target{typ: typ, doc: d})
		}
	}
	return nil
}

// changed finds a document among those that the transaction writes.
func (tx *transaction) changed(typ *entityType, id string) (change, bool) {
	i := slices.IndexFunc(tx.changes, func(c change) bool { return c.typ == typ && c.ID == id })
	if i < 0 {
		return change{}, false
	}
	return tx.changes[i], true
}

func (tx *transaction) add(typ *entityType, t *target) *target {
	t.sets = map[string]json.RawMessage{}
	tx.targets[targetKey{typ, t.doc.ID}] = t
	tx.order = append(tx.order, t)
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

// keepComputed gives a document that an upsert overwrites the members that Grove keeps in it: a caller who
// writes without having read does not know them.
func (tx *transaction) keepComputed(c change) {
	if !c.Upsert || !alive(c.After) {
		return
	}
	for _, f := range c.typ.computed {
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
		tx.itself(c).set(f.Path, raw)
	}
}

// recompute brings up to date what Grove keeps in a document that was deleted and
// comes back: nothing did while it was deleted.
func (tx *transaction) recompute(ctx context.Context, c change) error {
	if c.Before == nil || alive(c.Before) || !alive(c.After) {
		return nil
	}
	for _, j := range tx.schema.transactionRules {
		if j.holder() != c.typ {
			continue
		}
		found, err := j.check(ctx, tx.tx.TenantID, []engine.Document{*tx.itself(c).asItWillBe()}, false)
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.unrepairable == nil {
				tx.itself(c).set(f.field, f.want)
			}
		}
	}
	return nil
}

// itself is a changed document as a target.
func (tx *transaction) itself(c change) *target {
	if t := tx.targets[targetKey{c.typ, c.ID}]; t != nil {
		return t
	}
	return tx.add(c.typ, &target{typ: c.typ, doc: *c.After, own: true})
}

// asItWillBe is the document with what was set.
func (t *target) asItWillBe() *engine.Document {
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
func (tx *transaction) companions() ([]engine.Companion, error) {
	var out []engine.Companion
	for _, t := range tx.order {
		c := engine.Companion{Collection: t.typ.docs, DocumentPatch: engine.DocumentPatch{Document: t.doc}}
		for _, name := range t.names {
			if len(c.Sets)+len(c.Removes)+len(t.incs) >= engine.MaxDocumentPatch {
				break
			}
			pointer := "/" + escapePointer(name)
			if raw := t.sets[name]; raw != nil {
				c.Sets = append(c.Sets, engine.MemberValue{Pointer: pointer, Value: raw})
			} else {
				c.Removes = append(c.Removes, pointer)
			}
		}
		c.Increments = t.incs[:min(len(t.incs), engine.MaxDocumentPatch)]
		if t.own || !t.bound && len(c.Sets)+len(c.Removes) == 0 {
			c.ETag = "" // an increment is right whatever else changed
		}
		if len(c.Sets)+len(c.Removes)+len(c.Increments) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}
