package registry

import (
	"fmt"
	"time"
)

// lifetime is how long documents live after their last write by what is
// registered; 0 is for ever.
func (p *Plan) lifetime(s *entity) time.Duration {
	if s.TTL > 0 {
		return s.TTL
	}
	return max(0, p.containers[p.container(s.Container)].DefaultTTL)
}

// checkLifetimes refuses parents that expire before their children. The service
// does not tell that a document expired, so that no delete rule is applied.
func (p *Plan) checkLifetimes() error {
	for _, child := range p.entities {
		if child.Parent == nil {
			continue
		}
		parent, known := p.entityOf(child.Parent)
		if !known {
			continue
		}
		parents, children := p.lifetime(parent), p.lifetime(child)
		if parents == 0 || children > 0 && children <= parents {
			continue
		}
		longer := "never"
		if children > 0 {
			longer = "after " + children.String()
		}
		return conflict(
			fmt.Sprintf("%s expires after %v and its child %s %s, and no delete rule is applied to what expires: the children would stay without their parent", parent, parents, child, longer),
			fmt.Sprintf("give %s a registry.TTL of at most %v, or %s none and delete it", child.EntityType, parents, parent.EntityType),
		)
	}
	return nil
}
