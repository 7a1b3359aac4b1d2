package repository

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/cosmosgrove/grove/tenantitem"
)

// BulkOptions change how SaveAll and DeleteAll work; nil is the defaults.
type BulkOptions struct {
	// Concurrency is the most batches in flight, 1 to 256. The run starts with
	// few, sends more while the service keeps up, and halves them when it
	// throttles. Defaults to 16.
	Concurrency int
	// Progress, where set, is called before the first request and whenever
	// items were settled, one call at a time, from several goroutines. Keep its
	// Resume where a restart finds it.
	Progress func(Progress)
	// Resume goes on with a run that was stopped: it is the Resume of that
	// run's receipt, or of its last Progress. The input must be the same, in
	// the same order. Items that the earlier run settled are passed over, and
	// items that it stored without getting to know are recognised.
	//
	// A token is signed with the repository's CursorKey and is refused by
	// another verb, species or scope.
	Resume string
}

// Progress is how far a bulk is.
type Progress struct {
	// Settled is how many items at the beginning of the input are done with.
	Settled int
	// Succeeded and Failed count items of this run, in any order.
	Succeeded, Failed int
	// Resume goes on behind the settled ones; see [BulkOptions.Resume].
	Resume string
}

// bulkWindow is how many entities hooks see at once, so that what they read
// for them is read once and not for each batch.
const bulkWindow = 1000

// SaveAll saves many documents: each is created when it has no ETag, and
// replaced when it has one, as by [Scope.Save]. The input is read as it is
// needed and sent in transactional batches of one logical partition each, up
// to 100 documents and 2 MB, several at a time. A document that the service
// refuses is taken out of its batch and the others go on.
//
// A scope that names a prefix of the partition key is enough: each document's
// own fields complete it.
//
// The receipt has an entry for every item, in the order of the input. The
// error is nil when all items succeeded, else a [*BulkError]. Both are
// returned, except that bad options are an error alone. The run ends early when
// the context does, when the budget is used up or when the service refuses the
// credential.
//
// The entities must be left alone until SaveAll returns; those that were stored
// have their new ETags then. An id may occur once: a second document with it
// fails with [ErrInvalid]. Stopped and resumed, a document that the first run
// stored counts as succeeded; if another writer has overwritten it since
// without reading it (Upsert, or Replace), it counts as a conflict.
func (s *Scope[T]) SaveAll(ctx context.Context, entities iter.Seq[*T], opts *BulkOptions) (*Receipt, error) {
	k := call{core: s.repo.core, op: "SaveAll", at: &s.at}
	ctx = k.begin(ctx)
	b, err := newBulk(ctx, &k, opts)
	if err == nil && s.at.all {
		err = s.at.requireFull(k.core)
	}
	if err == nil && entities == nil {
		err = &tenantitem.InvalidError{What: "input", Reason: "it is nil", Hint: "pass slices.Values of the entities"}
	}
	if err != nil {
		return nil, k.end(err)
	}
	b.stored = s.stored
	window := make([]*T, 0, bulkWindow)
	for entity := range entities {
		if b.pass() {
			continue
		}
		if window = append(window, entity); len(window) < bulkWindow {
			continue
		}
		if !s.saveWindow(ctx, b, window) {
			return b.finish(ctx, false)
		}
		window = window[:0]
	}
	return b.finish(ctx, s.saveWindow(ctx, b, window))
}

// DeleteAll deletes many documents by their ids and applies the delete rules
// of the species, each as by [Scope.Delete]. To delete what a query finds,
// pass the ids that [Project] reads. A species without rules is deleted in
// transactional batches of up to 100.
//
// Receipt, error and early end are those of [Scope.SaveAll]. An id without a
// document fails with [ErrNotFound]; in a resumed run it counts as succeeded,
// since the earlier run may have deleted it.
func (s *Scope[T]) DeleteAll(ctx context.Context, ids iter.Seq[string], opts *BulkOptions) (*Receipt, error) {
	k := call{core: s.repo.core, op: "DeleteAll", at: &s.at}
	ctx = k.begin(ctx)
	b, err := newBulk(ctx, &k, opts)
	if err == nil {
		err = s.at.requireFull(k.core)
	}
	if err == nil && ids == nil {
		err = &tenantitem.InvalidError{What: "input", Reason: "it is nil", Hint: "pass slices.Values of the ids"}
	}
	if err != nil {
		return nil, k.end(err)
	}
	// A document under an older name lies elsewhere, so that a batch whose
	// answer was lost can't tell whether it was ever where the batch looked.
	if k.core.hooks.Delete != nil || len(k.core.hooks.BeforeDelete) > 0 || len(k.core.partitionsOf(s.at)) > 1 {
		b.perBatch = 1
	}
	for id := range ids {
		if b.pass() {
			continue
		}
		item := s.deletion(b.read(id), id)
		if err := tenantitem.ValidateID(id); err != nil {
			b.fail(item, err)
			continue
		}
		if !b.add(ctx, item) {
			return b.finish(ctx, false)
		}
	}
	return b.finish(ctx, true)
}

