package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
	"github.com/cosmosgrove/grove/tenantitem"
)

// The sentinels of this package, for errors.Is. Every error of a verb is an
// [*Error] that unwraps to one of them where one applies, and to the SDK's
// *azcore.ResponseError where a response was received.
var (
	// ErrInvalid: the input was refused before any request was sent.
	ErrInvalid = tenantitem.ErrInvalid
	// ErrNotFound: no document with that id in that scope (404).
	ErrNotFound = errors.New("not found")
	// ErrConflict: a document with that id, or with that value of a unique
	// key, exists already (409).
	ErrConflict = errors.New("already exists")
	// ErrPreconditionFailed: the document changed since it was read, or a
	// patch's condition does not hold (412).
	ErrPreconditionFailed = errors.New("precondition failed")
	// ErrTenantMismatch: the entity, the scope and the context do not all name
	// the same tenant, or a document of another tenant came back.
	ErrTenantMismatch = errors.New("tenant mismatch")
	// ErrEntityMismatch: the document that came back is of another entity type.
	ErrEntityMismatch = errors.New("entity type mismatch")
	// ErrTooLarge: a document or a batch passes 2 MB (checked before the
	// request where the size is known, else 413).
	ErrTooLarge = errors.New("too large")
	// ErrThrottled: the container's throughput was used up (429, or 449) until
	// the deadline, or for longer than half a minute.
	ErrThrottled = errors.New("throttled")
	// ErrAmbiguous: a write was sent, no usable answer came back, and reading
	// back could not tell whether it took effect.
	ErrAmbiguous = errors.New("outcome unknown")
	// ErrBudget: the request units given to [WithBudget] are used up.
	ErrBudget = errors.New("request unit budget used up")
	// ErrUnsupported: the clause named in the message can't be served in this
	// scope.
	ErrUnsupported = errors.New("not supported")
	// ErrDanglingRef: a reference names a document that does not exist.
	ErrDanglingRef = errors.New("dangling reference")
	// ErrHasChildren: a delete under the rule Restrict found children.
	ErrHasChildren = errors.New("has children")
	// ErrReferenced: a delete was refused because other documents refer to the
	// document, and that was declared (denorm.Restrict).
	ErrReferenced = errors.New("referenced")
)

// Error is what every verb returns: which operation on what, and the way out.
// Its text never holds a document, a key or the service's own message, which
// may quote one; the service's answer is found with
// errors.As(err, **azcore.ResponseError).
type Error struct {
	// Op is the verb, such as "Get".
	Op string
	// EntityType is the stored name of the entity type.
	EntityType string
	// TenantID is the scope's tenant; empty for a read across all tenants.
	TenantID string
	// ID is the document's id where the verb is about one.
	ID string
	// Hint says the next action; it may be empty.
	Hint string
	// Err is the cause.
	Err error

	kind error
}

// Error returns one line: what was tried, what went wrong, and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Op, e.EntityType)
	if e.ID != "" {
		fmt.Fprintf(&b, " %q", e.ID)
	}
	if e.TenantID != "" {
		fmt.Fprintf(&b, " of tenant %q", e.TenantID)
	}
	b.WriteString(": ")
	var response *azcore.ResponseError
	switch {
	case errors.As(e.Err, &response):
		if e.kind != nil {
			b.WriteString(e.kind.Error() + ": ")
		}
		b.WriteString(redact.Answer(response))
	case e.kind != nil && e.Err != nil && !errors.Is(e.Err, e.kind):
		fmt.Fprintf(&b, "%s: %s", e.kind, redact.Error(e.Err))
	case e.Err != nil:
		b.WriteString(redact.Error(e.Err).Error())
	case e.kind != nil:
		b.WriteString(e.kind.Error())
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error {
	out := make([]error, 0, 2)
	if e.kind != nil {
		out = append(out, e.kind)
	}
	if e.Err != nil {
		out = append(out, e.Err)
	}
	return out
}

// StatusOf returns the status that the service ended a call with; 0 when it
// gave none. A write that stays ambiguous has none either: the status in it is
// one attempt's.
func StatusOf(err error) int {
	var theirs *ForeignError
	if errors.Is(err, ErrAmbiguous) || errors.As(err, &theirs) {
		return 0
	}
	var inBatch *BatchError
	if errors.As(err, &inBatch) {
		return inBatch.Status
	}
	var inBulk *Refusal
	if errors.As(err, &inBulk) {
		return inBulk.Status
	}
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		return 0
	}
	if response.StatusCode == http.StatusNotFound {
		switch substatus := cosmos.SubstatusOf(response); substatus {
		case statusSessionBehind, statusNoContainer:
			return substatus
		}
	}
	return response.StatusCode
}

