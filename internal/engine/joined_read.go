package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/cosmosgrove/grove/tenantitem"
)

// An observer that looks at one other document after each write is spared the request
// where that document lies in the logical partition of the write: the transaction
// reads it, and shows it as it was when the write took effect. Where it is missing, the
// transaction is refused, and so is the write, with the observer's error. Where
// the answer is lost, or the transaction is full, the observer looks itself.

// JoinedRead names a document that a transaction reads for an observer.
type JoinedRead struct {
	Collection *Collection
	ID         string
	// Missing is the error of the write where there is no such document.
	Missing error
}

func (r JoinedRead) same(other JoinedRead) bool {
	return r.Collection == other.Collection && r.ID == other.ID
}

// ReadHook names the one document that an observer is going to look at after a
// write of entities, if it lies in the same logical partition.
type ReadHook func(at *Partition, entities []any) (JoinedRead, bool)

// SetReadHook attaches the hook of the observer that looks.
func (c *Collection) SetReadHook(h ReadHook) { c.hooks.read = h }

// joinedRead is what one verb's transaction has read.
type joinedRead struct {
	JoinedRead
	found *Document
}

type joinedReadKey struct{}

// WithJoinedRead lets the transaction of a verb read for its observer.
func (c *Collection) WithJoinedRead(ctx context.Context) context.Context {
	if c.hooks.read == nil {
		return ctx
	}
	return context.WithValue(ctx, joinedReadKey{}, &joinedRead{})
}

// ReadByTransaction returns the outline of a document as the transaction of the verb's last write
// has read it. It reports false where it did not.
func (c *Collection) ReadByTransaction(ctx context.Context, id string) (Document, bool) {
	r, _ := ctx.Value(joinedReadKey{}).(*joinedRead)
	if r == nil || r.found == nil || r.Collection != c || r.ID != id {
		return Document{}, false
	}
	return *r.found, true
}

// applyReading is apply, with the read of an observer where there is one.
func (k *Call) applyReading(ctx context.Context, ops []Operation) ([]Result, error) {
	r, _ := ctx.Value(joinedReadKey{}).(*joinedRead)
	if r == nil {
		return k.apply(ctx, k.At, ops)
	}
	r.found = nil
	read, ok := readFor(k.At, ops)
	if !ok || len(ops) == MaxBatchOperations || batchSize(ops)+len(read.ID)+operationOverhead > tenantitem.MaxDocumentBytes {
		return k.apply(ctx, k.At, ops)
	}
	sent := append(slices.Clip(ops), Operation{Kind: OpRead, ID: read.ID, Reads: read.Collection, spare: true})
	results, err := k.apply(ctx, k.At, sent)
	var failed *BatchError
	switch {
	case err == nil:
		r.JoinedRead, r.found = read, read.outline(k.At, results[len(ops)].Body)
		return results[:len(ops)], nil
	case !errors.As(err, &failed) || failed.Index < len(ops) || errors.Is(err, ErrAmbiguous):
		return nil, err
	case k.lost: // an earlier attempt may still take effect
		inDoubt(k.At, ops)
		return nil, &ambiguousError{err}
	case failed.Status == http.StatusNotFound && read.Missing != nil:
		return nil, Foreign(read.Missing)
	}
	return k.apply(ctx, k.At, ops) // nothing was applied
}

// readFor is the one document that the hooks of all operations name.
func readFor(at *Partition, ops []Operation) (read JoinedRead, ok bool) {
	entities := map[*Collection][]any{}
	for _, op := range ops {
		if op.Entity != nil && op.collection != nil && op.collection.hooks.read != nil {
			entities[op.collection] = append(entities[op.collection], op.Entity)
		}
	}
	for c, of := range entities {
		next, found := c.hooks.read(at, of)
		if !found || ok && !next.same(read) {
			return read, false
		}
		read, ok = next, true
	}
	isRead := func(op Operation) bool { return op.ID == read.ID }
	return read, ok && !slices.ContainsFunc(ops, isRead)
}

// outline is nil for what is not a document of the entity type and the tenant.
func (r JoinedRead) outline(at *Partition, raw []byte) *Document {
	if len(raw) == 0 {
		return nil
	}
	d, tenant := r.Collection.readOutline(raw)
	if r.Collection.CheckNames(at, tenant, d.EntityType) != nil {
		return nil
	}
	d.Key = r.Collection.outlineKey(*at)
	return &d
}

// LiesIn reports whether documents under a key, as In takes it, lie in a logical
// partition of another collection.
func (c *Collection) LiesIn(at *Partition, other *Collection, key []any) bool {
	where := c.Resolve(c.entityType, at.Tenant, key)
	return c.Container == other.Container && where.Err == nil && where.Full && at.Full &&
		KeyText(where.Values) == KeyText(at.Values) && len(c.PartitionsOf(where)) == 1
}
