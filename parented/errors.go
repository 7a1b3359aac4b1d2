package parented

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// ChildrenError is a delete that the rule [Restrict] forbids. Nothing was
// deleted, with one exception: children that were written in the instant of
// the decision, by a process that was held up or died then, or by an Upsert over something
// else where the document can't be restored, stop a delete that has
// begun. The document stays hidden, and the error is [repository.ErrAmbiguous] as
// well; once they are gone, a second call or [Forest.Resume] ends the delete. It
// unwraps to [repository.ErrHasChildren].
type ChildrenError struct {
	// Counts are the children that forbid it, by entity type. They are empty where
	// another process that worked on the same delete has met them.
	Counts map[string]int64
}

// Error names the counts.
func (e *ChildrenError) Error() string {
	if len(e.Counts) == 0 {
		return fmt.Sprintf("%s: another process that carried out the same delete met them (repeat it if they have gone since)", repository.ErrHasChildren)
	}
	parts := make([]string, 0, len(e.Counts))
	for name, n := range e.Counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, name))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s: %s (delete or move them first)", repository.ErrHasChildren, strings.Join(parts, ", "))
}

// Unwrap returns [repository.ErrHasChildren].
func (e *ChildrenError) Unwrap() error { return repository.ErrHasChildren }

// stoppedError is a delete that was decided, and met children that came after that. It
// is neither done nor undone.
type stoppedError struct{ children ChildrenError }

func (e *stoppedError) Error() string {
	return fmt.Sprintf("%s: the delete was begun, and children were written below it since (it goes on with Forest.Resume once they are gone): %s", repository.ErrAmbiguous, e.children.Error())
}

func (e *stoppedError) Unwrap() []error { return []error{repository.ErrAmbiguous, &e.children} }

// DanglingError is a child whose parent does not exist or is being deleted. It
// unwraps to [repository.ErrDanglingRef].
type DanglingError struct {
	// Field is the JSON name of the reference.
	Field string
	// EntityType and ID name what it points to.
	EntityType, ID string
}

// Error names the field, the entity type and the id.
func (e *DanglingError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s: %s is empty (write a child through Under(parent))", repository.ErrDanglingRef, e.Field)
	}
	return fmt.Sprintf("%s: %s names %s %q, which does not exist or is being deleted (create the parent first)", repository.ErrDanglingRef, e.Field, e.EntityType, e.ID)
}

// Unwrap returns [repository.ErrDanglingRef].
func (e *DanglingError) Unwrap() error { return repository.ErrDanglingRef }

// PlanChangedError is a delete with a [repository.DeletePlan] that would do more
// than the plan showed; nothing was deleted. It unwraps to
// [repository.ErrPreconditionFailed].
//
// It has these fields, and Error and Unwrap:
//
//	Shown, Found map[string]int64: Shown and Found count, by entity type, what the plan showed and what is there now, of the types of which there is more.
type PlanChangedError = engine.PlanChangedError

func isPlanChanged(err error) bool {
	var grown *PlanChangedError
	return errors.As(err, &grown)
}

// unfinished is the error of a delete, restore or purge that has begun: it is
// neither done nor undone, so that only a refusal is as definite as any other.
func unfinished(verb string, err error) error {
	if err == nil || isPlanChanged(err) || errors.Is(err, repository.ErrHasChildren) || errors.Is(err, repository.ErrDanglingRef) {
		return err
	}
	return fmt.Errorf("%w: the %s was begun and is not finished (repeat it, or let Forest.Resume go on with it): %w", repository.ErrAmbiguous, verb, err)
}

// errWrittenOver ends what an Upsert or an import of the very document has come into: how far it was is not known any more.
var errWrittenOver = errors.New("the document was written over meanwhile (a part of what is below it may be gone: delete it again, or let Forest.Sweep bring back what is hidden)")

// storedBut is the error of a write that took effect, where it is not known
// whether the child's parent is still there.
func storedBut(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: the child is stored, and whether its parent is still there is not known: %w", repository.ErrAmbiguous, err)
}