func (s *Scope[T]) deletion(index int, id string) *bulkItem {
	item := &bulkItem{
		index: index, at: s.at, op: operation{id: id},
		alone: func(ctx context.Context, k *call) (string, error) {
			return "", s.deleteWith(ctx, k, "")
		},
	}
	item.op.deletes(s.repo.core)
	return item
}

// saveWindow checks, prepares and hands over some entities. It reports false
// when the run has to end.
func (s *Scope[T]) saveWindow(ctx context.Context, b *bulk, window []*T) bool {
	items := make([]*bulkItem, 0, len(window))
	entities := make([]*T, 0, len(window))
	for _, entity := range window {
		item := &bulkItem{index: b.read("")}
		if err := s.bindIn(b, item, entity); err != nil {
			b.fail(item, err)
			continue
		}
		items, entities = append(items, item), append(entities, entity)
	}
	items, entities = s.dropTaken(ctx, b, items, entities)
	for _, i := range s.hooked(ctx, b, items, entities) {
		if err := s.prepare(b, items[i], entities[i]); err != nil {
			b.fail(items[i], err)
			continue
		}
		if !b.add(ctx, items[i]) {
			return false
		}
	}
	return b.stopped() == nil
}

// adoptIn makes an entity one of the scope, completed by the entity's own key
// fields.
func (s *Scope[T]) bindIn(b *bulk, item *bulkItem, entity *T) error {
	home := s
	if entity != nil && !s.at.full && s.at.err == nil {
		more, err := s.repo.core.keyOf(reflect.ValueOf(entity).Elem(), s.at.values)
		if err != nil {
			return err
		}
		home = s.repo.In(s.at.tenant, more...)
	}
	if err := home.at.requireFull(s.repo.core); err != nil {
		return err
	}
	if entity != nil {
		if meta := s.repo.meta(entity); meta.ID == "" && meta.ETag == "" {
			meta.ID = b.run.id(item.index)
		}
	}
	at, err := home.bindEntity(entity, false)
	if err != nil {
		return err
	}
	item.at, item.op.id = at, s.repo.meta(entity).ID
	b.named(item)
	if s.repo.core.hooks.seeWrites() {
		_, err = s.encode(entity, nil, nil) // bad input costs no request of theirs
	}
	return err
}

// keyOf returns the values that complete a prefix of the key, from the
// entity's fields, as In takes them.
func (c *core) keyOf(entity reflect.Value, prefix []any) ([]any, error) {
	more := c.given(prefix)
	for i, level := range c.levels {
		if i < len(prefix) || level.isEntityType() {
			continue
		}
		field, ok := level.field.Value(entity)
		if !ok || level.isEmpty(field) {
			return nil, &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its key field %q is empty", level.path), Hint: "fill it, or name its value in In(...)"}
		}
		more = append(more, field.Interface())
	}
	return more, nil
}

// hooked lets hooks see the entities, all at once, and returns the indexes of
// those that may be written. When a hook refuses, halves are tried until the
// entities at fault are found.
func (s *Scope[T]) hooked(ctx context.Context, b *bulk, items []*bulkItem, entities []*T) []int {
	var kept []int
	var see func(from, to int)
	see = func(from, to int) {
		if from == to {
			return
		}
		w := writeOf(s.at.tenant, entities[from:to])
		for i, e := range entities[from:to] {
			w.New[i] = s.repo.meta(e).ETag == ""
		}
		err := s.beforeWrite(ctx, w)
		switch {
		case err == nil:
			for i := from; i < to; i++ {
				items[i].hidden = w.hidden[i-from]
				kept = append(kept, i)
			}
		case b.ends(ctx, err):
		case to-from == 1:
			b.fail(items[from], err)
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
func (s *Scope[T]) prepare(b *bulk, item *bulkItem, entity *T) error {
	item.op.mark = b.run.mark(item.index)
	kind := opCreate
	if item.op.etag = s.repo.meta(entity).ETag; item.op.etag != "" {
		kind = opReplace
	}
	body, err := s.encode(entity, s.repo.core.marksOf(&item.op, kind, entity), item.hidden)
	if err != nil {
		return err
	}
	etag, mark := item.op.etag, item.op.mark
	item.op.writes(s.repo.core, kind, body)
	if kind == opCreate {
		item.alone = func(ctx context.Context, k *call) (string, error) {
			return s.createAnew(ctx, k, k.at, entity, body, mark)
		}
	} else {
		item.alone = func(ctx context.Context, k *call) (string, error) {
			return k.replaceItem(ctx, k.at, entity, body, mark, etag, item.op.before)
		}
	}
	item.op.entity = entity
	return nil
}

// stored carries new etags into the entities and lets hooks follow.
func (s *Scope[T]) stored(ctx context.Context, items []*bulkItem, etags []string) error {
	var created, replaced []*T
	for i, item := range items {
		entity, _ := item.op.entity.(*T)
		s.written(entity, etags[i], item.op.body)
		if item.op.kind == opCreate {
			created = append(created, entity)
		} else {
			replaced = append(replaced, entity)
		}
	}
	if err := s.afterWrite(ctx, true, created...); err != nil {
		return err
	}
	return s.afterWrite(ctx, false, replaced...)
}
