package emulator_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

func newService(t testing.TB, o emulator.Options) *emulator.Service {
	t.Helper()
	service, err := emulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service
}

// itemsOf is a client of the container that newContainer made.
func itemsOf(t testing.TB, service *emulator.Service) *azcosmos.ContainerClient {
	t.Helper()
	client, err := newClient(service)
	if err != nil {
		t.Fatal(err)
	}
	items, err := client.NewContainer("notes", "items")
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func create(t testing.TB, c *azcosmos.ContainerClient, id string) azcosmos.ItemResponse {
	t.Helper()
	r, err := c.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("acme"), fmt.Appendf(nil, `{"id":%q,"tenantId":"acme"}`, id), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func isThere(t testing.TB, c *azcosmos.ContainerClient, id string) bool {
	t.Helper()
	_, err := c.ReadItem(t.Context(), azcosmos.NewPartitionKeyString("acme"), id, nil)
	if err != nil && statusOf(err) != http.StatusNotFound {
		t.Fatal(err)
	}
	return err == nil
}

func TestForkAndOriginDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	origin := newService(t, emulator.Options{DataDir: t.TempDir()})
	items, err := newContainer(t.Context(), origin)
	if err != nil {
		t.Fatal(err)
	}
	create(t, items, "common")
	origin.Faults().Add(emulator.Answer(503, 0).On(emulator.ReadItem))
	fork := origin.Fork(emulator.ForkOptions{})
	forked := itemsOf(t, fork)
	create(t, items, "origin's")
	create(t, forked, "fork's")
	if _, err := fork.Split("notes", "items", "0"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"common": true, "fork's": true, "origin's": false} {
		if got := isThere(t, forked, id); got != want {
			t.Errorf("in the fork %s: %v, want %v", id, got, want)
		}
	}
	origin.Faults().Clear()
	for id, want := range map[string]bool{"common": true, "fork's": false, "origin's": true} {
		if got := isThere(t, items, id); got != want {
			t.Errorf("in the origin %s: %v, want %v", id, got, want)
		}
	}
	if n := fork.Log().Count(emulator.CreateItem); n != 1 {
		t.Errorf("the fork's log counts %d creates, want its own", n)
	}
	if ranges, err := origin.Ranges("notes", "items"); err != nil || len(ranges) != 1 {
		t.Errorf("the origin has %d ranges, %v", len(ranges), err)
	}
	if fork.Key() != origin.Key() {
		t.Error("the fork has another key")
	}
}

func TestForkHasItsOwnClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	origin := newService(t, emulator.Options{Clock: emulator.NewClockAt(start)})
	origin.Clock().Advance(time.Minute)
	fork := origin.Fork(emulator.ForkOptions{})
	origin.Clock().Advance(time.Hour)
	fork.Clock().Advance(time.Second)
	if got := fork.Clock().Now(); !got.Equal(start.Add(time.Minute + time.Second)) {
		t.Errorf("the fork's clock shows %v", got)
	}
	own := emulator.NewClockAt(start.Add(48 * time.Hour))
	if other := fork.Fork(emulator.ForkOptions{Clock: own}); other.Clock() != own {
		t.Error("a fork did not take the clock it was given")
	}
}

// A bubble's wall clock begins at the same time as that of the bubble before, but a fork's must not go back.
func TestForkedClockDoesNotGoBackBetweenBubbles(t *testing.T) {
	t.Parallel()
	var clock *emulator.Clock
	var latest time.Time
	synctest.Test(t, func(*testing.T) {
		clock = emulator.NewClock()
		time.Sleep(time.Hour)
		latest = clock.Now()
	})
	synctest.Test(t, func(t *testing.T) {
		fork := clock.Fork()
		if got := fork.Now(); !got.Equal(latest) {
			t.Errorf("the fork begins at %v, want %v", got, latest)
		}
		time.Sleep(time.Minute)
		if got := fork.Now(); !got.Equal(latest.Add(time.Minute)) {
			t.Errorf("a minute later the fork shows %v", got)
		}
	})
}

// chance gives what RAND gives.
func chance(t testing.TB, c *azcosmos.ContainerClient) string {
	t.Helper()
	page, err := c.NewQueryItemsPager("SELECT VALUE RAND() FROM c", azcosmos.NewPartitionKeyString("acme"), nil).NextPage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s", page.Items)
}

func TestForksOfASeedAnswerAlike(t *testing.T) {
	t.Parallel()
	clock := emulator.NewClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	seeded := func(seed uint64) *emulator.Service {
		service := newService(t, emulator.Options{Seed: seed, Clock: clock})
		if _, err := newContainer(t.Context(), service); err != nil {
			t.Fatal(err)
		}
		return service
	}
	run := func(s *emulator.Service) (counted, random []string) {
		items := itemsOf(t, s)
		for i := range 3 {
			r := create(t, items, fmt.Sprint(i))
			counted = append(counted, fmt.Sprintf("%s %s %s", r.ETag, r.Value, *r.SessionToken))
			random = append(random, chance(t, items))
		}
		return counted, random
	}
	origin := seeded(7)
	counted, random := run(origin.Fork(emulator.ForkOptions{}))
	for _, c := range []struct {
		name      string
		service   *emulator.Service
		sameSeeds bool
	}{
		{"another fork", origin.Fork(emulator.ForkOptions{}), true},
		{"a fork of a fork", origin.Fork(emulator.ForkOptions{}).Fork(emulator.ForkOptions{}), true},
		{"another seed", seeded(8), false},
		{"no seed", seeded(0), false},
	} {
		otherCounted, otherRandom := run(c.service)
		if !slices.Equal(counted, otherCounted) {
			t.Errorf("%s: rids, etags and tokens were\n%q\n%q", c.name, counted, otherCounted)
		}
		for i := range random {
			if (random[i] == otherRandom[i]) != c.sameSeeds {
				t.Errorf("%s: %q and %q", c.name, random[i], otherRandom[i])
			}
		}
	}
	slices.Sort(random)
	if n := len(random); len(slices.Compact(random)) != n {
		t.Errorf("chance repeats: %q", random)
	}
}

func BenchmarkServiceFork(b *testing.B) {
	service := newService(b, emulator.Options{Partitions: 4})
	items, err := newContainer(b.Context(), service)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		create(b, items, fmt.Sprint(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		service.Fork(emulator.ForkOptions{})
	}
}
