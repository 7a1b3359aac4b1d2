package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/tenantitem"
)

// BulkItem is one item of a bulk on its way.
type BulkItem struct {
	Index int
	At    Partition
	Op    Operation
	// Hidden is what hooks add beside the entity's fields.
	Hidden []byte
	// Alone sends the item by itself and returns its new etag.
	Alone func(ctx context.Context, k *Call) (etag string, err error)
	// Overwrote says that a create took the place of what was deleted softly.
	Overwrote bool
}

// Bulk is one run of SaveAll or DeleteAll: the caller's goroutine reads the
// input and fills batches, others send them.
type Bulk struct {
	Call     *Call
	options  BulkOptions
	Run      bulkRun
	boundTo  string
	PerBatch int
	// Stored carries the new etags to where they belong and does what follows
	// a write; nil for nothing.
	Stored func(ctx context.Context, items []*BulkItem, etags []string) error
	// resumed says that any item may have been stored by an earlier run.
	resumed bool

	limit   *limiter
	sending sync.WaitGroup

	// Of the caller's goroutine alone:
	next int // index of the next item of the input
	open map[string]*openBatch
	held int // items in open batches

	mu      sync.Mutex
	receipt Receipt
	done    []bool // by place in the receipt
	prefix  int    // items at the beginning that are done with, passed over ones included
	ids     map[string]int
	stop    error
	telling sync.Mutex
}

// openBatch collects items of one logical partition.
type openBatch struct {
	items []*BulkItem
	size  int
}

// maxHeld bounds the items that wait for their batch to become full, where the
// input is spread over many logical partitions.
const maxHeld = 2000

// NewBulk begins a bulk, or goes on with one that opts resume.
func NewBulk(ctx context.Context, k *Call, opts *BulkOptions) (*Bulk, error) {
	if err := k.Start(ctx); err != nil {
		return nil, err
	}
	b := &Bulk{Call: k, PerBatch: k.Collection.itemsPerBatch(), open: map[string]*openBatch{}, ids: map[string]int{}}
	if opts != nil {
		b.options = *opts
	}
	if b.options.Concurrency == 0 {
		b.options.Concurrency = defaultConcurrency
	}
	if n := b.options.Concurrency; n < 1 || n > maxConcurrency {
		return nil, &tenantitem.InvalidError{What: "bulk options", Reason: fmt.Sprintf("Concurrency is %d", n), Hint: fmt.Sprintf("use 1 to %d", maxConcurrency)}
	}
	b.limit = newLimiter(b.options.Concurrency)
	b.boundTo = k.Op + "\x00" + k.Collection.entityType + "\x00" + k.At.Tenant + "\x00" + KeyText(k.At.Values)
	b.Run = newBulkRun()
	if token := b.options.Resume; token != "" {
		var err error
		if b.Run, b.receipt.Skipped, err = openBulkToken(k.Collection.Cursors, b.boundTo, token); err != nil {
			return nil, err
		}
		b.resumed = true
		b.prefix = b.receipt.Skipped
	}
	b.tell()
	return b, nil
}

// Pass counts an item of the input and reports whether it was done with before.
func (b *Bulk) Pass() bool {
	if b.next >= b.receipt.Skipped {
		return false
	}
	b.next++
	return true
}

// Read opens the receipt of the next item and returns its index.
func (b *Bulk) Read(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	index := b.next
	b.next++
	b.receipt.Items = append(b.receipt.Items, ItemReceipt{Index: index, ID: id})
	b.done = append(b.done, false)
	return index
}

// Named completes the receipt of an item whose id is known only now.
func (b *Bulk) Named(item *BulkItem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.receipt.Items[item.Index-b.receipt.Skipped].ID = item.Op.ID
}

