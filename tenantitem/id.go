package tenantitem

import (
	"fmt"
	"regexp"
	"strings"

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

const idHint = "letters, digits, '-', '_', '.' and ':' are always safe; tenantitem.NewID makes one"

// ValidateID checks a document's id: 1 to [MaxIDBytes] bytes of valid UTF-8
// without '/', '\', '?', '#' or control characters, and no space at the end.
// The service accepts some of these on create and then can't address the
// document. An empty id would turn a read of one document into a read of the
// whole feed.
func ValidateID(id string) error {
	if err := checkText("id", id, MaxIDBytes, idHint); err != nil {
		return err
	}
	if err := checkAddress("id", id, idHint); err != nil {
		return err
	}
	if percentEscape.MatchString(id) {
		return &InvalidError{What: "id", Reason: "it holds a percent escape, which the gateway would decode", Hint: idHint}
	}
	return nil
}

// The routing gateway answers 401 for such ids (azcosmos,
// emulator_cosmos_item_test.go).
var percentEscape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// ValidateTenantID checks a tenant's id: as [ValidateID], and no character
// outside Unicode's basic plane, which azcosmos can't put into a partition key.
func ValidateTenantID(id string) error { return validateName("tenant id", id) }

// ValidateEntityType checks the stored name of an entity type: as [ValidateTenantID].
func ValidateEntityType(name string) error { return validateName("entity type", name) }

func validateName(what, s string) error {
	if err := checkText(what, s, MaxIDBytes, idHint); err != nil {
		return err
	}
	if err := checkAddress(what, s, idHint); err != nil {
		return err
	}
	return checkBasicPlane(what, s)
}

func checkAddress(what, s, hint string) error {
	if s == "." || s == ".." {
		return &InvalidError{What: what, Reason: "a path segment of dots would address another resource", Hint: hint}
	}
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		return &InvalidError{What: what, Reason: fmt.Sprintf("it holds %q, which can't stand in an address", s[i]), Hint: hint}
	}
	return nil
}
