package repository_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/ceiling"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Counted struct {
	tenantitem.TenantItem[Counted]
	N int `json:"n"`
}

func underCeiling(t testing.TB, cfg ceiling.Config) (*repository.Repository[Counted], *ceiling.Ceiling) {
	t.Helper()
	client := emulatortest.Client(t)
	_, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "d"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := client.NewDatabase("d")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "c", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
	}}, nil); err != nil {
		t.Fatal(err)
	}
	container, err := db.NewContainer("c")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := ceiling.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := repository.New[Counted](container, repository.Config{Ceiling: bound})
	if err != nil {
		t.Fatal(err)
	}
	return repo, bound
}

// busy has workers of a tenant create documents for as long as given. It ends off
// the beat of their pauses: a write that is under way then would be ambiguous.
func busy(t *testing.T, repo *repository.Repository[Counted], tenant string, workers int, pause, length time.Duration) *sync.WaitGroup {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), length+500*time.Microsecond)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				err := repo.In(tenant).Create(ctx, &Counted{}) // one that is under way at the end may have been sent
				if err != nil && ctx.Err() == nil && (!errors.Is(err, repository.ErrThrottled) || errors.Is(err, repository.ErrAmbiguous)) {
					t.Errorf("%s: %v", tenant, err)
				}
				time.Sleep(pause)
			}
		})
	}
	t.Cleanup(cancel)
	return &wg
}

func TestATenantKeepsToItsCeiling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, bound := underCeiling(t, ceiling.Config{PerTenant: 100, Tenants: map[string]float64{"large": 400, "free": 0}})
		const seconds = 20
		groups := []*sync.WaitGroup{
			busy(t, repo, "small", 8, time.Millisecond, seconds*time.Second),
			busy(t, repo, "large", 8, time.Millisecond, seconds*time.Second),
			busy(t, repo, "free", 2, 20*time.Millisecond, seconds*time.Second),
		}
		for _, g := range groups {
			g.Wait()
		}
		use := bound.Use()
		for tenant, rate := range map[string]float64{"small": 100, "large": 400} {
			got := use[tenant].RequestUnits / seconds
			t.Logf("%s: %.0f RU/s under %.0f, waited %v", tenant, got, rate, use[tenant].Waited.Round(time.Second))
			if got > 1.2*rate || got < 0.9*rate || use[tenant].Waited == 0 {
				t.Errorf("%s spent %.0f RU/s under a ceiling of %.0f: %+v", tenant, got, rate, use[tenant])
			}
		}
		if use["free"].Waited != 0 || use["free"].RequestUnits/seconds < 500 {
			t.Errorf("the tenant without a ceiling: %+v", use["free"])
		}
	})
}

// Of what is left each tenant gets the same, however many requests it has, and
// one that wants little gets what it wants at once.
func TestTenantsShareWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, bound := underCeiling(t, ceiling.Config{Total: 600, Tenants: map[string]float64{"capped": 100}})
		const seconds = 20
		groups := []*sync.WaitGroup{
			busy(t, repo, "greedy", 60, time.Millisecond, seconds*time.Second),
			busy(t, repo, "busy", 4, time.Millisecond, seconds*time.Second),
			busy(t, repo, "capped", 4, time.Millisecond, seconds*time.Second),
			busy(t, repo, "modest", 1, time.Second, seconds*time.Second),
		}
		for _, g := range groups {
			g.Wait()
		}
		use := bound.Use()
		rate := func(tenant string) float64 { return use[tenant].RequestUnits / seconds }
		report := fmt.Sprintf("greedy %.0f, busy %.0f, capped %.0f, modest %.0f RU/s", rate("greedy"), rate("busy"), rate("capped"), rate("modest"))
		t.Log(report)
		if total := rate("greedy") + rate("busy") + rate("capped") + rate("modest"); total > 1.15*600 || total < 0.9*600 {
			t.Errorf("%.0f RU/s in all: %s", total, report)
		}
		if rate("greedy") > 1.2*rate("busy") || rate("busy") > 1.2*rate("greedy") || rate("capped") > 120 || rate("capped") < 80 {
			t.Error(report)
		}
		// 20 requests, and each waited for what was owed when it came.
		if use["modest"].Requests < 18 || use["modest"].Waited > 2*time.Second {
			t.Errorf("modest: %+v", use["modest"])
		}
	})
}

// A write whose turn does not come in time was not sent, and is not ambiguous.
func TestAHeldBackWriteIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, bound := underCeiling(t, ceiling.Config{PerTenant: 1})
		if err := repo.In("acme").Create(t.Context(), &Counted{}); err != nil {
			t.Fatal(err)
		}
		before := bound.Use()["acme"].Requests
		for name, verb := range map[string]func(ctx context.Context) error{
			"Create": func(ctx context.Context) error { return repo.In("acme").Create(ctx, &Counted{}) },
			"Get":    func(ctx context.Context) error { _, err := repo.In("acme").Get(ctx, "x"); return err },
			"Count":  func(ctx context.Context) error { _, err := repo.In("acme").Count(ctx, repository.All()); return err },
			"Upsert": func(ctx context.Context) error { return repo.In("acme").Upsert(ctx, &Counted{}) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := verb(ctx)
			cancel()
			if errors.Is(err, repository.ErrAmbiguous) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, repository.ErrThrottled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := bound.Use()["acme"].Requests; after != before {
			t.Errorf("%d requests were sent", after-before)
		}
	})
}

func TestACeilingThatIsNone(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]float64{"negative": -1, "no number": math.NaN(), "infinite": math.Inf(1), "negative and infinite": math.Inf(-1)} {
		for _, cfg := range []ceiling.Config{{Total: bad}, {Total: 100, PerTenant: bad}, {PerTenant: 5, Tenants: map[string]float64{"a": 1, "b": bad}}} {
			var invalid *tenantitem.InvalidError
			if _, err := ceiling.New(cfg); !errors.Is(err, repository.ErrInvalid) || !errors.As(err, &invalid) {
				t.Errorf("%s: %+v: %v", name, cfg, err)
			}
		}
	}
	if _, err := ceiling.New(ceiling.Config{}); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("no rate: %v", err)
	}
	var zero ceiling.Ceiling
	if len(zero.Use()) != 0 {
		t.Error("a ceiling that New did not make was used")
	}
}

// The smallest rate is waited for in steps, since no Duration holds the whole wait.
func TestATinyRateIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, _ := underCeiling(t, ceiling.Config{PerTenant: math.SmallestNonzeroFloat64})
		if err := repo.In("acme").Create(t.Context(), &Counted{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := repo.In("acme").Create(ctx, &Counted{}); !errors.Is(err, repository.ErrThrottled) {
			t.Error(err)
		}
	})
}

// A ceiling that the repository and the context have both counts each request once.
func TestACeilingGivenTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, bound := underCeiling(t, ceiling.Config{PerTenant: 1000})
		ctx := ceiling.With(ceiling.With(t.Context(), bound), bound)
		if err := repo.In("acme").Create(ctx, &Counted{}); err != nil {
			t.Fatal(err)
		}
		if use := bound.Use()["acme"]; use.Requests != 1 {
			t.Errorf("one request was counted as %d", use.Requests)
		}
	})
}