// Add puts an item into the batch of its partition and sends what is full. It
// reports false when the run has to end.
func (b *Bulk) Add(ctx context.Context, item *BulkItem) bool {
	key := KeyText(item.At.Values)
	if first, taken := b.ids[key+item.Op.ID]; taken {
		b.Fail(item, &tenantitem.InvalidError{What: "input", Reason: fmt.Sprintf("the id of item %d occurs before, in item %d", item.Index, first), Hint: "give each document once"})
		return b.Stopped() == nil
	}
	b.ids[key+item.Op.ID] = item.Index
	batch := b.open[key]
	size := item.Op.cost()
	if batch != nil && (len(batch.items) == b.PerBatch || batch.size+size > tenantitem.MaxDocumentBytes) {
		if !b.send(ctx, key) {
			return false
		}
		batch = nil
	}
	if batch == nil {
		batch = &openBatch{size: 2}
		b.open[key] = batch
	}
	batch.items = append(batch.items, item)
	batch.size += size
	b.held++
	if len(batch.items) == b.PerBatch {
		return b.send(ctx, key)
	}
	if b.held > maxHeld {
		return b.sendAll(ctx)
	}
	return true
}

func (b *Bulk) sendAll(ctx context.Context) bool {
	for key := range b.open {
		if !b.send(ctx, key) {
			return false
		}
	}
	return true
}

// send hands a batch to a goroutine of its own, when there is room for one more.
func (b *Bulk) send(ctx context.Context, key string) bool {
	items := b.open[key].items
	if err := b.limit.acquire(ctx); err != nil {
		b.Ends(ctx, err)
		return false
	}
	if b.Stopped() != nil {
		b.limit.release()
		return false
	}
	delete(b.open, key)
	b.held -= len(items)
	b.sending.Go(func() {
		defer b.limit.release()
		b.sendItems(ctx, items)
		b.tell()
	})
	return true
}

// Ends stops the run when an error concerns more than one item, and reports
// whether it does.
func (b *Bulk) Ends(ctx context.Context, err error) bool {
	if ctx.Err() == nil && !errors.Is(err, ErrBudget) && !isAccessDenied(err) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop == nil {
		b.stop = b.Call.Fail(err)
	}
	return true
}

// isAccessDenied reports that the credential is refused, in contrast to a
// logical partition that is full, which has the same status.
func isAccessDenied(err error) bool {
	switch StatusOf(err) {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		var response *azcore.ResponseError
		return errors.As(err, &response) && !IsPartitionFull(err)
	}
	return false
}

// Stopped is why the bulk reads no more of its input; nil while it does.
func (b *Bulk) Stopped() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stop
}

// tell calls the caller's Progress.
func (b *Bulk) tell() {
	if b.options.Progress == nil {
		return
	}
	b.telling.Lock()
	defer b.telling.Unlock()
	b.mu.Lock()
	p := Progress{Done: b.prefix, Succeeded: b.receipt.Succeeded, Failed: b.receipt.Failed, Unknown: b.receipt.Unknown}
	b.mu.Unlock()
	p.Resume = b.Run.token(b.Call.Collection.Cursors, b.boundTo, p.Done)
	b.options.Progress(p)
}

// Finish sends what is left, waits for all batches and closes the receipt.
// complete says that the whole input was read.
func (b *Bulk) Finish(ctx context.Context, complete bool) (*Receipt, error) {
	complete = complete && b.sendAll(ctx)
	b.sending.Wait()
	r := &b.receipt
	if complete && b.next < r.Skipped {
		complete, b.stop = false, b.Call.Fail(&tenantitem.InvalidError{
			What: "input", Reason: fmt.Sprintf("it ended after %d items, and the run that it goes on with was done with %d", b.next, r.Skipped),
			Hint: "resume with the whole input of that run, in the same order",
		})
	}
	r.Done = b.prefix
	failure := &BulkError{Op: b.Call.Op, Stop: b.stop}
	for i := range r.Items {
		if r.Items[i].Status == Unsent {
			r.Unsent++
			r.Items[i].Err = b.stop
		}
		if err := r.Items[i].Err; err != nil && len(failure.First) < maxFirstErrors {
			failure.First = append(failure.First, err)
		}
	}
	if !complete || b.prefix < b.next {
		r.Resume = b.Run.token(b.Call.Collection.Cursors, b.boundTo, b.prefix)
	}
	failure.Failed, failure.Unknown, failure.Unsent = r.Failed, r.Unknown, r.Unsent
	if b.stop == nil && r.Succeeded == len(r.Items) {
		return r, b.Call.End(nil)
	}
	return r, b.Call.End(failure)
}
