package notes

import (
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
)

// Comment belongs to a note.
type Comment struct {
	parented.ParentedItem[Comment, Note]
	Text string `json:"text"`
}

// Comments are the comments of notes: they go with their note, and the note knows their number.
var Comments = fx.Options(
	registry.Child[Comment, Note](parented.Cascade),
	denorm.Module,
	denorm.Count[Note, Comment]("commentCount", "parentId"),
)
