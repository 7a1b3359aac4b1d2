package repository

import (
	"github.com/cosmosgrove/grove/internal/engine"
)

// BulkOptions change how SaveAll and DeleteAll work; nil is the defaults.
type BulkOptions struct {
	// Concurrency is the most batches in flight, 1 to 256. The run starts with
	// few, sends more while the service keeps up, and halves them when it
	// throttles. Defaults to 16.
	Concurrency int
	// Progress, where set, is called before the first request and whenever
	// items were done with, one call at a time, from several goroutines. Keep its
	// Resume where a restart finds it.
	Progress func(Receipt)
	// Resume goes on with a run that was stopped: it is the Resume of that
	// run's receipt, or of its last Progress. The input must be the same, in
	// the same order. Items that the earlier run was done with are passed over, and
	// items that it stored without getting to know are recognised.
	//
	// A token is signed with the repository's CursorKey and is refused by
	// another verb, entity type or scope.
	Resume string
}

func (o *BulkOptions) inner() *engine.BulkOptions {
	if o == nil {
		return nil
	}
	out := &engine.BulkOptions{Concurrency: o.Concurrency, Resume: o.Resume}
	if o.Progress != nil {
		out.Progress = func(p engine.Progress) {
			o.Progress(Receipt{Done: p.Done, Succeeded: p.Succeeded, Failed: p.Failed, Unknown: p.Unknown, Resume: p.Resume})
		}
	}
	return out
}

// Receipt is what became of a bulk, item by item.
type Receipt struct {
	// Items has one entry for every item that was read from the input, in the
	// input's order. A resumed run leaves out the items that it passed over.
	Items []ItemReceipt
	// Skipped is how many items at the beginning of the input were done with by
	// the run that this one resumes.
	Skipped int
	// Done is how many items at the beginning of the input are done with. It
	// is for [BulkOptions].Progress, whose receipt has no Items.
	Done int
	// Succeeded, Failed, Unknown and Unsent count the entries by their status;
	// together they are len(Items).
	Succeeded, Failed, Unknown, Unsent int
	// Resume goes on where everything before is done with; empty when everything
	// is. See [BulkOptions.Resume].
	Resume string
}

// ItemReceipt is what became of one item of a bulk.
type ItemReceipt struct {
	// Index is the item's place in the input, from 0.
	Index int
	// ID is the document's id.
	ID string
	// ETag is the stored document's; empty after a delete and without success.
	ETag string
	// Status says what is known.
	Status ItemStatus
	// Err is the [*Error] that a single write of the item would have returned;
	// nil after success.
	Err error
}

// ItemStatus says what is known of one item of a bulk.
type ItemStatus uint8

const (
	// Unsent: the run ended before it was the item's turn. Nothing was changed.
	Unsent ItemStatus = iota
	// Succeeded: the item is stored, or deleted.
	Succeeded
	// Failed: nothing was changed, for the reason in Err.
	Failed
	// Unknown: the outcome could not be found out ([ErrAmbiguous]), or what
	// follows the write failed. A resumed run looks again.
	Unknown
)

// String returns the word.
func (s ItemStatus) String() string { return engine.ItemStatus(s).String() }

func receiptOf(r *engine.Receipt) *Receipt {
	if r == nil {
		return nil
	}
	out := &Receipt{
		Items:   make([]ItemReceipt, len(r.Items)),
		Skipped: r.Skipped, Done: r.Done, Succeeded: r.Succeeded, Failed: r.Failed, Unknown: r.Unknown, Unsent: r.Unsent, Resume: r.Resume,
	}
	for i, item := range r.Items {
		out.Items[i] = ItemReceipt{Index: item.Index, ID: item.ID, ETag: item.ETag, Status: ItemStatus(item.Status), Err: item.Err}
	}
	return out
}

func finished(r *engine.Receipt, err error) (*Receipt, error) { return receiptOf(r), err }
