package code

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

// The switch of docs/guide.md leaves out no error that a verb has a name for, and says what httpapi says; an unknown outcome
// comes first, whatever became of the last attempt.
func TestRespondKnowsEveryError(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		repository.ErrInvalid, repository.ErrNotFound, repository.ErrConflict, repository.ErrPreconditionFailed,
		repository.ErrTenantMismatch, repository.ErrEntityMismatch, repository.ErrTooLarge, repository.ErrThrottled,
		repository.ErrAmbiguous, repository.ErrBudget, repository.ErrUnsupported, repository.ErrDanglingRef,
		repository.ErrHasChildren, repository.ErrReferenced,
	} {
		for _, err := range []error{err, fmt.Errorf("%w: %w", err, repository.ErrAmbiguous)} {
			if status, _ := respond(err); status != httpapi.Status(err) {
				t.Errorf("%v: %d, httpapi says %d", err, status, httpapi.Status(err))
			}
		}
	}
}
