package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/codec"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// encode returns the document to store, with the hidden members that hooks
// added. System fields stay out: the service
// sets them, and they would only cost bytes.
func (s *Scope[T]) encode(entity *T, stamps []string, hidden []byte) ([]byte, error) {
	shallow := *entity
	meta := s.repo.meta(&shallow)
	if meta.DeletedAt != nil {
		return nil, &tenantitem.InvalidError{What: "entity", Reason: "its DeletedAt is set, which no write of an entity can do", Hint: "use Delete and Restore; leave DeletedAt nil"}
	}
	meta.ETag, meta.TS = "", 0
	body, err := codec.Encode(&shallow)
	if err != nil {
		return nil, refusedValue("entity", err)
	}
	body = documents.WithUnknown(entity, body)
	var b bytes.Buffer
	b.Grow(len(body) + len(hidden) + 16 + 24*len(stamps))
	b.Write(body[:len(body)-1])
	b.Write(hidden)
	fmt.Fprintf(&b, `,"%s":[`, stampsField)
	for i, stamp := range stamps {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(escapeJSON(stamp)) // one that was read may hold anything
		b.WriteByte('"')
	}
	b.WriteString("]}")
	if b.Len() > tenantitem.MaxDocumentBytes {
		return nil, errTooLarge("document", b.Len())
	}
	return b.Bytes(), nil
}

func errTooLarge(what string, size int) error {
	return &sizeError{what: what, size: size}
}

// sizeError is both bad input and [ErrTooLarge].
type sizeError struct {
	what string
	size int
}

func (e *sizeError) Error() string {
	return fmt.Sprintf("the %s has %d bytes and the limit is %d; move what grows into documents of its own", e.what, e.size, tenantitem.MaxDocumentBytes)
}

func (e *sizeError) Unwrap() []error { return []error{ErrInvalid, ErrTooLarge} }

// outcome is what is known of a write after its answer was lost.
type outcome uint8

const (
	unknown outcome = iota
	applied
	notApplied
)

// write sends a write until its outcome is known. Throttled attempts changed
// nothing and are repeated. After an attempt without a usable answer,
// readBack decides; it also settles a 404, 409 or 412 that such an earlier
// attempt may itself have caused.
//
// What readBack sees may be older than the write: the lost answer took its
// session token with it. A write that is repeated for that reason is refused,
// the refusal brings the token, and the next look is not too early.
func (k *call) write(ctx context.Context, send func(context.Context) (azcosmos.Response, error), readBack func(context.Context) (outcome, error)) error {
	var p pause
	lost := false
	for {
		var x exchange
		err := k.once(ctx, &x, send)
		lost = lost || x.repeated.Load()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrBudget):
			return err // and never after a lost attempt: see settle
		case isThrottled(err):
			k.noteThrottled(err)
			if p.throttled(ctx, err) {
				continue
			}
			if lost {
				return &ambiguousError{err} // what was read back may have been old
			}
			return err
		case isUnanswered(ctx, err):
			lost = true
		case ctx.Err() != nil && statusOf(err) == 0:
			return &ambiguousError{err} // the context ended while the write was under way
		case !lost || !isRefusal(err):
			return err
		}
		k.noteRepeated(err)
		o, readErr := k.settle(ctx, readBack)
		switch {
		case readErr != nil:
			return &ambiguousError{errors.Join(err, readErr)}
		case o == applied:
			return nil
		case o == unknown:
			return &ambiguousError{err}
		case isRefusal(err) || !p.failed(ctx):
			return err
		}
	}
}

// settle looks whether a write took effect. The budget does not count: a write
// that was sent is not stopped halfway.
func (k *call) settle(ctx context.Context, readBack func(context.Context) (outcome, error)) (outcome, error) {
	k.settles = true
	defer func() { k.settles = false }()
	return readBack(ctx)
}

// isRefusal reports the answers that a repeated write gets when it, or
// another, was applied before.
func isRefusal(err error) bool {
	switch statusOf(err) {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed:
		return true
	}
	return false
}

type ambiguousError struct{ err error }

func (e *ambiguousError) Error() string {
	return "the write was sent and reading back did not tell whether it took effect: " + describe(e.err)
}
func (e *ambiguousError) Unwrap() []error { return []error{ErrAmbiguous, e.err} }

// describe names an error without the service's text.
func describe(err error) string {
	if status := statusOf(err); status != 0 {
		return "HTTP " + strconv.Itoa(status)
	}
	return err.Error()
}

func (s *Scope[T]) afterWrite(ctx context.Context, created bool, entities ...*T) error {
	hooks := s.repo.core.hooks.AfterWrite
	if len(hooks) == 0 || len(entities) == 0 {
		return nil
	}
	erased := make([]any, len(entities))
	for i, e := range entities {
		erased[i] = e
	}
	for _, hook := range hooks {
		if err := hook(ctx, s.at.tenant, erased, created); err != nil {
			return &foreignError{err}
		}
	}
	return nil
}

// written carries the answer of a write back into the entity. The answer has
// no timestamp, so the old one would be a lie.
func (s *Scope[T]) written(entity *T, etag string, body []byte) {
	meta := s.repo.meta(entity)
	meta.ETag, meta.TS = etag, 0
	documents.Wrote(entity, body)
}

// writeOptions are those of a write that needs no answer but the new etag.
func writeOptions(ctx context.Context, etag string) *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{IfMatchEtag: etagOption(etag), PriorityLevel: priorityFrom(ctx), ThroughputBucket: bucketFrom(ctx)}
}

func etagOption(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	return (*azcore.ETag)(&etag)
}
