package denorm

import (
	"cmp"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
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
	// out of work. Defaults to 7 days.
	Tombstone time.Duration
	// Processor is what the processors have in common: their intervals, their
	// logger, their meters. Its Container, Leases, Name, Endpoint and Session are filled in. A
	// Logger that is not set is the one of registry.Config.
	Processor changefeed.Config
}

func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, "grove-copies")
	c.LeaseContainer = cmp.Or(c.LeaseContainer, "grove-leases")
	c.Tombstone = cmp.Or(c.Tombstone, 7*24*time.Hour)
	return c
}
