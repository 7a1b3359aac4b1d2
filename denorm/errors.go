package denorm

import (
	"fmt"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// ErrReferenced is the refusal of a delete because other documents refer to
// the document and [Restrict] was declared for them.
var ErrReferenced = repository.ErrReferenced

// ReferencedError names what refers to a document that was to be deleted.
// Nothing was deleted. It unwraps to [ErrReferenced].
type ReferencedError struct {
	// EntityType and ID name the document.
	EntityType, ID string
	// By is the entity type of what refers to it, Field the field that does.
	By, Field string
}

// Error names both sides.
func (e *ReferencedError) Error() string {
	return fmt.Sprintf("%s: a %s refers to %s %q in %s (change or delete it first)", ErrReferenced, e.By, e.EntityType, e.ID, e.Field)
}

// Unwrap returns [ErrReferenced].
func (e *ReferencedError) Unwrap() error { return ErrReferenced }

// refuse is an error of the declarations, before anything is sent.
func refuse(d fmt.Stringer, reason, hint string) error {
	return &tenantitem.InvalidError{What: d.String(), Reason: reason, Hint: hint}
}
