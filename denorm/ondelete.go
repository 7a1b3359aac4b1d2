package denorm

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// DeleteAction says what becomes of the copies of a document that is deleted.
type DeleteAction uint8

const (
	// Keep leaves the copies, and the reference, as they are: they record what
	// was true last. It is the default.
	Keep DeleteAction = iota
	// Clear empties the reference and the synced copies beside it, in a patch by
	// the keeper when the change feed brings it the delete. Snapshots stay. What
	// expires by a time to live is refused: the feed does not bring that.
	Clear
	// Restrict makes the delete fail with [ErrReferenced] while a document
	// refers to this one. A reference that is written in the same instant may
	// escape it; its copies are kept then. A document's reference to itself does
	// not count. It is for aggregate roots that don't expire: what a delete of a
	// parent takes with it, and a time to live, are not asked.
	Restrict
)

// String returns the name.
func (g DeleteAction) String() string {
	switch g {
	case Keep:
		return "Keep"
	case Clear:
		return "Clear"
	case Restrict:
		return "Restrict"
	}
	return fmt.Sprintf("DeleteAction(%d)", uint8(g))
}

// OnDeleteOf says what becomes of documents of T that refer to a document of S
// through refField when that is deleted: of the reference, and of the copies
// that are made through it, if there are any. A reference has one rule.
func OnDeleteOf[T, S any](refField string, action DeleteAction) Declaration {
	return declare("OnDelete", reflect.TypeFor[T](), reflect.TypeFor[S](), bindDelete(refField, action))
}

func bindDelete(refField string, action DeleteAction) binder {
	return func(s *schema, d Declaration, target, source *entityType) error {
		g, err := groupOf(d, target, source, refField)
		if err != nil {
			return err
		}
		switch {
		case g.deleteRule != nil:
			return refuse(d, fmt.Sprintf("%q has another rule, %s", g.ref.Path, g.deleteRule), "leave one of them out")
		case action > Restrict:
			return refuse(d, action.String()+" is none", "say denorm.Keep, denorm.Clear or denorm.Restrict")
		case action == Restrict && source.entity.Parent != nil:
			return refuse(d, fmt.Sprintf("a %s may go with its parent, which is not asked for", source.name()), "use denorm.Keep or denorm.Clear")
		case action == Clear && target.isKey(g.ref):
			return refuse(d, fmt.Sprintf("%q is part of the partition key, which can't be cleared", g.ref.Path), "use denorm.Keep or denorm.Restrict")
		case action == Clear && g.ref.Kind == tenantitem.KindArray:
			return refuse(d, fmt.Sprintf("%q holds many references", g.ref.Path), "name the reference field of a tag, or use denorm.Link or denorm.Restrict")
		case action == Clear && target.isParent(g.ref):
			return refuse(d, fmt.Sprintf("%q is kept by Grove itself", g.ref.Path), "register the child with parented.Orphan")
		case action == Clear && source.expires():
			return refuse(d, fmt.Sprintf("documents of %s expire, which nobody gets to know", source.name()), "delete them instead of letting them expire, or use denorm.Keep")
		case action == Restrict && source.expires():
			return refuse(d, fmt.Sprintf("documents of %s expire, whatever refers to them", source.name()), "delete them instead of letting them expire, or use denorm.Keep")
		case action == Clear:
			if err := target.claim(d, g.ref); err != nil {
				return err
			}
			s.keep(g) // the copy rule clears: compare in copy_rule.go
			source.keepTombstones(fmt.Sprintf("the references in %s are cleared when it is deleted", target.name()))
		case action == Restrict:
			source.beforeDelete = append(source.beforeDelete, g.refuseDelete)
			source.restrictReason = fmt.Sprintf("%s refers to its documents, which may not end then", target.name())
		}
		g.onDelete, g.deleteRule = action, d
		return nil
	}
}

// errFound ends a search at its first document.
var errFound = errors.New("found")

// refuseDelete looks for documents that refer to the one that is to go.
func (g *group) refuseDelete(ctx context.Context, d engine.Deletion) error {
	err := g.referring(ctx, d.TenantID, d.ID, func([]engine.Document) error { return errFound })
	if errors.Is(err, errFound) {
		return &ReferencedError{EntityType: g.source.name(), ID: d.ID, By: g.target.name(), Field: g.ref.Path}
	}
	return err
}

// referring finds the documents that refer to one through a group.
func (g *group) referring(ctx context.Context, tenant, id string, yield func([]engine.Document) error) error {
	w := conditions{}
	w.refers(g, id, "")
	q := engine.SQL(w.any[0], w.params...).And(engine.Missing("deletedAt")).Limit(1)
	if g.target == g.source {
		q = q.And(engine.Ne("id", id)) // what a document says of itself goes with it
	}
	return inChunks(g.target.docs.Documents(ctx, tenant, nil, q, engine.Fields()), yield)
}
