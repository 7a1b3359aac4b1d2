package denorm

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Config says how copies are followed. The zero value is ready to use.
type Config struct {
	// Name identifies the work among the processors of a container: every
	// process of one application uses the same. Another one reads everything
	// again from the beginning. Defaults to "grove-copies".
	Name string
	// LeaseContainer is the id of the container in which processes share the
	// work. Its key is /id. Defaults to "grove-leases".
	LeaseContainer string
	// Tombstone is how long a deleted document stays, hidden, where another document
	// has to learn of the delete. It must be longer than the processor may be
	// out of work. Defaults to 7 days; it is a second to 68 years.
	Tombstone time.Duration
	// Processor is what the processors have in common: their intervals, their
	// logger, their meters. Its Container, Leases, Name, Endpoint and Session are filled in. A
	// Logger that is not set is the one of registry.Config.
	Processor changefeed.Config
}

// maxTombstone is the longest time to live that a document can have, in seconds.
const maxTombstone = math.MaxInt32 * time.Second

// validate refuses what can't work with these entities, before anything is sent.
func (c Config) validate(entities []*catalogue.Entity) error {
	if err := tenantitem.ValidateID(c.Name); err != nil {
		return fmt.Errorf("denorm.Config.Name: %w", err)
	}
	if c.Tombstone < time.Second || c.Tombstone > maxTombstone {
		return &tenantitem.InvalidError{What: "denorm.Config.Tombstone", Reason: fmt.Sprintf("it is %s", c.Tombstone), Hint: "leave it out for its default, or use hours"}
	}
	for _, entity := range entities {
		if entity.Container == c.LeaseContainer {
			return &tenantitem.InvalidError{What: "denorm.Config.LeaseContainer", Reason: fmt.Sprintf("container %q holds documents of %s", c.LeaseContainer, entity.EntityType), Hint: "use a container of its own: every lease written would be a change"}
		}
	}
	if err := c.Processor.Validate(); err != nil {
		return fmt.Errorf("denorm.Config.Processor: %w", err)
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, "grove-copies")
	c.LeaseContainer = cmp.Or(c.LeaseContainer, "grove-leases")
	c.Tombstone = cmp.Or(c.Tombstone, 7*24*time.Hour)
	return c
}
