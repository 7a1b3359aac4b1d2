package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// maxRefusals is after how many refused batches the rest of one is sent item
// by item.
const maxRefusals = 3

// newCall returns a call for what a batch of one partition does.
func (b *Bulk) newCall(at *Partition, id string) *Call {
	return &Call{Collection: b.Call.Collection, Op: b.Call.Op, At: at, ID: id, throttled: b.limit.throttled, Watch: b.Call.Watch}
}

// sendItems sends items of one logical partition until each is done with, or the
// run ends. Each batch is repeated by Call.apply (retry.go), as any write is; what
// still fails then is entered in the receipt (enter in receipt.go).
func (b *Bulk) sendItems(ctx context.Context, items []*BulkItem) {
	items = b.withoutForeign(ctx, items)
	for refused := 0; len(items) > 0; refused++ {
		if len(items) == 1 || refused == maxRefusals {
			b.sendEach(ctx, items)
			return
		}
		k := b.newCall(&items[0].At, "")
		ops := make([]Operation, len(items))
		for i, item := range items {
			ops[i] = item.Op
		}
		results, err := k.transact(ctx, ops, true)
		var failed *BatchError
		switch {
		case err == nil:
			etags := make([]string, len(items))
			for i := range items {
				etags[i] = results[i].ETag
			}
			b.succeed(ctx, items, etags)
			return
		case b.Ends(ctx, err) && !errors.Is(err, ErrAmbiguous):
			return
		case errors.As(err, &failed) && StatusOf(err) != 0 && !isThrottled(err) && !isTransient(failed.Status):
			items = b.withoutRefused(ctx, k, items, failed)
		case errors.Is(err, errBatchFull), StatusOf(err) == http.StatusRequestEntityTooLarge:
			b.sendItems(ctx, items[:len(items)/2])
			items = items[len(items)/2:]
		default:
			for _, item := range items {
				b.Fail(item, err)
			}
			return
		}
	}
}

// withoutForeign ends the items that would meet another entity type's or
// tenant's document.
func (b *Bulk) withoutForeign(ctx context.Context, items []*BulkItem) []*BulkItem {
	var ids []string
	for _, item := range items {
		// A delete that is sent alone looks by itself.
		alone := item.Op.Kind == OpDelete && len(items) == 1
		if item.Op.Kind != OpCreate && !alone && b.Call.Collection.LooksFirst(item.Op.ETag, item.Op.Before) {
			ids = append(ids, item.Op.ID)
		}
	}
	if len(ids) == 0 {
		return items
	}
	found, err := b.newCall(&items[0].At, "").foreign(ctx, &items[0].At, ids)
	if err != nil {
		if !b.Ends(ctx, err) {
			for _, item := range items {
				b.Fail(item, err)
			}
		}
		return nil
	}
	return slices.DeleteFunc(items, func(item *BulkItem) bool {
		foreign := found[item.Op.ID]
		if foreign != nil && slices.Contains(ids, item.Op.ID) {
			b.Fail(item, foreign)
		}
		return foreign != nil && slices.Contains(ids, item.Op.ID)
	})
}

// withoutRefused ends the item that a batch failed for, and those that would
// fail it next, and returns the others.
func (b *Bulk) withoutRefused(ctx context.Context, k *Call, items []*BulkItem, failed *BatchError) []*BulkItem {
	ops := make([]Operation, len(items))
	for i, item := range items {
		ops[i] = item.Op
	}
	var found map[string]*Marked
	if IsRefusal(failed) {
		var err error
		if found, err = k.storedNow(ctx, &items[0].At, ops); err != nil {
			if b.Ends(ctx, err) {
				return nil
			}
			if b.resumed {
				err = &ambiguousError{errors.Join(failed, err)}
			} else {
				err = &Refusal{Status: failed.Status}
			}
			b.Fail(items[failed.Index], err)
			return without(items, failed.Index)
		}
	}
	rest := make([]*BulkItem, 0, len(items))
	for i, item := range items {
		status := 0
		if found != nil {
			status = item.foresee(found[item.Op.ID])
		}
		if i == failed.Index && status == 0 {
			status = failed.Status
		}
		switch {
		case status == 0:
			rest = append(rest, item)
		case status == http.StatusOK:
			b.succeed(ctx, []*BulkItem{item}, []string{found[item.Op.ID].etagOf(item.Op.Mark)})
		case item.Op.Kind == OpDelete && status == http.StatusNotFound && b.resumed && len(k.Collection.PartitionsOf(item.At)) == 1:
			b.succeed(ctx, []*BulkItem{item}, []string{""}) // the earlier run may have deleted it
		case item.Op.Kind == OpDelete, status == http.StatusConflict && k.Collection.Tombstones:
			// It may lie under an older name, or the id may be taken by a
			// document that is only kept for a while.
			b.sendEach(ctx, []*BulkItem{item})
		default:
			b.Fail(item, b.inDoubt(item, &Refusal{Status: status}))
		}
	}
	return rest
}

