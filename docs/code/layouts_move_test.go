package code

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Webhook is written a thousand times for every note.
type Webhook struct {
	tenantitem.TenantItem[Webhook]
	Source   string    `json:"source"`
	Received time.Time `json:"received"`
	OwnKey   string    `json:"ownKey"`
	Body     string    `json:"body"`
}

// moved are the containers that the log may live in.
func moved() map[string]struct {
	containers []registry.Container
	options    []registry.Option
} {
	type place = struct {
		containers []registry.Container
		options    []registry.Option
	}
	// snippet: move
	raw := registry.Container{ID: "raw-webhooks", PartitionKey: []string{"/partitionKey"}, DefaultTTL: 90 * 24 * time.Hour}
	filledFrom := func(key layout.KeySource) registry.Option {
		return registry.WithLayout(layout.Layout{Key: []layout.KeySource{key}})
	}
	byDay := filledFrom(layout.Format("%s-%.10s", "tenantId", "received"))
	bySource := filledFrom(layout.Format("%s-%s", "tenantId", "source"))
	byTenant := filledFrom(layout.FromTenant())
	byOwnKey := filledFrom(layout.Format("%s", "ownKey"))
	// end snippet
	own := []registry.Container{raw}
	return map[string]place{
		"with everything else": {nil, nil},
		"by tenant":            {own, []registry.Option{registry.In("raw-webhooks"), byTenant}},
		"by tenant and day":    {own, []registry.Option{registry.In("raw-webhooks"), byDay}},
		"by tenant and source": {own, []registry.Option{registry.In("raw-webhooks"), bySource}},
		"by a key of its own":  {own, []registry.Option{registry.In("raw-webhooks"), byOwnKey}},
	}
}

// The application below is the same for all of them.
func TestHighVolumeMovesOut(t *testing.T) {
	t.Parallel()
	for name, where := range moved() {
		for kind, options := range map[string][]emulatortest.Option{"kind": nil, "unkind": {emulatortest.Unkind(3)}} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := emulatortest.New(t, options...)
				plan, err := registry.NewPlan(registry.Config{Database: "hooks", Provision: true, Logger: slog.New(slog.DiscardHandler), Containers: where.containers},
					[]registry.Declaration{registry.EntityOf[Webhook](where.options...)})
				check(t, err)
				db, err := registry.Open(e.Client(nil), plan)
				check(t, err)
				check(t, db.Prepare(ctx))
				logs, err := registry.RepositoryOf[Webhook](db)
				check(t, err)
				useWebhooks(t, db, logs)
				if where.containers != nil {
					container, _ := db.Container("raw-webhooks")
					answer, err := container.Read(ctx, nil)
					check(t, err)
					if ttl := answer.ContainerProperties.DefaultTimeToLive; ttl == nil || *ttl != 90*24*3600 {
						t.Error("the container's time to live is", ttl)
					}
				}
			})
		}
	}
}

// A webhook is gone 90 days after it was written, and not before.
func TestHighVolumeExpires(t *testing.T) {
	t.Parallel()
	for name, where := range moved() {
		if where.containers == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				plan, err := registry.NewPlan(registry.Config{Database: "hooks", Provision: true, Logger: slog.New(slog.DiscardHandler), Containers: where.containers},
					[]registry.Declaration{registry.EntityOf[Webhook](where.options...)})
				check(t, err)
				db, err := registry.Open(emulatortest.New(t).Client(nil), plan)
				check(t, err)
				check(t, db.Prepare(ctx))
				logs, err := registry.RepositoryOf[Webhook](db)
				check(t, err)
				acme := logs.In("acme")
				write := func() string {
					hook := &Webhook{Source: "git", Received: time.Now(), OwnKey: "k", Body: "{}"}
					check(t, acme.Create(ctx, hook))
					return hook.ID
				}
				first := write()
				time.Sleep(45 * 24 * time.Hour)
				second := write()
				time.Sleep(45*24*time.Hour - time.Minute)
				left := func() int64 {
					n, err := acme.Count(ctx, repository.All())
					check(t, err)
					return n
				}
				if _, err := acme.Get(ctx, first); err != nil || left() != 2 {
					t.Errorf("a minute early %d are left of 2: %v", left(), err)
				}
				time.Sleep(2 * time.Minute)
				if _, err := acme.Get(ctx, first); !errors.Is(err, repository.ErrNotFound) || left() != 1 {
					t.Errorf("after 90 days %d are left, want 1: %v", left(), err)
				}
				if _, err := acme.Get(ctx, second); err != nil {
					t.Error("the one of 45 days ago:", err)
				}
			})
		})
	}
}

func useWebhooks(t *testing.T, db *registry.Database, logs *repository.Repository[Webhook]) {
	ctx := t.Context()
	acme := logs.In("acme")
	var first string
	for day := range 3 {
		for _, source := range []string{"git", "mail"} {
			hook := &Webhook{Source: source, Received: time.Date(2026, 1, 1+day, 12, 0, 0, 0, time.UTC), OwnKey: fmt.Sprint("k", day), Body: "{}"}
			check(t, acme.Create(ctx, hook))
			if first == "" {
				first = hook.ID
			}
		}
	}
	check(t, logs.In("globex").Create(ctx, &Webhook{Source: "git", Received: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), OwnKey: "k0"}))
	found, err := acme.Get(ctx, first)
	check(t, err)
	found.Body = `{"seen":true}`
	check(t, acme.Replace(ctx, found))
	_, err = acme.Mutate(ctx, first, func(w *Webhook) error { w.Body = "seen"; return nil })
	check(t, err)
	_, err = acme.Patch(ctx, first, repository.Set("/body", "patched"))
	check(t, err)
	if _, err := logs.In("globex").Get(ctx, first); err == nil {
		t.Error("another tenant read it")
	}
	n := 0
	for w, err := range acme.Query(ctx, repository.Where(repository.Eq("source", "git")).OrderBy("received")) {
		check(t, err)
		if w.TenantID != "acme" {
			t.Error("a row of", w.TenantID)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d from git", n)
	}
	total := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := acme.Page(ctx, repository.All().OrderByDesc("received"), repository.PageOptions{Size: 4, Cursor: cursor})
		check(t, err)
		total, cursor = total+len(page.Items), page.Cursor
	}
	if total != 6 {
		t.Errorf("%d on all pages", total)
	}
	check(t, acme.Delete(ctx, first, nil))
	_, err = db.Tenants().Erase(ctx, "acme", nil)
	check(t, err)
	left, err := logs.AllTenants().Count(ctx, repository.All())
	check(t, err)
	if left != 1 {
		t.Errorf("%d are left of the other tenant's one", left)
	}
}
