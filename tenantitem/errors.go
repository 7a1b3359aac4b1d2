package tenantitem

import (
	"errors"
	"fmt"
)

// ErrInvalid is what every refusal of bad input is, for errors.Is. It is
// returned before any request is sent.
var ErrInvalid = errors.New("invalid input")

// InvalidError says what was refused, why, and what to do about it. It unwraps
// to [ErrInvalid]. It never carries the refused value itself, because that may
// be personal data.
type InvalidError struct {
	// What names the input, such as "id" or "tenant id".
	What string
	// Reason says what is wrong with it.
	Reason string
	// Hint says the next action; it may be empty.
	Hint string
}

// Error returns "invalid WHAT: REASON (HINT)".
func (e *InvalidError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("invalid %s: %s", e.What, e.Reason)
	}
	return fmt.Sprintf("invalid %s: %s (%s)", e.What, e.Reason, e.Hint)
}

// Unwrap returns [ErrInvalid].
func (e *InvalidError) Unwrap() error { return ErrInvalid }
