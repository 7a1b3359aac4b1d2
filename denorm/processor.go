package denorm

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// leaseContainer asks for the container in which processors share their work.
func leaseContainer(cfg Config, by string) []catalogue.Container {
	return []catalogue.Container{{ID: cfg.LeaseContainer, PartitionKey: []string{"/id"}, By: by}}
}

// eraseHeld removes changes from quarantine for an erasure.
func eraseHeld(cfg Config) func(context.Context, catalogue.Source, string, func(catalogue.HeldDocument) bool) (int, error) {
	return func(ctx context.Context, source catalogue.Source, container string, chosen func(catalogue.HeldDocument) bool) (int, error) {
		db, ok := source.(*registry.Database)
		if !ok {
			return 0, nil
		}
		leases, _ := db.Container(cfg.LeaseContainer)
		of, _ := db.Container(container)
		return changefeed.EraseQuarantined(ctx, leases, of, func(q changefeed.Quarantined) bool {
			return chosen(catalogue.HeldDocument{ID: q.DocumentID, PartitionKey: q.PartitionKey, Document: q.Document})
		})
	}
}

// processorConfig is for a processor of the container in which an entity is stored.
func processorConfig(db *registry.Database, cfg Config, t reflect.Type, name string) (changefeed.Config, error) {
	entity, ok := catalogue.Of(db, t)
	if !ok {
		return changefeed.Config{}, &tenantitem.InvalidError{What: fmt.Sprintf("denorm.Process(%q)", name), Reason: fmt.Sprintf("%s is not registered", t.Name()), Hint: "register it with registry.Entity or registry.Child"}
	}
	return containerConfig(db, cfg, entity.Container, name, entity.Collection.SessionToken)
}

// containerConfig fills in what a processor of a registered container needs.
func containerConfig(db *registry.Database, c Config, container, name string, session func() string) (changefeed.Config, error) {
	leases, ok := db.Container(c.LeaseContainer)
	if !ok {
		return changefeed.Config{}, fmt.Errorf("denorm: the plan has no container %q", c.LeaseContainer)
	}
	cfg := c.Processor
	cfg.Leases, cfg.Name, cfg.Session = leases, name, session
	cfg.Container, _ = db.Container(container)
	cfg.Endpoint = cosmos.Endpoint(db.Client())
	cfg.Logger = cmp.Or(cfg.Logger, db.Plan().Logger())
	return cfg, nil
}
