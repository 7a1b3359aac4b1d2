package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// The tests of this file run on a bubble's clock with the default intervals.
const leaseDuration, balanceInterval = 30 * time.Second, 5 * time.Second

// instance is a processor whose network can be cut.
type instance struct {
	*changefeed.Processor
	cut  func()
	done chan error
}

// join starts an instance with the default intervals.
func (b *testBundle) join(name, as string, h changefeed.Handler) *instance {
	b.t.Helper()
	var mu sync.Mutex
	var dead bool
	items, leases := b.through(b.emu.Endpoint(), transport(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return nil, errors.New("the network is cut")
		}
		return b.emu.Transport().Do(r)
	}))
	i := &instance{done: make(chan error, 1), cut: func() {
		mu.Lock()
		defer mu.Unlock()
		dead = true
	}}
	i.Processor = b.processor(changefeed.Config{Container: items, Leases: leases, Name: name, Instance: as}, h)
	ctx, cancel := context.WithCancel(b.t.Context())
	go func() { i.done <- i.Run(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-i.done; err != nil {
			b.t.Error(err)
		}
	})
	return i
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) Do(r *http.Request) (*http.Response, error) { return t(r) }

func (b *testBundle) owners() map[string]int {
	out := map[string]int{}
	for _, doc := range b.leaseDocuments() {
		owner, _ := doc["Owner"].(string)
		out[owner]++
	}
	return out
}

// even reports whether these instances, and nobody else, own all eight ranges
// in shares that differ by one at most.
func even(owners map[string]int, instances ...string) bool {
	total := 0
	for _, i := range instances {
		if n := owners[i]; n < 8/len(instances) || n > (8+len(instances)-1)/len(instances) {
			return false
		}
		total += owners[i]
	}
	return total == 8
}

// Eight ranges come to three instances as two or three each within a few
// balance intervals, however they begin; so they do when one of them dies, as
// soon as its leases have expired.
func TestSharesAreEvenSoon(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"one after the other": false, "all at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.WithPartitions(8), emulatortest.Calm()) // it measures how soon
				within := func(d time.Duration, what string, instances ...string) {
					t.Helper()
					began := time.Now()
					for !even(b.owners(), instances...) {
						if time.Since(began) > d {
							t.Fatalf("%s: after %s the owners are %v", what, d, b.owners())
						}
						<-time.After(100 * time.Millisecond)
					}
					t.Logf("%s: %s, %v", what, time.Since(began).Round(100*time.Millisecond), b.owners())
				}
				one := b.join("fair", "one", new(seen).handle)
				if !together {
					within(balanceInterval, "one", "one")
				}
				b.join("fair", "two", new(seen).handle)
				b.join("fair", "three", new(seen).handle)
				within(10*balanceInterval, "three", "one", "two", "three")
				<-time.After(time.Minute)
				before := b.leaseDocuments()
				<-time.After(time.Minute)
				for i, doc := range b.leaseDocuments() {
					if doc["Owner"] != before[i]["Owner"] {
						t.Errorf("a lease moved without need from %v to %v", before[i]["Owner"], doc["Owner"])
					}
				}
				one.cut()
				within(leaseDuration+6*balanceInterval, "two are left", "two", "three")
				b.join("fair", "four", new(seen).handle)
				within(10*balanceInterval, "a new one", "two", "three", "four")
			})
		})
	}
}

// A handler may take as long as it likes: its range stays where it is, and its
// batch comes to nobody else.
func TestSlowHandlerKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, emulatortest.WithPartitions(2))
		b.put("t", "d", 1)
		var mu sync.Mutex
		var calls []string
		slow := func(instance string) changefeed.Handler {
			return func(ctx context.Context, changes []changefeed.Change) error {
				mu.Lock()
				calls = append(calls, fmt.Sprint(instance, changes[0].Epoch))
				mu.Unlock()
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(10 * leaseDuration):
					return nil
				}
			}
		}
		one := b.join("slow", "one", slow("one"))
		<-time.After(time.Second)
		b.join("slow", "two", slow("two"))
		<-time.After(11 * leaseDuration)
		if err := one.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(calls) != 1 || calls[0] != "one1" {
			t.Errorf("the change was handled by %v", calls)
		}
	})
}

// Whether an owner lives is told by its renewals, as the observer's clock
// counts them. What the owner's own clock says is of no account.
func TestClocksOfHostsMayDiffer(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"an hour behind": -time.Hour, "right": 0, "an hour ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.Calm()) // it writes leases itself
				b.put("t", "d", 1)
				var s seen
				cfg := changefeed.Config{Container: b.items, Leases: b.leases, Name: "skew"}
				if _, err := b.processor(cfg, s.handle).Lag(t.Context()); err != nil { // makes the lease
					t.Fatal(err)
				}
				// The host with the other clock is this test.
				renew := func() {
					doc := b.leaseDocuments()[0]
					doc["Owner"], doc["timestamp"] = "elsewhere", time.Now().Add(skew)
					b.storeLease(doc)
				}
				renew()
				b.join("skew", "here", s.handle)
				for range 20 {
					<-time.After(leaseDuration / 3)
					renew()
				}
				if s.count() != 0 || b.owners()["elsewhere"] != 1 {
					t.Fatalf("a living owner's range was taken: %v", b.owners())
				}
				// Others that ask for the range are no sign of its owner's life.
				died := time.Now()
				for range 4 {
					<-time.After(leaseDuration / 5)
					doc := b.leaseDocuments()[0]
					doc["properties"].(map[string]any)["handoverTo"] = fmt.Sprint("another", time.Since(died))
					b.storeLease(doc)
				}
				for b.owners()["here"] != 1 {
					<-time.After(100 * time.Millisecond)
					if time.Since(died) > leaseDuration+2*balanceInterval {
						t.Fatalf("a dead owner's range was not taken in %s", time.Since(died))
					}
				}
			})
		})
	}
}

func (b *testBundle) storeLease(doc map[string]any) {
	b.t.Helper()
	etag := azcore.ETag(doc["_etag"].(string))
	id, _ := doc["id"].(string)
	b.write(func(ctx context.Context) error {
		_, err := b.leases.ReplaceItem(ctx, azcosmos.NewPartitionKeyString(id), id, encode(b.t, doc), &azcosmos.ItemOptions{IfMatchEtag: &etag})
		return err
	})
}

// While another instance is at work for a long time, waiting for it costs ever
// less, down to a look at its leases in a balance interval.
func TestCatchUpWaitsCheaplyForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, emulatortest.Calm()) // its requests are counted
		b.put("t", "d", 1)
		working := make(chan struct{})
		b.join("wait", "busy", func(context.Context, []changefeed.Change) error {
			close(working)
			<-time.After(10 * time.Minute)
			return nil
		})
		<-working
		mark := b.emu.Requests().Mark()
		cfg := changefeed.Config{Container: b.items, Leases: b.leases, Name: "wait", PollInterval: time.Millisecond}
		if err := b.processor(cfg, new(seen).handle).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		counts := map[emulator.Operation]int{}
		for _, r := range b.emu.Requests().Since(mark) {
			counts[r.Operation]++
		}
		t.Logf("%v", counts)
		// Two instances balance and one looks, every five seconds.
		if n := counts[emulator.QueryItems]; n > 3*10*12+60 {
			t.Errorf("the leases were listed %d times in ten minutes", n)
		}
	})
}
