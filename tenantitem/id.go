package tenantitem

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

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

// ValidateID checks a document's id: 1 to [MaxIDBytes] (1023) bytes of valid UTF-8
// without '/', '\', '?', '#', control characters (also U+2028 and U+2029) or a percent escape
// such as %2F, not '.' or '..', and no space at the end.
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

func checkText(what, s string, limit int, hint string) error {
	switch {
	case s == "":
		return &InvalidError{What: what, Reason: "it is empty", Hint: hint}
	case len(s) > limit:
		return &InvalidError{What: what, Reason: fmt.Sprintf("%d bytes, the limit is %d", len(s), limit), Hint: "use a shorter one"}
	case !utf8.ValidString(s):
		return &InvalidError{What: what, Reason: "it is not valid UTF-8", Hint: hint}
	case s[len(s)-1] == ' ':
		return &InvalidError{What: what, Reason: "it ends in a space", Hint: "trim it"}
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r == '\u2028' || r == '\u2029' {
			return &InvalidError{What: what, Reason: fmt.Sprintf("it holds the control character %U", r), Hint: hint}
		}
	}
	return nil
}

func checkBasicPlane(what, s string) error {
	for _, r := range s {
		if r > 0xffff {
			return &InvalidError{What: what, Reason: fmt.Sprintf("it holds %U, which lies outside Unicode's basic plane", r), Hint: "map such characters to others before they become part of a key"}
		}
	}
	return nil
}
