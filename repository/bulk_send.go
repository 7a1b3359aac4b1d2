package repository

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
func (b *bulk) newCall(at *partition, id string) *call {
	return &call{core: b.call.core, op: b.call.op, at: at, id: id, throttled: b.limit.throttled, watch: b.call.watch}
}

// sendItems sends items of one logical partition until each is settled, or the
// run ends.
func (b *bulk) sendItems(ctx context.Context, items []*bulkItem) {
	items = b.withoutForeign(ctx, items)
	for refused := 0; len(items) > 0; refused++ {
		if len(items) == 1 || refused == maxRefusals {
			b.sendEach(ctx, items)
			return
		}
		k := b.newCall(&items[0].at, "")
		ops := make([]operation, len(items))
		for i, item := range items {
			ops[i] = item.op
		}
		results, err := k.transact(ctx, ops, true)
		var failed *BatchError
		switch {
		case err == nil:
			etags := make([]string, len(items))
			for i := range items {
				etags[i] = results[i].etag
			}
			b.succeed(ctx, items, etags)
			return
		case b.ends(ctx, err) && !errors.Is(err, ErrAmbiguous):
			return
		case errors.As(err, &failed) && statusOf(err) != 0 && !isThrottled(err) && !isTransient(failed.Status):
			items = b.withoutRefused(ctx, k, items, failed)
		case errors.Is(err, errCrowded), statusOf(err) == http.StatusRequestEntityTooLarge:
			b.sendItems(ctx, items[:len(items)/2])
			items = items[len(items)/2:]
		default:
			for _, item := range items {
				b.fail(item, err)
			}
			return
		}
	}
}

// withoutForeign ends the deletes that would meet another species' document.
func (b *bulk) withoutForeign(ctx context.Context, items []*bulkItem) []*bulkItem {
	if len(items) < 2 || items[0].op.kind != opDelete {
		return items // one that is sent alone looks by itself
	}
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.op.id
	}
	found, err := b.newCall(&items[0].at, "").foreign(ctx, &items[0].at, ids)
	if err != nil {
		if !b.ends(ctx, err) {
			for _, item := range items {
				b.fail(item, err)
			}
		}
		return nil
	}
	return slices.DeleteFunc(items, func(item *bulkItem) bool {
		if found[item.op.id] {
			b.fail(item, ErrEntityMismatch)
		}
		return found[item.op.id]
	})
}

// withoutRefused ends the item that a batch failed for, and those that would
// fail it next, and returns the others.
func (b *bulk) withoutRefused(ctx context.Context, k *call, items []*bulkItem, failed *BatchError) []*bulkItem {
	ops := make([]operation, len(items))
	for i, item := range items {
		ops[i] = item.op
	}
	var found map[string]*marked
	if isRefusal(failed) {
		var err error
		if found, err = k.storedNow(ctx, &items[0].at, ops); err != nil {
			if b.ends(ctx, err) {
				return nil
			}
			if b.resumed {
				err = &ambiguousError{errors.Join(failed, err)}
			} else {
				err = &refusal{status: failed.Status}
			}
			b.fail(items[failed.Index], err)
			return without(items, failed.Index)
		}
	}
	rest := make([]*bulkItem, 0, len(items))
	for i, item := range items {
		status := 0
		if found != nil {
			status = item.foresee(found[item.op.id])
		}
		if i == failed.Index && status == 0 {
			status = failed.Status
		}
		switch {
		case status == 0:
			rest = append(rest, item)
		case status == http.StatusOK:
			b.succeed(ctx, []*bulkItem{item}, []string{found[item.op.id].etagOf(item.op.mark)})
		case item.op.kind == opDelete && status == http.StatusNotFound && b.resumed && len(k.core.partitionsOf(item.at)) == 1:
			b.succeed(ctx, []*bulkItem{item}, []string{""}) // the earlier run may have deleted it
		case item.op.kind == opDelete, status == http.StatusConflict && k.core.tombstones:
			// It may lie under an older name, or the id may be taken by a
			// document that is only kept for a while.
			b.sendEach(ctx, []*bulkItem{item})
		default:
			b.fail(item, &refusal{status: status})
		}
	}
	return rest
}

// foresee says how the service would answer the item, by its document as it is
// now: 0 when it would be written, 200 when it was already, by this very write.
func (item *bulkItem) foresee(now *marked) int {
	switch {
	case now != nil && item.op.mark != "" && now.carries(item.op.mark):
		return http.StatusOK
	case item.op.kind == opCreate && now != nil:
		return http.StatusConflict
	case item.op.kind != opCreate && now == nil:
		return http.StatusNotFound
	case item.op.kind == opReplace && now.ETag != item.op.etag:
		return http.StatusPreconditionFailed
	}
	return 0
}

func without(items []*bulkItem, i int) []*bulkItem {
	rest := append(make([]*bulkItem, 0, len(items)), items[:i]...)
	return append(rest, items[i+1:]...)
}

// sendEach sends items one by one.
func (b *bulk) sendEach(ctx context.Context, items []*bulkItem) {
	for _, item := range items {
		if b.stopped() != nil {
			return
		}
		k := b.newCall(&item.at, item.op.id)
		etag, err := item.alone(ctx, k)
		if b.resumed && isRefusal(err) {
			etag, err = b.recognise(ctx, k, item, err)
		}
		switch {
		case err == nil:
			b.succeed(ctx, []*bulkItem{item}, []string{etag})
		case b.ends(ctx, err) && !errors.Is(err, ErrAmbiguous):
			return
		default:
			b.fail(item, err)
		}
	}
}

// recognise decides whether an item was refused because an earlier run had
// already done it.
func (b *bulk) recognise(ctx context.Context, k *call, item *bulkItem, refused error) (etag string, err error) {
	if item.op.kind == opDelete {
		if statusOf(refused) == http.StatusNotFound {
			return "", nil
		}
		return "", refused
	}
	found, err := k.storedNow(ctx, &item.at, []operation{item.op})
	if err != nil {
		return "", &ambiguousError{errors.Join(refused, err)}
	}
	if now := found[item.op.id]; now != nil && now.carries(item.op.mark) {
		return now.etagOf(item.op.mark), nil
	}
	return "", refused
}

// succeed carries the answers back and ends the items. What follows a write
// may fail although it is stored: a resumed run repeats that part.
func (b *bulk) succeed(ctx context.Context, items []*bulkItem, etags []string) {
	var err error
	if b.stored != nil {
		err = b.stored(ctx, items, etags)
	}
	status := Succeeded
	if err != nil {
		status = Unknown
	}
	for i, item := range items {
		b.enter(item, etags[i], status, err)
	}
}
