package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
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

// expiry is the hook that gives documents their ttl, or refuses one that would
// do nothing; nil when there is nothing to do.
func (s *entity) expiry(container Container) engine.ValidatorFunc {
	if container.DefaultTTL == TTLOff {
		return func(_ context.Context, _ string, entities []any) error {
			for _, e := range entities {
				if metaOf(e).TTL != nil {
					return &tenantitem.InvalidError{
						What:   "ttl",
						Reason: fmt.Sprintf("the time to live of container %q is off, so it would do nothing", container.ID),
						Hint:   "register the entity type with registry.TTL, or the container with registry.TTLOn",
					}
				}
			}
			return nil
		}
	}
	if s.TTL == 0 {
		return nil
	}
	return func(_ context.Context, _ string, entities []any) error {
		for _, e := range entities {
			if meta := metaOf(e); meta.TTL == nil {
				meta.TTL = new(int(s.TTL / time.Second))
			}
		}
		return nil
	}
}

// checkTTL refuses an entity type that needs a time to live where it is off.
func (p *Plan) checkTTL() error {
	for _, s := range p.entities {
		if s.TTLReason == "" {
			continue
		}
		if c := p.containers[p.container(s.Container)]; c.DefaultTTL == TTLOff {
			return conflict(fmt.Sprintf("%s needs a time to live, because %s, and %s turns that of container %q off", s, s.TTLReason, p.origin[c.ID], c.ID), "use registry.TTLOn there")
		}
	}
	return nil
}

// TTL lets every document of the entity type expire so long after its last write,
// in whole seconds, unless the document's own ttl says otherwise (-1 is
// never). The container's time to live must not be [TTLOff].
func TTL(after time.Duration) Option {
	return optionFunc(func(s *entity) error {
		if after < time.Second || after%time.Second != 0 || after/time.Second > maxTTL {
			return &tenantitem.InvalidError{What: "TTL", Reason: fmt.Sprintf("it is %v", after), Hint: "use whole seconds, at most 68 years"}
		}
		s.TTL = after
		s.NeedsTTL("its documents expire (registry.TTL)")
		return nil
	})
}
