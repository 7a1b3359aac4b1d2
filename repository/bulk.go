package repository

import (
	"context"
	"errors"
	"iter"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// SaveAll saves many documents: each is created when it has no ETag, and
// replaced when it has one, as by [ScopeOf.Save]. The input is read as it is
// needed and sent in transactional batches of one logical partition each, up
// to 100 documents and 2 MB, several at a time. A document that the service
// refuses is taken out of its batch and the others go on.
//
// A scope that names a prefix of the partition key is enough: each document's
// own fields complete it.
//
// The receipt has an entry for every item, in the order of the input. The
// error is nil when all items succeeded, else one that counts the others and unwraps
// to the errors of the first 8 of them, and to what ended the run. Both are
// returned, except that bad options are an error alone. The run ends early when
// the context does, when the budget is used up or when the service refuses the
// credential.
//
// The entities must be left alone until SaveAll returns; those that were stored
// have their new ETags then. An id may occur once: a second document with it
// fails with [ErrInvalid]. Stopped and resumed, a document that the first run
// stored counts as succeeded; if another writer has overwritten it since
// without reading it (Upsert, or Replace), it counts as a conflict.
//
//go:noinline
func (s *ScopeOf[P]) SaveAll(ctx context.Context, entities iter.Seq[P], opts *BulkOptions) (*Receipt, error) {
	return s.Reader.scope.SaveAll(ctx, erased(entities), opts)
}

func (s *scope) SaveAll(ctx context.Context, entities iter.Seq[any], opts *BulkOptions) (*Receipt, error) {
	k := engine.Call{Collection: s.c, Op: "SaveAll", At: &s.at}
	ctx = k.Begin(ctx)
	b, err := engine.NewBulk(ctx, &k, opts.inner())
	if err == nil && s.at.All {
		err = s.at.RequireFull(k.Collection)
	}
	if err == nil && entities == nil {
		err = &tenantitem.InvalidError{What: "input", Reason: "it is nil", Hint: "pass slices.Values of the entities"}
	}
	if err != nil {
		return nil, k.End(err)
	}
	b.Stored = s.stored
	window := make([]any, 0, engine.BulkWindow)
	for entity := range entities {
		if b.Pass() {
			continue
		}
		if window = append(window, entity); len(window) < engine.BulkWindow {
			continue
		}
		if !s.saveWindow(ctx, b, window) {
			return finished(b.Finish(ctx, false))
		}
		window = window[:0]
	}
	return finished(b.Finish(ctx, s.saveWindow(ctx, b, window)))
}

// DeleteAll deletes many documents by their ids and applies the delete rules
// of the entity type, each as by [ScopeOf.Delete]. To delete what a query finds,
// pass the ids that [Project] reads. An entity type without rules is deleted in
// transactional batches of up to 100.
//
// Receipt, error and early end are those of [ScopeOf.SaveAll]. An id without a
// document fails with [ErrNotFound]; in a resumed run it counts as succeeded,
// since the earlier run may have deleted it.
//
//go:noinline
func (s *ScopeOf[P]) DeleteAll(ctx context.Context, ids iter.Seq[string], opts *BulkOptions) (*Receipt, error) {
	return s.Reader.scope.DeleteAll(ctx, ids, opts)
}

func (s *scope) DeleteAll(ctx context.Context, ids iter.Seq[string], opts *BulkOptions) (*Receipt, error) {
	k := engine.Call{Collection: s.c, Op: "DeleteAll", At: &s.at}
	ctx = k.Begin(ctx)
	b, err := engine.NewBulk(ctx, &k, opts.inner())
	if err == nil {
		err = s.at.RequireWritable(k.Collection)
	}
	if err == nil && ids == nil {
		err = &tenantitem.InvalidError{What: "input", Reason: "it is nil", Hint: "pass slices.Values of the ids"}
	}
	if err != nil {
		return nil, k.End(err)
	}
	// A document under an older name lies elsewhere, so that a batch whose
	// answer was lost can't tell whether it was ever where the batch looked.
	if !s.at.Full || k.Collection.GuardsDeletes() || len(k.Collection.PartitionsOf(s.at)) > 1 {
		b.PerBatch = 1
	}
	for id := range ids {
		if b.Pass() {
			continue
		}
		item := s.deletion(b.Read(id), id)
		if err := tenantitem.ValidateID(id); err != nil {
			b.Fail(item, err)
			continue
		}
		if !b.Add(ctx, item) {
			return finished(b.Finish(ctx, false))
		}
	}
	return finished(b.Finish(ctx, true))
}

func (s *scope) deletion(index int, id string) *engine.BulkItem {
	item := &engine.BulkItem{
		Index: index, At: s.at, Op: engine.Operation{ID: id},
		Alone: func(ctx context.Context, k *engine.Call) (string, error) {
			s, err := s.startPoint(ctx, k)
			if err != nil {
				return "", err
			}
			return "", s.deleteWith(ctx, k, engine.Deletion{TenantID: s.at.Tenant, Key: k.Collection.Given(s.at.Values), ID: k.ID})
		},
	}
	item.Op.Deletes(s.c)
	return item
}

// saveWindow checks, prepares and hands over some entities. It reports false
// when the run has to end.
func (s *scope) saveWindow(ctx context.Context, b *engine.Bulk, window []any) bool {
	items := make([]*engine.BulkItem, 0, len(window))
	entities := make([]any, 0, len(window))
	for _, entity := range window {
		item := &engine.BulkItem{Index: b.Read("")}
		if err := s.bindIn(b, item, entity); err != nil {
			b.Fail(item, err)
			continue
		}
		items, entities = append(items, item), append(entities, entity)
	}
	items, entities = s.dropTaken(ctx, b, items, entities)
	for _, i := range s.hooked(ctx, b, items, entities) {
		if err := s.prepare(b, items[i], entities[i]); err != nil {
			b.Fail(items[i], err)
			continue
		}
		if !b.Add(ctx, items[i]) {
			return false
		}
	}
	return b.Stopped() == nil
}

// bindIn makes an entity one of the scope, completed by the entity's own key
// fields.
func (s *scope) bindIn(b *engine.Bulk, item *engine.BulkItem, entity any) error {
	in := s
	if !isNil(entity) && !s.at.Full && s.at.Err == nil && !s.c.Derives() {
		more, err := s.c.CompleteKey(reflect.ValueOf(entity).Elem(), s.at.Values)
		if err != nil {
			return err
		}
		in = s.located(s.c.Resolve(s.c.EntityType(), s.at.Tenant, more))
	}
	if err := in.at.RequireWritable(s.c); err != nil {
		return err
	}
	if !isNil(entity) {
		if meta := engine.MetaOf(entity); meta.ID == "" && meta.ETag == "" {
			meta.ID = b.Run.ID(item.Index)
		}
	}
	at, err := in.bindEntity(entity, false)
	if err != nil {
		return err
	}
	item.At, item.Op.ID = at, engine.MetaOf(entity).ID
	b.Named(item)
	if s.c.SeesWrites() {
		_, err = s.encode(entity, nil, nil) // bad input costs no request of theirs
	}
	return err
}

// hooked lets hooks see the entities, all at once, and returns the indexes of
// those that may be written. When a hook refuses, halves are tried until the
// entities at fault are found.
func (s *scope) hooked(ctx context.Context, b *engine.Bulk, items []*engine.BulkItem, entities []any) []int {
	var kept []int
	var see func(from, to int)
	see = func(from, to int) {
		if from == to {
			return
		}
		w := engine.WriteOf(s.at.Tenant, entities[from:to])
		for i, e := range entities[from:to] {
			w.New[i] = engine.MetaOf(e).ETag == ""
		}
		err := s.c.BeforeWrite(ctx, w)
		switch {
		case err == nil:
			for i := from; i < to; i++ {
				items[i].Hidden = w.Hidden[i-from]
				kept = append(kept, i)
			}
		case b.Ends(ctx, err):
		case to-from == 1:
			b.Fail(items[from], err)
		default:
			middle := (from + to) / 2
			see(from, middle)
			see(middle, to)
		}
	}
	see(0, len(entities))
	return kept
}

// prepare encodes one entity and says how it is sent.
func (s *scope) prepare(b *engine.Bulk, item *engine.BulkItem, entity any) error {
	item.Op.Mark = s.c.MarkOf(b.Run.Mark(item.Index))
	kind := engine.OpCreate
	if item.Op.ETag = engine.MetaOf(entity).ETag; item.Op.ETag != "" {
		kind = engine.OpReplace
	}
	body, err := s.encode(entity, s.c.MarksOf(&item.Op, kind, entity), item.Hidden)
	if err != nil {
		return err
	}
	etag, mark := item.Op.ETag, item.Op.Mark
	item.Op.Writes(s.c, kind, body)
	if kind == engine.OpCreate {
		item.Alone = func(ctx context.Context, k *engine.Call) (string, error) {
			etag, overwrote, err := s.createAnew(ctx, k, k.At, entity, body, mark)
			item.Overwrote = overwrote
			return etag, err
		}
	} else {
		item.Alone = func(ctx context.Context, k *engine.Call) (string, error) {
			return k.ReplaceItem(ctx, k.At, entity, body, mark, etag, item.Op.Before)
		}
	}
	item.Op.Entity = entity
	return nil
}

// stored carries new etags into the entities and lets hooks follow.
func (s *scope) stored(ctx context.Context, items []*engine.BulkItem, etags []string) error {
	var created, replaced []any
	for i, item := range items {
		entity := item.Op.Entity
		s.written(entity, etags[i], item.Op.Body)
		if item.Op.Kind == engine.OpCreate && !item.Overwrote {
			created = append(created, entity)
		} else {
			replaced = append(replaced, entity)
		}
	}
	return errors.Join(s.afterWrite(ctx, true, created...), s.afterWrite(ctx, false, replaced...))
}
