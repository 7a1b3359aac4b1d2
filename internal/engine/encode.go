package engine

import (
	"fmt"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/tenantitem"
)

// MarkBody adds, in place, the hidden members of hooks and the marks of the write to an
// encoded entity.
func (c *Collection) MarkBody(body []byte, marks []string, hidden []byte) ([]byte, error) {
	b := body[:len(body)-1]
	b = append(b, hidden...)
	b = append(append(append(b, `,"`...), marksField...), `":[`...)
	for i, mark := range marks {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), codec.EscapeText(mark)...), '"') // one that was read may hold anything
	}
	b = append(b, "]}"...)
	size := len(b)
	if c.layout != nil {
		stored, err := c.layout.Stored(b)
		if err != nil {
			return nil, refusedLayout(err)
		}
		size = len(stored)
	}
	if size > tenantitem.MaxDocumentBytes {
		return nil, errTooLarge("document", size)
	}
	return b, nil
}

// refusedLayout says why an entity has no stored form.
func refusedLayout(err error) error {
	return &tenantitem.InvalidError{What: "entity", Reason: err.Error(), Hint: "fill that field before the entity is written"}
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