// IsPartitionFull reports whether a write was refused because its logical partition
// holds as much as it may. That is said of what would grow; the rest goes on.
func IsPartitionFull(err error) bool {
	if StatusOf(err) != http.StatusForbidden {
		return false
	}
	var inBatch *BatchError
	if errors.As(err, &inBatch) {
		return inBatch.Substatus == cosmos.SubstatusPartitionFull
	}
	var response *azcore.ResponseError
	return errors.As(err, &response) && cosmos.SubstatusOf(response) == cosmos.SubstatusPartitionFull
}

// sentinelFor maps a status to what it means for the caller. The SDK's
// ErrorCode is only the status text, so the number decides. Call.Fail (call.go) puts it into an [*Error].
func sentinelFor(status int) (hint string, kind error) {
	switch status {
	case http.StatusNotFound:
		return "", ErrNotFound
	case http.StatusConflict:
		return "", ErrConflict
	case http.StatusPreconditionFailed:
		return "read the document again and repeat the change, or use Mutate", ErrPreconditionFailed
	case http.StatusRequestEntityTooLarge:
		return "a document holds at most 2 MB; move what grows into children", ErrTooLarge
	case http.StatusTooManyRequests, statusRetryWith:
		return "try again later, or raise the container's throughput", ErrThrottled
	case statusSessionBehind:
		return "the replicas did not catch up with this session in time; try again", nil
	case statusNoContainer:
		return "the container was not found: create it, or have it created (registry.Config.Provision)", nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return "check the credential and its role on the account", nil
	}
	return "", nil
}

// Refusal is the service's answer about one item where there is no response of
// its own: an operation's result in a batch, or what a look at the document
// told before the item was sent.
type Refusal struct { //nolint:errname // it is an answer first, and an error where it is returned
	Status   int
	response *azcore.ResponseError // in the SDK's words, where a verb returns it
}

// Unwrap returns the SDK's error; nil where there is none.
func (r *Refusal) Unwrap() error {
	if r.response == nil {
		return nil
	}
	return r.response
}

// Error names the status.
func (r *Refusal) Error() string { return "HTTP " + strconv.Itoa(r.Status) }

// Foreign marks an error of the caller's function, or of what follows a write,
// so that it is not taken for the service's answer to the write itself.
func Foreign(err error) error { return &ForeignError{err} }

// unsupportedError names the clause that can't be served.
type unsupportedError struct{ clause, reason, hint string }

// Error names the clause, the reason and the way out.
func (e *unsupportedError) Error() string {
	return fmt.Sprintf("%s: %s: %s (%s)", ErrUnsupported, e.clause, e.reason, e.hint)
}

// Unwrap returns [ErrUnsupported].
func (e *unsupportedError) Unwrap() error { return ErrUnsupported }

// ForeignError keeps an error of the caller's function, or of what follows a
// write, from being taken for the service's answer to the write itself.
type ForeignError struct{ err error }

func (e *ForeignError) Error() string { return e.err.Error() }

func (e *ForeignError) Unwrap() error { return e.err }

// MarshalJSON writes what Error says, field by field. The cause's own form is
// left out: the SDK's would carry the service's answer and the URL.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Op         string `json:"op"`
		EntityType string `json:"entityType"`
		TenantID   string `json:"tenantId,omitempty"`
		ID         string `json:"id,omitempty"`
		Error      string `json:"error"`
	}{e.Op, e.EntityType, e.TenantID, e.ID, e.Error()})
}

// LogValue is the error's text for package slog.
func (e *Error) LogValue() slog.Value { return slog.StringValue(e.Error()) }
