package changefeed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
)

// setting is what the cache of the example holds.
type setting struct {
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Kind    string `json:"kind"`
	Value   string `json:"value"`
	Deleted bool   `json:"deleted,omitempty"`
}

// settings are a container's settings in this process's memory. Every process
// has all of them, and each is right about a second after it was changed,
// whichever process changed it.
type settings struct {
	mu     sync.RWMutex
	values map[string]string
}

func (s *settings) Get(name string) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, ok := s.values[name]
	return value, ok
}

// follow reads all settings, and then what changes, until the context ends.
func (s *settings) follow(ctx context.Context, container *azcosmos.ContainerClient) error {
	all := changefeed.WatchOptions{StartFrom: changefeed.Beginning()}
	for change, err := range changefeed.Watch(ctx, container, all) {
		if err != nil {
			return err
		}
		var changed setting
		if err := change.Decode(&changed); err != nil {
			return err
		}
		s.mu.Lock()
		if s.values[changed.ID] = changed.Value; changed.Deleted {
			delete(s.values, changed.ID) // the feed does not show deletes, so they are marked
		}
		s.mu.Unlock()
		fmt.Println(changed.ID, "is", changed.Value)
	}
	return nil
}

// A cache of settings: it begins with everything that is stored, and follows
// what any process changes.
func ExampleWatch() {
	container, _, done := exampleContainers()
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	store := func(name, value string) {
		body, _ := json.Marshal(setting{ID: name, Tenant: "acme", Kind: "setting", Value: value})
		if _, err := container.UpsertItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("setting"), body, nil); err != nil {
			fmt.Println(err)
		}
	}
	store("theme", "light")

	cache := settings{values: map[string]string{}}
	ended := make(chan error)
	go func() { ended <- cache.follow(ctx, container) }()

	waitFor := func(value string) {
		for got, _ := cache.Get("theme"); got != value; got, _ = cache.Get("theme") {
			<-time.After(10 * time.Millisecond)
		}
	}
	waitFor("light")
	store("theme", "dark") // by this process or by another
	waitFor("dark")
	cancel()
	fmt.Println(<-ended)
	// Output:
	// theme is light
	// theme is dark
	// <nil>
}
