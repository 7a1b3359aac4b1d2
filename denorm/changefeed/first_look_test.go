package changefeed_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// Where a processor begins is decided by its first look, however often it is
// killed after that and before its first change: also when it is told to begin
// at a time that every start computes anew.
func TestKillsAfterTheFirstLookSkipNothing(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() changefeed.Start{
		"now":    changefeed.Now,
		"a time": func() changefeed.Start { return changefeed.At(time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for _, applied := range []bool{false, true} {
				for at, more := 1, true; more && !t.Failed(); at++ {
					synctest.Test(t, func(t *testing.T) { more = killedAfterFirstLook(t, start, at, applied) })
					if more {
						kills++
					}
				}
			}
			t.Logf("%d kills", kills)
			if kills < 12 {
				t.Errorf("only %d kills", kills)
			}
		})
	}
}

// killedAfterFirstLook kills an instance at its n-th write of the lease
// container, and reports whether it had so many.
func killedAfterFirstLook(t *testing.T, start func() changefeed.Start, n int, applied bool) bool {
	b := setup(t, emulatortest.WithPartitions(3))
	b.fill(20)
	<-time.After(time.Minute)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	writes, looked := 0, false
	var mu sync.Mutex
	cfg := changefeed.Config{Leases: b.leases, Name: "look", StartFrom: start()}
	cfg.Container, cfg.Leases = b.through(b.emu.Endpoint(), transport(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/colls/leases/docs") && !isQuery(r) {
			writes++
		}
		if writes < n {
			looked = looked || writes > 0
			return b.emu.Transport().Do(r)
		}
		if applied {
			looked = true
			if resp, err := b.emu.Transport().Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}
		kill()
		return nil, context.Canceled
	}))
	if err := b.processor(cfg, new(seen).handle).CatchUp(ctx); err == nil {
		return false
	}
	<-time.After(time.Minute)
	for i := range 7 {
		b.put(fmt.Sprint("t", i), "new", 2)
	}
	<-time.After(time.Minute)
	var s seen
	p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "look", StartFrom: start()}, s.handle)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Minute) // the leases of the killed one expire
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := 0
	for key, version := range s.last {
		if version == 1 {
			t.Errorf("killed at write %d: %s of before came", n, key)
		}
		late++
	}
	if looked && late != 7 {
		t.Errorf("killed at write %d: %d of 7 changes were seen", n, late)
	}
	return true
}
