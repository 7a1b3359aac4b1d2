package registry

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// refuseTaken gives the lines of the page whose id is stored under another name
// of their entity type their outcome, and returns the others. Where the key holds
// the entity type, the service sees no conflict between the two, and readers
// would meet two documents of one id.
func (im *importer) refuseTaken(ctx context.Context, lines []int) (others []int, err error) {
	type place struct {
		of  *entity
		key string
	}
	groups := map[place][]int{}
	var order []place
	for _, i := range lines {
		line := &im.page[i]
		if line.entity == nil || len(line.entity.Aliases) == 0 {
			continue
		}
		at := place{line.entity, engine.KeyText(line.key)}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], i)
	}
	for _, at := range order {
		ids := make([]string, len(groups[at]))
		for n, i := range groups[at] {
			ids[n] = im.page[i].ID
		}
		taken, err := at.of.Collection.StoredElsewhere(ctx, im.tenant, im.page[groups[at][0]].key, ids)
		if err != nil {
			return nil, err
		}
		for _, i := range groups[at] {
			if name, ok := taken[im.page[i].ID]; ok {
				im.page[i].Outcome = LineConflict
				im.page[i].Err = fmt.Errorf("%w: the document is stored as %s, another name of its entity type (give the line that name)", repository.ErrConflict, name)
			}
		}
	}
	for _, i := range lines {
		if im.page[i].Outcome == "" {
			others = append(others, i)
		}
	}
	return others, nil
}
