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

	"github.com/cosmosgrove/grove/repository/internal/codec"
	"github.com/cosmosgrove/grove/tenantitem"
)

// encode returns the document to store. System fields stay out: the service
// sets them, and they would only cost bytes.
func (s *Scope[T]) encode(entity *T, stamps []string) ([]byte, error) {
	shallow := *entity
	meta := s.repo.meta(&shallow)
	meta.ETag, meta.TS = "", 0
	body, err := codec.Encode(&shallow)
	if err != nil {
		return nil, &tenantitem.InvalidError{What: "entity", Reason: "it can't be encoded as JSON: " + err.Error(), Hint: "see the named field's type"}
	}
	var b bytes.Buffer
	b.Grow(len(body) + 16 + 24*len(stamps))
	b.Write(body[:len(body)-1])
	fmt.Fprintf(&b, `,"%s":[`, stampsField)
	for i, stamp := range stamps {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(stamp))
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
func (k *call) write(ctx context.Context, send func(context.Context) (azcosmos.Response, error), readBack func(context.Context) (outcome, error)) error {
	var p pause
	lost := false
	for {
		err := k.once(ctx, &exchange{}, send)
		switch {
		case err == nil:
			return nil
		case isThrottled(err):
			if p.throttled(ctx, err) {
				continue
			}
			return err
		case isUnanswered(ctx, err):
			lost = true
		case ctx.Err() != nil && statusOf(err) == 0:
			return &ambiguousError{err} // the context ended while the write was under way
		case !lost || !isRefusal(err):
			return err
		}
		o, readErr := readBack(ctx)
		switch {
		case readErr != nil:
			return &ambiguousError{errors.Join(err, readErr)}
		case o == applied:
			return nil
		case o == notApplied && isRefusal(err):
			return err
		case o == notApplied && p.failed(ctx):
			continue
		case o == notApplied:
			return err
		default:
			return &ambiguousError{err}
		}
	}
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

func (s *Scope[T]) beforeWrite(ctx context.Context, entities ...*T) error {
	hooks := s.repo.core.hooks.BeforeWrite
	if len(hooks) == 0 {
		return nil
	}
	erased := make([]any, len(entities))
	for i, e := range entities {
		erased[i] = e
	}
	for _, hook := range hooks {
		if err := hook(ctx, s.at.tenant, erased); err != nil {
			return err
		}
	}
	return nil
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
			return err
		}
	}
	return nil
}

// written carries the answer of a write back into the entity. The answer has
// no timestamp, so the old one would be a lie.
func (s *Scope[T]) written(entity *T, etag string) {
	meta := s.repo.meta(entity)
	meta.ETag, meta.TS = etag, 0
}

func etagOption(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	return (*azcore.ETag)(&etag)
}
