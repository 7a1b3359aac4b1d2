package repository

import (
	"bytes"
	"fmt"
	"math"

	"github.com/cosmosgrove/grove/internal/codec"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// encode returns the document to store, with the hidden members that hooks
// added. System fields stay out: the service
// sets them, and they would only cost bytes.
func (s *Scope[T]) encode(entity *T, marks []string, hidden []byte) ([]byte, error) {
	shallow := *entity
	meta := s.repo.meta(&shallow)
	if meta.DeletedAt != nil {
		return nil, &tenantitem.InvalidError{What: "entity", Reason: "its DeletedAt is set, which no write of an entity can do", Hint: "use Delete and Restore; leave DeletedAt nil"}
	}
	if ttl := meta.TTL; ttl != nil && *ttl != -1 && (*ttl < 1 || *ttl > math.MaxInt32) {
		return nil, &tenantitem.InvalidError{What: "ttl", Reason: fmt.Sprintf("it is %d", *ttl), Hint: "give 1 to 2147483647 seconds, -1 for never, or nil for the container's default"}
	}
	meta.ETag, meta.TS = "", 0
	body, err := codec.Encode(&shallow)
	if err != nil {
		return nil, refusedValue("entity", err)
	}
	body = documents.WithUnknown(entity, body)
	var b bytes.Buffer
	b.Grow(len(body) + len(hidden) + 16 + 24*len(marks))
	b.Write(body[:len(body)-1])
	b.Write(hidden)
	fmt.Fprintf(&b, `,"%s":[`, marksField)
	for i, mark := range marks {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(escapeJSON(mark)) // one that was read may hold anything
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
