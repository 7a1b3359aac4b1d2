package tenantitem

import (
	"fmt"

	"github.com/google/uuid"
)

// NewID returns a new document id: a UUID of version 7, whose text sorts by
// the time it was made (milliseconds, then a counter). Ids made by one process
// are strictly increasing.
//
// It fails only when the system's source of randomness does.
func NewID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("tenantitem: no randomness for a new id: %w", err)
	}
	return id.String(), nil
}
