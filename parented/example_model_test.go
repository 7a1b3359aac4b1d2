package parented_test

import (
	"fmt"

	"github.com/cosmosgrove/grove/parented"
)

// Thought is a child of a note: its base names its own type and its parent's.
type Thought struct {
	parented.ParentedItem[Thought, Note]
	Text string `json:"text"`
}

func ExampleParentedItem() {
	thought := Thought{Text: "later"}
	thought.ID, thought.ParentID = "t-1", "n-1"
	ref := thought.Ref() // a tenantitem.Ref[Thought], to be stored in other documents
	fmt.Println(ref, "of", thought.ParentID)
	// Output: t-1 of n-1
}

// Moved collects the children of one type that a program has moved: a generic
// type of its own. The compiler refuses a type that does not embed
// ParentedItem of itself and its parent.
type Moved[C, P any, PC parented.Child[C, P]] struct{ ids []string }

func (m *Moved[C, P, PC]) Add(child PC) { m.ids = append(m.ids, child.ItemMeta().ID) }

func ExampleChild() {
	thought := &Thought{}
	thought.ID = "t-1"
	var moved Moved[Thought, Note, *Thought]
	moved.Add(thought)
	fmt.Println(moved.ids)
	// Output: [t-1]
}
