package engine

import (
	"errors"
	"fmt"
)

// Receipt is that of package repository, which says what its fields mean.
type Receipt struct {
	Items                              []ItemReceipt
	Skipped, Done                      int
	Succeeded, Failed, Unknown, Unsent int
	Resume                             string
}

// ItemReceipt is that of package repository.
type ItemReceipt struct {
	Index    int
	ID, ETag string
	Status   ItemStatus
	Err      error
}

// ItemStatus says what is known of one item of a bulk; enter decides which. A lost answer was looked for
// before (outcome.go): what was found is Succeeded, and what could not be found out is ErrAmbiguous, and so Unknown.
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
func (s ItemStatus) String() string {
	switch s {
	case Unsent:
		return "unsent"
	case Succeeded:
		return "succeeded"
	case Failed:
		return "failed"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("ItemStatus(%d)", uint8(s))
}

// maxFirstErrors bounds the failures that a BulkError carries.
const maxFirstErrors = 8

// BulkError says that not every item of a bulk succeeded. It unwraps to what
// ended the run and to the errors of the first items, so that errors.Is and
// errors.As reach them; the receipt has all.
type BulkError struct {
	// Op is the verb.
	Op string
	// Failed, Unknown and Unsent count the items, as in the receipt.
	Failed, Unknown, Unsent int
	// Stop is what ended the run early; nil when every item had its turn.
	Stop error
	// First are the errors of the first items that failed, at most 8.
	First []error
}

// Error counts the items and gives the first failure.
func (e *BulkError) Error() string {
	text := fmt.Sprintf("%s: %d items failed, %d are unknown, %d were not sent", e.Op, e.Failed, e.Unknown, e.Unsent)
	if e.Stop != nil {
		text += "; stopped by: " + e.Stop.Error()
	}
	if len(e.First) > 0 {
		text += "; the first: " + e.First[0].Error()
	}
	return text + " (the receipt names every item; its Resume goes on with those that are not done with)"
}

// Unwrap returns Stop and the first errors.
func (e *BulkError) Unwrap() []error {
	if e.Stop == nil {
		return e.First
	}
	return append([]error{e.Stop}, e.First...)
}

// isDefinite reports whether an item that failed in this way would fail again,
// so that a resumed run need not look at it.
func isDefinite(err error) bool {
	if err == nil {
		return true
	}
	for _, definite := range []error{
		ErrInvalid, ErrNotFound, ErrConflict, ErrPreconditionFailed, ErrTooLarge, ErrTenantMismatch,
		ErrEntityMismatch, ErrDanglingRef, ErrHasChildren, ErrReferenced, ErrUnsupported,
	} {
		if errors.Is(err, definite) {
			return !errors.Is(err, ErrAmbiguous)
		}
	}
	return false
}

// Fail enters an item's failure into its receipt.
func (b *Bulk) Fail(item *BulkItem, err error) {
	b.enter(item, "", Failed, err)
}

// enter enters what became of an item.
func (b *Bulk) enter(item *BulkItem, etag string, status ItemStatus, err error) {
	if err != nil {
		k := Call{Collection: b.Call.Collection, Op: b.Call.Op, At: b.Call.At, ID: item.Op.ID}
		err = k.Fail(err)
		if status == Failed && errors.Is(err, ErrAmbiguous) {
			status = Unknown
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := item.Index - b.receipt.Skipped
	r := &b.receipt.Items[i]
	r.ETag, r.Status, r.Err = etag, status, err
	switch status {
	case Succeeded:
		b.receipt.Succeeded++
	case Failed:
		b.receipt.Failed++
	default:
		b.receipt.Unknown++
	}
	b.done[i] = status != Unknown && isDefinite(err)
	for b.prefix-b.receipt.Skipped < len(b.done) && b.done[b.prefix-b.receipt.Skipped] {
		b.prefix++
	}
}
