package parented

import "fmt"

// Rule says what a delete of the parent means for its children. There is no
// default: a relation that was not decided about is how orphans come to be.
type Rule uint8

const (
	// Cascade: the children are deleted too, and their children under the
	// rules of their own relations.
	Cascade Rule = iota + 1
	// Restrict: a parent that has children can't be deleted; the error is a
	// [*ChildrenError]. A child deep below counts too: nothing of a tree is
	// deleted when a part of it may not be.
	Restrict
	// Orphan: the children stay. Their parentId is set to "" and their
	// parentEntityType is kept, so that repository.Eq("parentId", "") finds
	// them and [RepositoryOf.Move] gives them a new parent.
	Orphan
)

// String returns the rule's name.
func (r Rule) String() string {
	switch r {
	case Cascade:
		return "Cascade"
	case Restrict:
		return "Restrict"
	case Orphan:
		return "Orphan"
	default:
		return fmt.Sprintf("Rule(%d)", uint8(r))
	}
}
