package changefeed_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// formerLeases puts leases of the former form in the place of a processor's:
// what an earlier version has left.
func (b *testBundle) formerLeases(name string) {
	b.t.Helper()
	container, err := b.items.Read(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	base := name + "." + strings.NewReplacer("/", "-", "=", "").Replace(container.ContainerProperties.ResourceID)
	for _, doc := range b.leaseDocuments() {
		id, _ := doc["id"].(string)
		b.drop(id)
		token, _ := doc["LeaseToken"].(string)
		keys := doc["FeedRange"].(map[string]any)["Range"].(map[string]any)
		former := map[string]any{
			"id": base + ".." + token, "version": 1, "LeaseToken": token, "Owner": nil, "ContinuationToken": doc["ContinuationToken"],
			"FeedRange": map[string]any{"Range": map[string]any{"min": keys["min"], "max": keys["max"]}},
			"timestamp": doc["timestamp"], "properties": map[string]any{"epoch": "7"},
		}
		b.write(func(ctx context.Context) error {
			_, err := b.leases.CreateItem(ctx, azcosmos.NewPartitionKeyString(former["id"].(string)), encode(b.t, former), nil)
			return err
		})
	}
	b.drop(base + ".start")
}

func (b *testBundle) drop(id string) {
	b.t.Helper()
	b.write(func(ctx context.Context) error {
		_, err := b.leases.DeleteItem(ctx, azcosmos.NewPartitionKeyString(id), id, nil)
		return err
	})
}

// handledBefore processes some documents, and then writes half of them again.
func (b *testBundle) handledBefore(name string) {
	b.t.Helper()
	b.fill(40)
	if err := b.processor(b.config(name), new(seen).handle).CatchUp(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.formerLeases(name)
	for i := range 20 {
		b.put(fmt.Sprint("t", i%7), fmt.Sprint("d", i), 2)
	}
}

// checkRenamed looks at the leases that are left: one for every key, in n ranges
// or what the service has split them into.
func (b *testBundle) checkRenamed(n int) {
	b.t.Helper()
	docs := b.leaseDocuments()
	if len(docs) < n {
		b.t.Errorf("%d leases are left", len(docs))
	}
	bound := func(doc map[string]any, name string) string {
		return doc["FeedRange"].(map[string]any)["Range"].(map[string]any)[name].(string)
	}
	slices.SortFunc(docs, func(x, y map[string]any) int { return strings.Compare(bound(x, "min"), bound(y, "min")) })
	reached := ""
	for _, doc := range docs {
		if low := bound(doc, "min"); low != reached {
			b.t.Errorf("a lease begins at %q, the one before it ends at %q", low, reached)
		}
		reached = bound(doc, "max")
	}
	if reached != "FF" {
		b.t.Errorf("the leases end at %q", reached)
	}
	for _, doc := range docs {
		epoch, err := strconv.Atoi(doc["properties"].(map[string]any)["epoch"].(string))
		if !strings.Contains(doc["id"].(string), ".emulator.localhost_") || err != nil || epoch <= 7 {
			b.t.Errorf("lease %v in epoch %d", doc["id"], epoch)
		}
	}
}

// An instance that is killed at any request of the renaming, before or after
// the request took effect, loses no position: the next one handles what was
// not handled, and nothing else.
func TestRenamingLeasesIsKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := 0
	for _, applied := range []bool{false, true} {
		for at, more := 1, true; more && !t.Failed(); at++ {
			synctest.Test(t, func(t *testing.T) { more = killedWhileRenaming(t, at, applied) })
			if more {
				kills++
			}
		}
	}
	t.Logf("%d kills", kills)
	if kills < 20 {
		t.Errorf("only %d kills", kills)
	}
}

// killedWhileRenaming kills an instance at its n-th write of the lease
// container, and reports whether it had so many.
func killedWhileRenaming(t *testing.T, n int, applied bool) bool {
	b := setup(t, emulatortest.WithPartitions(3), emulatortest.Calm()) // it counts writes, and undoes some itself
	b.handledBefore("former")
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	writes := 0
	var mu sync.Mutex
	cfg := b.hasty("former")
	cfg.Instance = "killed"
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
			return b.emu.Transport().Do(r)
		}
		if applied {
			if resp, err := b.emu.Transport().Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}
		kill()
		return nil, context.Canceled
	}))
	var first, second seen
	if err := b.processor(cfg, first.handle).CatchUp(ctx); err == nil {
		return false
	}
	cfg = b.hasty("former")
	cfg.Instance = "next"
	p := b.processor(cfg, second.handle)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.eventually(func() bool { owners := b.owners(); return owners["next"] == 3 }, "it has taken everything over")
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.checkRenamed(3)
	for i := range 40 {
		key := fmt.Sprintf("t%d/d%d", i%7, i)
		switch handled := max(first.last[key], second.last[key]); {
		case i < 20 && handled != 2:
			t.Errorf("killed at write %d: %s was passed over", n, key)
		case i >= 20 && handled != 0:
			t.Errorf("killed at write %d: %s came again", n, key)
		}
	}
	return true
}

// Any number of instances may start at once.
func TestManyInstancesRenameLeases(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(8))
	b.handledBefore("former")
	var s seen
	var group sync.WaitGroup
	for i := range 5 {
		group.Go(func() {
			cfg := b.config("former")
			cfg.Instance = fmt.Sprint("instance", i)
			p, err := changefeed.New(cfg, s.handle)
			if err == nil {
				err = p.CatchUp(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	b.checkRenamed(8)
	for key, n := range s.last {
		if n != 2 {
			t.Errorf("%s came again", key)
		}
	}
	if len(s.last) != 20 {
		t.Errorf("%d of 20 changes were handled", len(s.last))
	}
}

// A living instance of a former version keeps its lease until it hands it over.
func TestLeasesOfALivingFormerInstanceAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, livingFormerInstance)
}

func livingFormerInstance(t *testing.T) {
	b := setup(t, emulatortest.Calm()) // it writes leases itself
	b.handledBefore("former")
	renew := func() {
		doc := b.leaseDocuments()[0]
		properties := doc["properties"].(map[string]any)
		if to := properties["handoverTo"]; to != nil {
			delete(properties, "handoverTo")
		}
		doc["Owner"], properties["n"] = "former", fmt.Sprint(properties["n"], "x")
		b.storeLease(doc)
	}
	renew()
	var s seen
	cfg := b.hasty("former")
	p := b.processor(cfg, s.handle)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		renew()
		<-time.After(cfg.LeaseDuration / 10)
	}
	if s.count() != 0 || len(b.leaseDocuments()) != 1 {
		t.Fatalf("%d changes were handled while the owner lived", s.count())
	}
	doc := b.leaseDocuments()[0]
	doc["Owner"] = nil // it stops
	b.storeLease(doc)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.checkRenamed(1)
	if s.count() != 20 {
		t.Errorf("%d of 20 changes were handled", s.count())
	}
}
