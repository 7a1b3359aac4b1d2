package repository

import "github.com/cosmosgrove/grove/internal/engine"

// ConflictError is returned by Replace and Save when the document changed
// since the caller read it. It unwraps to [ErrPreconditionFailed] through Err.
//
// It has these fields, and Error and Unwrap:
//
//	Current *T: Current is the document as it is now, etag included, ready to be changed and replaced again.
//	Err error: Err is the [*Error] of the failed write.
type ConflictError[T any] = engine.ConflictError[*T]

// The sentinels of this package, for errors.Is. Every error of a verb is an
// [*Error] that unwraps to one of them where one applies, and to the SDK's
// *azcore.ResponseError where a response was received.
var (
	// ErrInvalid: the input was refused before any request was sent.
	ErrInvalid = engine.ErrInvalid
	// ErrNotFound: no document with that id in that scope (404).
	ErrNotFound = engine.ErrNotFound
	// ErrConflict: a document with that id, or with that value of a unique
	// key, exists already (409).
	ErrConflict = engine.ErrConflict
	// ErrPreconditionFailed: the document changed since it was read, or a
	// patch's condition does not hold (412).
	ErrPreconditionFailed = engine.ErrPreconditionFailed
	// ErrTenantMismatch: the entity, the scope and the context do not all name
	// the same tenant, or a document of another tenant came back.
	ErrTenantMismatch = engine.ErrTenantMismatch
	// ErrEntityMismatch: the document that came back is of another entity type.
	ErrEntityMismatch = engine.ErrEntityMismatch
	// ErrTooLarge: a document or a batch passes 2 MB (checked before the
	// request where the size is known, else 413).
	ErrTooLarge = engine.ErrTooLarge
	// ErrThrottled: the container's throughput was used up (429, or 449) until
	// the deadline, or for longer than half a minute.
	ErrThrottled = engine.ErrThrottled
	// ErrAmbiguous: a write was sent, no usable answer came back, and reading
	// back could not tell whether it took effect.
	ErrAmbiguous = engine.ErrAmbiguous
	// ErrBudget: the request units given to [WithBudget] are used up.
	ErrBudget = engine.ErrBudget
	// ErrUnsupported: the clause named in the message can't be served in this
	// scope.
	ErrUnsupported = engine.ErrUnsupported
	// ErrDanglingRef: a reference names a document that does not exist.
	ErrDanglingRef = engine.ErrDanglingRef
	// ErrHasChildren: a delete under the rule Restrict found children.
	ErrHasChildren = engine.ErrHasChildren
	// ErrReferenced: a delete was refused because other documents refer to the
	// document, and that was declared (denorm.Restrict).
	ErrReferenced = engine.ErrReferenced
)

// Error is what every verb returns: which operation on what, and the way out.
// Its text never holds a document, a key or the service's own message, which
// may quote one; the service's answer is found with
// errors.As(err, **azcore.ResponseError).
//
// It has these fields, and Error and Unwrap:
//
//	Op string: Op is the verb, such as "Get".
//	EntityType string: EntityType is the stored name of the entity type.
//	TenantID string: TenantID is the scope's tenant; empty for a read across all tenants.
//	ID string: ID is the document's id where the verb is about one.
//	Hint string: Hint says the next action; it may be empty.
//	Err error: Err is the cause.
type Error = engine.Error

// BatchError names the operation that failed a batch.
//
// It has these fields, and Error and Unwrap:
//
//	Index int: Index is its place in the batch, from 0; in partition.Commit the parts' operations are counted one after another.
//	Verb, ID string: Verb and ID say what it was about.
//	Status int: Status is the HTTP status of that operation.
type BatchError = engine.BatchError

// DecodeError is a stored document that does not fit its entity's struct:
// another writer put a text where a number belongs, or a type was changed. It
// concerns this document alone. Query and Project yield it and go on; Page and
// GetMany return it beside the documents that do fit; First, Get and whatever
// reads one document fail with it. Such a document can be deleted, patched and
// exported.
//
// It has these fields, and Error and Unwrap:
//
//	ID string: ID is the document's id; empty in the rare case that it has none.
//	Err error: Err says where the document does not fit, by the names of the struct. It quotes nothing of the content.
type DecodeError = engine.DecodeError

// IsRetryable reports whether the same call may succeed later without a
// change: throttling, a lost read, an unavailable service. It is false for
// [ErrAmbiguous], because repeating such a write may apply it twice.
func IsRetryable(err error) bool { return engine.IsRetryable(err) }
