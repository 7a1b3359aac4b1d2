package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Contents is all that one container holds of a tenant, of every entity type and
// of none that is known, deleted documents included. It goes around hooks and
// rules. It is what the tenant's life in package registry works with; its shape
// may change.
type Contents struct{ core *Collection }

// Contents returns the view of the whole container.
func (c *Collection) Contents() *Contents { return &Contents{c} }

// Outlines returns the outlines of all documents of the tenant, with their entity types.
func (c *Contents) Outlines(ctx context.Context, tenant string) iter.Seq2[Document, error] {
	projection := Projection{outline: true, types: true}.sql(c.core)
	return func(yield func(Document, error) bool) {
		for d, err := range readMixed[Document](ctx, c.core, tenant, "Outlines", projection, All()) {
			if l := c.core.layout; l.Typeless() || l.TypeOptional() && !d.saysType {
				d.EntityType = c.core.entityType
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Documents returns all documents of the tenant as they are stored, with the
// service's own members.
func (c *Contents) Documents(ctx context.Context, tenant string) iter.Seq2[json.RawMessage, error] {
	return c.DocumentsWhere(ctx, tenant, All())
}

// DocumentsWhere is Documents with a condition.
func (c *Contents) DocumentsWhere(ctx context.Context, tenant string, q Query) iter.Seq2[json.RawMessage, error] {
	return readMixed[json.RawMessage](ctx, c.core, tenant, "Documents", "SELECT VALUE "+RootAlias+" FROM "+RootAlias, q)
}

func readMixed[V any](ctx context.Context, c *Collection, tenant, op, projection string, q Query) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		at := c.Resolve(c.entityType, tenant, nil)
		if at.Err == nil {
			// The entity type may be a level; here only the tenant is named.
			lead := 0
			for lead < len(at.Values) && c.levels[lead].source.Kind == layout.FromTenant {
				lead++
			}
			at.Values, at.Full = at.Values[:lead], lead == len(c.levels)
		}
		at.Deleted, at.mixed = true, true
		k := Call{Collection: c, Op: op, At: &at}
		err := k.StartQuery(ctx)
		if err == nil && at.Full {
			err = projectOne(ctx, &k, q, projection, func(v V) bool { return yield(v, nil) })
		} else if err == nil {
			err = projectAcross(ctx, &k, q, projection, func(v V) bool { return yield(v, nil) })
		}
		if err != nil {
			var zero V
			yield(zero, k.Fail(err))
		}
	}
}

// Remove deletes documents in batches, as [Collection.Remove] does, of whatever
// entity types they are.
func (c *Contents) Remove(ctx context.Context, outlines []Document) (removed []Document, err error) {
	return c.core.change(ctx, "Remove", outlines, func(outline Document) (Operation, Document) {
		op := Operation{ID: outline.ID, ETag: outline.ETag, goal: true}
		op.Deletes(c.core)
		op.after, op.stored = nil, true // it goes around hooks
		return op, outline
	})
}

// InsertOutcome is what became of a document that was inserted.
type InsertOutcome int

// The outcomes of an insert. Nothing is known of a document that an error kept
// from being tried.
const (
	InsertUnknown     InsertOutcome = iota
	InsertCreated                   // it was not there
	InsertUnchanged                 // it was there with the same content
	InsertOverwritten               // it was there with another
	InsertConflict                  // it is there with another, and was left
	InsertNotUnique                 // another document has its value of a unique key
	InsertRefused                   // the service refuses it
)

// incoming is a document to be inserted.
type incoming struct {
	n    int // its place among all
	id   string
	at   Partition
	body []byte
}

// KeyOf returns the values of all levels of a document's partition key, and
// its id. It fails with [ErrInvalid] when the document can't be stored here.
func (c *Contents) KeyOf(raw []byte) (id string, key []any, err error) {
	members := fieldsOf(raw)
	if err := codec.Decode(memberAt(members, "id"), &id); err != nil {
		return "", nil, errors.Join(ErrInvalid, err)
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return "", nil, err
	}
	var stored []any
	if c.core.layout != nil {
		stored = c.core.layout.StoredKey(raw)
	}
	for i, level := range c.core.levels {
		var v any
		if stored != nil {
			v = stored[i]
		} else if err := codec.Decode(memberAt(members, level.field.Path), &v); err != nil {
			return "", nil, errors.Join(ErrInvalid, err)
		}
		value, err := keyValue(level.path, v)
		if err != nil {
			return "", nil, err
		}
		key = append(key, value)
	}
	return id, key, nil
}

// Insert stores documents without the service's own members, in batches. A
// document whose id is taken by one with the same content counts as unchanged,
// so that an insert can be repeated; one with other content is a conflict, or
// is overwritten when that is asked for. One that can't be stored keeps no
// other from being stored: the outcomes are in the documents' order, and
// complete when there is no error.
func (c *Contents) Insert(ctx context.Context, documents [][]byte, overwrite bool) ([]InsertOutcome, error) {
	out := make([]InsertOutcome, len(documents))
	groups := map[string][]incoming{}
	var order []string
	for n, raw := range documents {
		id, key, err := c.KeyOf(raw)
		if err != nil {
			return out, err
		}
		if len(raw) > tenantitem.MaxDocumentBytes {
			return out, errTooLarge("document", len(raw))
		}
		text := KeyText(key)
		if groups[text] == nil {
			order = append(order, text)
		}
		tenant, _ := key[0].(string)
		if c.core.layout != nil {
			doc, _ := c.core.layout.Canonical(raw) // of whatever entity type it is
			tenant = readHeader(doc).TenantID
		}
		at := Partition{Tenant: tenant, Values: key, Full: true, Deleted: true, mixed: true, Key: cosmos.NewPartitionKey(key...)}
		groups[text] = append(groups[text], incoming{n: n, id: id, at: at, body: raw})
	}
	for _, text := range order {
		for _, batch := range bySize(groups[text]) {
			at := batch[0].at
			k := Call{Collection: c.core, Op: "Insert", At: &at, batch: true}
			err := k.Start(ctx)
			if err == nil {
				err = k.insert(ctx, batch, overwrite, out)
			}
			if err != nil {
				return out, k.Fail(err)
			}
		}
	}
	return out, nil
}

// bySize cuts documents to batches that the service takes.
func bySize(documents []incoming) [][]incoming {
	var out [][]incoming
	var batch []incoming
	size := 0
	for _, d := range documents {
		more := len(d.body) + len(d.id) + operationOverhead
		if len(batch) == MaxBatchOperations || len(batch) > 0 && size+more > tenantitem.MaxDocumentBytes {
			out, batch, size = append(out, batch), nil, 0
		}
		batch, size = append(batch, d), size+more
	}
	return append(out, batch)
}

// insert creates documents of one logical partition together. When that fails
// because some are there, or without an answer, it looks at what is there and
// goes on with the rest; one that the service refuses is left out.
func (k *Call) insert(ctx context.Context, documents []incoming, overwrite bool, out []InsertOutcome) error {
	var others []incoming
	for stalls := 0; len(documents) > 0; {
		err := k.createAll(ctx, documents, false)
		if err == nil {
			noteAll(documents, InsertCreated, out)
			break
		}
		refused, known := refusedIn(err, documents)
		if known != InsertConflict && !errors.Is(err, ErrAmbiguous) {
			if known == InsertUnknown {
				return err
			}
			out[documents[refused].n] = known
			documents = slices.Delete(documents, refused, refused+1)
			continue
		}
		there, err := k.bodies(ctx, documents)
		if err != nil {
			return err
		}
		before := len(documents)
		var failed error
		documents = slices.DeleteFunc(documents, func(d incoming) bool {
			have, ok := there[d.id]
			if !ok {
				return false
			}
			if overwrite {
				if d.body, err = k.Collection.Contents().over(d.body, have); err != nil {
					failed = errors.Join(failed, err)
					return false
				}
			}
			switch {
			case sameContent(have, d.body): // but for what is not followed yet
				out[d.n] = InsertUnchanged
			case overwrite:
				others = append(others, d)
			default:
				out[d.n] = InsertConflict
			}
			return true
		})
		if failed != nil {
			return failed
		}
		if len(documents) < before {
			continue
		}
		if stalls++; stalls == maxFailures {
			return ErrAmbiguous
		}
		// Nothing of them is there, twice: it is not the id that is taken.
		if known == InsertConflict && stalls > 1 {
			out[documents[refused].n] = InsertNotUnique
			documents = slices.Delete(documents, refused, refused+1)
			stalls = 0
		}
	}
	return k.overwrite(ctx, others, out)
}

func (k *Call) overwrite(ctx context.Context, documents []incoming, out []InsertOutcome) error {
	for len(documents) > 0 {
		err := k.createAll(ctx, documents, true)
		if err == nil {
			noteAll(documents, InsertOverwritten, out)
			return nil
		}
		refused, known := refusedIn(err, documents)
		switch known {
		case InsertUnknown:
			return err
		case InsertConflict: // an upsert has no conflict of ids
			known = InsertNotUnique
		}
		out[documents[refused].n] = known
		documents = slices.Delete(documents, refused, refused+1)
	}
	return nil
}

func noteAll(documents []incoming, what InsertOutcome, out []InsertOutcome) {
	for _, d := range documents {
		out[d.n] = what
	}
}

// refusedIn is the document that the service refused a batch for.
func refusedIn(err error, documents []incoming) (int, InsertOutcome) {
	var inBatch *BatchError
	if errors.Is(err, ErrAmbiguous) || !errors.As(err, &inBatch) || inBatch.Index < 0 || inBatch.Index >= len(documents) {
		return 0, InsertUnknown
	}
	switch inBatch.Status {
	case http.StatusConflict:
		return inBatch.Index, InsertConflict
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return inBatch.Index, InsertRefused
	}
	return 0, InsertUnknown
}

func (k *Call) createAll(ctx context.Context, documents []incoming, overwrite bool) error {
	kind := OpCreate
	if overwrite {
		kind = OpUpsert
	}
	ops := make([]Operation, len(documents))
	for i, d := range documents {
		ops[i].ID = d.id
		ops[i].Writes(k.Collection, kind, d.body)
		ops[i].stored = true
	}
	_, err := k.apply(ctx, k.At, ops)
	return err
}

// bodies reads those of the documents that are there.
func (k *Call) bodies(ctx context.Context, documents []incoming) (map[string]json.RawMessage, error) {
	ids := make([]any, len(documents))
	for i, d := range documents {
		ids[i] = d.id
	}
	there := map[string]json.RawMessage{}
	st, err := k.Collection.Compile(k.At, Where(In("id", ids...)), SelectAll)
	if err != nil {
		return nil, err
	}
	err = EachPage(ctx, k, k.At, st, 0, func(rows []json.RawMessage) (bool, error) {
		for _, raw := range rows {
			there[readHeader(raw).ID] = raw
		}
		return true, nil
	})
	return there, err
}

// WithoutSystemMembers returns a stored document without what the service
// added, members otherwise as they are and in their order.
func WithoutSystemMembers(raw []byte) ([]byte, error) {
	return codec.Without(raw, documents.SystemMembers())
}

// sameContent compares documents as JSON, the service's own members aside.
func sameContent(a, b []byte) bool {
	var x, y map[string]any
	if codec.Decode(a, &x) != nil || codec.Decode(b, &y) != nil {
		return false
	}
	for _, name := range documents.SystemMembers() {
		delete(x, name)
		delete(y, name)
	}
	return reflect.DeepEqual(x, y)
}
