package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Setting is read at every request, and changed once a week.
type Setting struct {
	tenantitem.TenantItem[Setting]
	Value string `json:"value"`
}

// settings are all settings in this process's memory, by tenant and name.
type settings struct {
	mu     sync.RWMutex
	values map[[2]string]string
}

func (s *settings) Get(tenant, name string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.values[[2]string{tenant, name}]
}

// follow reads what is stored, and then what changes, until the context ends.
func (s *settings) follow(ctx context.Context, repo *repository.Repository[Setting]) error {
	everything := denorm.WatchOptions{WatchOptions: changefeed.WatchOptions{StartFrom: changefeed.Beginning()}}
	for event, err := range denorm.Watch(ctx, repo, everything) {
		var misfit *repository.DecodeError
		if errors.As(err, &misfit) {
			continue // another writer's; the next change of it may fit
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		if key := [2]string{event.TenantID, event.ID}; event.Kind == denorm.Deleted {
			delete(s.values, key)
		} else {
			s.values[key] = event.Entity.Value
		}
		s.mu.Unlock()
	}
	return nil
}

// A cache of settings that is right within a second in every process, whichever
// of them changed one. Settings are deleted softly, so that the feed shows it.
func ExampleWatch() {
	client, done := exampleClient()
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	plan, _ := registry.NewPlan(registry.Config{Database: "app", Provision: true}, []registry.Declaration{registry.EntityOf[Setting](registry.SoftDelete(time.Hour))})
	db, _ := registry.Open(client, plan)
	if err := db.Prepare(ctx); err != nil {
		fmt.Println(err)
		return
	}
	repo, _ := registry.RepositoryOf[Setting](db)
	theme := &Setting{Value: "light"}
	theme.ID = "theme"
	_ = repo.In("acme").Create(ctx, theme)

	cache := settings{values: map[[2]string]string{}}
	ended := make(chan error)
	go func() { ended <- cache.follow(ctx, repo) }()
	waitFor := func(value string) {
		for cache.Get("acme", "theme") != value {
			<-time.After(10 * time.Millisecond)
		}
		fmt.Printf("theme is %q\n", value)
	}
	waitFor("light")
	theme.Value = "dark"
	_ = repo.In("acme").Save(ctx, theme)
	waitFor("dark")
	_ = repo.In("acme").Delete(ctx, "theme", nil)
	waitFor("")
	cancel()
	fmt.Println(<-ended)
	// Output:
	// theme is "light"
	// theme is "dark"
	// theme is ""
	// <nil>
}

// A watch goes on where an earlier one of this process, or of another, was.
func ExampleEvent_Position() {
	client, done := exampleClient()
	defer done()
	ctx := context.Background()
	plan, _ := registry.NewPlan(registry.Config{Database: "app", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{registry.EntityOf[Setting]()})
	db, _ := registry.Open(client, plan)
	if err := db.Prepare(ctx); err != nil {
		fmt.Println(err)
		return
	}
	repo, _ := registry.RepositoryOf[Setting](db)
	_ = repo.In("acme").Create(ctx, &Setting{Value: "light"})

	opts := denorm.WatchOptions{TenantID: "acme", WatchOptions: changefeed.WatchOptions{StartFrom: changefeed.Beginning()}}
	for event, err := range denorm.Watch(ctx, repo, opts) {
		fmt.Println(event.Entity.Value, err)
		opts.Position = event.Position() // stored where the next watch finds it
		break
	}
	_ = repo.In("acme").Create(ctx, &Setting{Value: "dark"})
	for event, err := range denorm.Watch(ctx, repo, opts) {
		fmt.Println(event.Entity.Value, err)
		break
	}
	// Output:
	// light <nil>
	// dark <nil>
}