// inDoubt is a refusal of an item that an earlier run may have stored: without a
// mark nothing tells.
func (b *Bulk) inDoubt(item *BulkItem, refused error) error {
	if b.resumed && item.Op.Kind != OpDelete && item.Op.Mark == "" && IsRefusal(refused) {
		return &ambiguousError{refused}
	}
	return refused
}

// foresee says how the service would answer the item, by its document as it is
// now: 0 when it would be written, 200 when it was already, by this very write.
func (item *BulkItem) foresee(now *Marked) int {
	switch {
	case now != nil && item.Op.Mark != "" && now.carries(item.Op.Mark):
		return http.StatusOK
	case item.Op.Kind == OpCreate && now != nil:
		return http.StatusConflict
	case item.Op.Kind != OpCreate && now == nil:
		return http.StatusNotFound
	case item.Op.Kind == OpReplace && now.ETag != item.Op.ETag:
		return http.StatusPreconditionFailed
	}
	return 0
}

func without(items []*BulkItem, i int) []*BulkItem {
	rest := append(make([]*BulkItem, 0, len(items)), items[:i]...)
	return append(rest, items[i+1:]...)
}

// sendEach sends items one by one.
func (b *Bulk) sendEach(ctx context.Context, items []*BulkItem) {
	for _, item := range items {
		if b.Stopped() != nil {
			return
		}
		k := b.newCall(&item.At, item.Op.ID)
		etag, err := item.Alone(ctx, k)
		if b.resumed && IsRefusal(err) {
			etag, err = b.recognise(ctx, k, item, err)
		}
		switch {
		case err == nil:
			b.succeed(ctx, []*BulkItem{item}, []string{etag})
		case b.Ends(ctx, err) && !errors.Is(err, ErrAmbiguous):
			return
		default:
			b.Fail(item, err)
		}
	}
}

// recognise decides whether an item was refused because an earlier run had
// already done it.
func (b *Bulk) recognise(ctx context.Context, k *Call, item *BulkItem, refused error) (etag string, err error) {
	if item.Op.Kind == OpDelete {
		if StatusOf(refused) == http.StatusNotFound {
			return "", nil
		}
		return "", refused
	}
	if item.Op.Mark == "" {
		return "", b.inDoubt(item, refused)
	}
	found, err := k.storedNow(ctx, &item.At, []Operation{item.Op})
	if err != nil {
		return "", &ambiguousError{errors.Join(refused, err)}
	}
	if now := found[item.Op.ID]; now != nil && now.carries(item.Op.Mark) {
		return now.etagOf(item.Op.Mark), nil
	}
	return "", refused
}

// succeed carries the answers back and ends the items. What follows a write
// may fail although it is stored: a resumed run repeats that part.
func (b *Bulk) succeed(ctx context.Context, items []*BulkItem, etags []string) {
	var err error
	if b.Stored != nil {
		err = b.Stored(ctx, items, etags)
	}
	status := Succeeded
	switch {
	case err == nil:
	case len(items) == 1 && isDefinite(err):
		b.Fail(items[0], err) // a hook has removed it again
		return
	case isDefinite(err):
		status, err = Unknown, &incompleteError{err}
	default:
		status = Unknown
	}
	for i, item := range items {
		b.enter(item, etags[i], status, err)
	}
}
