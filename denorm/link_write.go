package denorm

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/tenantitem"
)

// listFiller is one side of a link in writes: it checks the ids that are new in
// the list. What the following side changes, it keeps as pending links.
type listFiller struct {
	typ   *entityType
	field *tenantitem.Field
	to    *entityType
	// sideOf is the link whose following side this is, else nil.
	sideOf *link
}

func (l listFiller) before() (names []string, always bool) {
	return []string{l.field.Path, pendingLinksField}, true
}

func (l listFiller) fill(ctx context.Context, f *filling) error {
	var added []string
	for i, entity := range f.entities {
		prior, err := f.prior(ctx, i)
		if err != nil {
			return err
		}
		var old []string
		if prior != nil {
			old = refsIn(prior.Fields, l.field)
		}
		now := refsOf(entity, l.field)
		for _, id := range now {
			if !slices.Contains(old, id) {
				added = append(added, id)
			}
		}
		if l.sideOf != nil {
			l.keepPending(f, i, now)
		}
	}
	for _, id := range added {
		if err := tenantitem.ValidateID(id); err != nil {
			return fmt.Errorf("%s: %w", l.field.Path, err)
		}
	}
	found, err := readSources(ctx, l.to, f.w.TenantID, added, nil)
	if err != nil {
		return err
	}
	for _, id := range added {
		if d, ok := found[id]; !ok || d.DeletedAt != "" {
			return &parented.DanglingError{Field: l.field.Path, EntityType: l.to.name(), ID: id}
		}
	}
	return nil
}

// keepPending hides the pending links that a document has after this write.
func (l listFiller) keepPending(f *filling, i int, now []string) {
	var old []string
	var w pendingLinks
	if prior := f.priors[i]; prior != nil {
		old = refsIn(prior.Fields, l.field)
		w = pendingLinksIn(prior.Fields)[l.field.Path]
	}
	w = w.change(old, now)
	if len(w.Add)+len(w.Remove) > 0 {
		f.leave(i, pendingLinksField, l.field.Path, w)
	}
}
