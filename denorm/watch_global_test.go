package denorm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	layouts "github.com/cosmosgrove/grove/repository/layout"
)

// Documents that belong to no tenant are seen under a tenant where the layout allows it, and asking for them there is
// otherwise an error: a watch that is silent for ever tells nobody why.
func TestWatchOfDocumentsOfNoTenant(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			cfg := registry.Config{Database: "parcels", Provision: true, Logger: layout().Logger, Containers: []registry.Container{{ID: "parcels", PartitionKey: []string{"/id"}}}}
			db, _ := openLayout(t, b.client, "", cfg, []registry.Declaration{registry.EntityOf[Parcel](registry.In("parcels"), registry.WithLayout(layouts.Layout{Global: true, UnderTenant: allowed}))}, nil)
			b.must(db.Prepare(b.ctx))
			parcels := repo[Parcel](t, db)
			p := &Parcel{Weight: 7}
			b.must(parcels.Global().Create(b.ctx, p))
			first := func(ctx context.Context, tenant string) (*Parcel, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				for e, err := range denorm.Watch(ctx, parcels, denorm.WatchOptions{WatchOptions: changefeed.WatchOptions{StartFrom: changefeed.Beginning()}, TenantID: tenant}) {
					return e.Entity, err
				}
				return nil, ctx.Err()
			}
			got, err := first(repository.WithTenant(b.ctx, acme), "")
			if seen := err == nil && got != nil && got.ID == p.ID; seen != allowed || !allowed && !errors.Is(err, repository.ErrTenantMismatch) {
				t.Errorf("under a tenant, allowed %v: %+v, %v", allowed, got, err)
			}
			if got, err := first(b.ctx, acme); !errors.Is(err, repository.ErrInvalid) {
				t.Errorf("of a tenant: %+v, %v", got, err)
			}
			if got, err := first(b.ctx, ""); err != nil || got == nil || got.ID != p.ID {
				t.Errorf("of all: %+v, %v", got, err)
			}
		})
	}
}
