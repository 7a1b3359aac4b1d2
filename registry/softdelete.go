package registry

import (
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

// SoftDelete keeps a deleted document of the entity type for a while, in whole
// seconds: hidden from every read, until it expires. Until then Restore brings
// it back and Purge removes it; its id can be used again at once, which gives
// up what was kept. Where its deletes have to be seen in the change feed for
// longer, it is kept for that time. Descendants that go with it under parented.Cascade are kept
// and restored with it. A container whose time to live is off refuses it.
//
// What a delete keeps, and for how long, is in parented/retention.go, also for
// entity types without children; what a restore puts back in parented/restore.go
// and parented/rollback.go. Queries leave it out in internal/engine/query_sql.go
// (writeConditions), reads by id in repository/get.go.
func SoftDelete(retain time.Duration) Option {
	return optionFunc(func(s *entity) error {
		if retain < time.Second || retain%time.Second != 0 || retain/time.Second > maxTTL {
			return &tenantitem.InvalidError{What: "SoftDelete", Reason: fmt.Sprintf("it is %v", retain), Hint: "use whole seconds, at most 68 years"}
		}
		s.Policy.Retain = retain
		s.NeedsTTL("its deleted documents expire (registry.SoftDelete)")
		return nil
	})
}

// keepDescendants makes what is deleted softly with an ancestor expire too.
func (p *Plan) keepDescendants() error {
	for _, s := range p.entities {
		above := s
		for range p.entities { // no line of parents is longer, even in a circle
			if above.Parent == nil {
				break
			}
			parent, ok := p.entityOf(above.Parent)
			if !ok {
				break
			}
			if above = parent; above.Policy.Retain > 0 {
				s.NeedsTTL(fmt.Sprintf("it is kept with a deleted %s (registry.SoftDelete)", above.EntityType))
			}
		}
	}
	return nil
}
