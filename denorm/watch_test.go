package denorm_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	layouts "github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A watch shows one entity type of one tenant, as entities, within a second, deletes included; a document that does not fit is an
// error of its own.
func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, emulatortest.WithPartitions(3))
		type seen struct {
			denorm.Event[Task]
			err error
			at  time.Time
		}
		events := make(chan seen, 100)
		ctx, cancel := context.WithCancel(b.ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for e, err := range denorm.Watch(ctx, b.tasks, denorm.WatchOptions{TenantID: acme}) {
				events <- seen{e, err, time.Now()}
			}
		}()
		<-time.After(5 * time.Second)
		ada := b.person("Ada") // of another type
		foreign := &Task{Title: "of another tenant"}
		b.must(b.tasks.In("globex", "p1").Create(b.ctx, foreign))
		next := func(do func()) seen {
			t.Helper()
			began := time.Now()
			do()
			e := <-events
			if late := e.at.Sub(began); late > time.Second {
				t.Errorf("an event after %v", late)
			}
			return e
		}
		var task *Task
		if e := next(func() { task = b.task("p1", ada) }); e.err != nil || e.Kind != denorm.Stored || e.Entity.AssigneeName != "Ada" || e.TenantID != acme || e.ID != task.ID || e.Position() == "" {
			t.Errorf("a create: %+v", e)
		}
		if e := next(func() { b.patchTask(task, "/title", "new") }); e.err != nil || e.Kind != denorm.Stored || e.Entity.Title != "new" {
			t.Errorf("a change: %+v", e)
		}
		var misfit *repository.DecodeError
		if e := next(func() { b.patchTask(task, "/plan", "a secret") }); !errors.As(e.err, &misfit) || misfit.ID != task.ID || e.TenantID != acme || e.Entity != nil {
			t.Errorf("a misfit: %+v", e)
		}
		if e := next(func() { b.must(b.tasks.In(acme, "p1").Delete(b.ctx, task.ID, nil)) }); e.err != nil || e.Kind != denorm.Deleted || e.Entity != nil || e.ID != task.ID {
			t.Errorf("a delete: %+v", e)
		}
		cancel()
		<-ended
		if len(events) != 0 {
			t.Errorf("%d further events: %+v", len(events), <-events)
		}
	})
}

// Parcel stands in a container that others made, under their names.
type Parcel struct {
	tenantitem.TenantItem[Parcel]
	Weight int `json:"weight"`
}

// A watch reads documents by their layout.
func TestWatchOfALayout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		cfg := registry.Config{Database: "parcels", Provision: true, Logger: layout().Logger, Containers: []registry.Container{{ID: "parcels", PartitionKey: []string{"/org"}}}}
		names := map[string]string{"tenantId": "org", "entityType": "$type", "deletedAt": "gone", "weight": "grams"}
		db, _ := openLayout(t, b.client, "", cfg, []registry.Declaration{registry.EntityOf[Parcel](registry.In("parcels"), registry.SoftDelete(time.Hour), registry.WithLayout(layouts.Layout{Names: names, IDPrefix: "p-"}))}, nil)
		b.must(db.Prepare(b.ctx))
		parcels := repo[Parcel](t, db)
		p := &Parcel{Weight: 7}
		b.must(parcels.In(acme).Create(b.ctx, p))
		b.must(parcels.In("globex").Create(b.ctx, &Parcel{Weight: 8}))
		opts := denorm.WatchOptions{WatchOptions: changefeed.WatchOptions{StartFrom: changefeed.Beginning()}, TenantID: acme}
		ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
		defer cancel()
		var seen []denorm.Event[Parcel]
		for e, err := range denorm.Watch(ctx, parcels, opts) {
			b.must(err)
			if seen = append(seen, e); len(seen) == 2 {
				break
			}
			b.must(parcels.In(acme).Delete(b.ctx, p.ID, nil))
		}
		if len(seen) != 2 || seen[0].Entity == nil || seen[0].Entity.Weight != 7 || seen[0].ID != p.ID || seen[0].TenantID != acme || seen[1].Kind != denorm.Deleted || seen[1].ID != p.ID {
			t.Errorf("the watch saw %+v", seen)
		}
	})
}

// A watch goes on where an event's position says, and shows no tenant but that of the context.
func TestWatchGoesOnAndStaysInItsTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, tenant := range []string{acme, "globex"} {
		for _, title := range []string{"1", "2", "3"} {
			b.must(b.tasks.In(tenant, "p1").Create(b.ctx, &Task{Title: title}))
		}
	}
	ctx := repository.WithTenant(b.ctx, acme)
	opts := denorm.WatchOptions{WatchOptions: changefeed.WatchOptions{StartFrom: changefeed.Beginning(), MaxItems: 1}}
	var titles []string
	for range 3 {
		for e, err := range denorm.Watch(ctx, b.tasks, opts) {
			b.must(err)
			if e.TenantID != acme {
				t.Errorf("an event of %s", e.TenantID)
			}
			titles = append(titles, e.Entity.Title)
			opts.Position = e.Position()
			break
		}
	}
	if !slices.Equal(titles, []string{"1", "2", "3"}) {
		t.Errorf("titles %v", titles)
	}
	for tenant, want := range map[string]error{"globex": repository.ErrTenantMismatch, "a/b": repository.ErrTenantMismatch} {
		for _, err := range denorm.Watch(ctx, b.tasks, denorm.WatchOptions{TenantID: tenant}) {
			if !errors.Is(err, want) {
				t.Errorf("tenant %q: %v", tenant, err)
			}
		}
	}
	for _, err := range denorm.Watch(b.ctx, b.tasks, denorm.WatchOptions{TenantID: "a/b"}) {
		if !errors.Is(err, tenantitem.ErrInvalid) {
			t.Errorf("no tenant id: %v", err)
		}
	}
}
