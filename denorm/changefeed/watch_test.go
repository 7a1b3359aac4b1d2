package changefeed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/tenantitem"
)

// writeMany writes versions of documents, a hundred to a batch.
func (b *testBundle) writeMany(first, n, documents int, last map[string]int) {
	b.t.Helper()
	for at := first; at < first+n; at += 100 {
		tenant := fmt.Sprint("t", at/100%50)
		batch := b.items.NewTransactionalBatch(azcosmos.NewPartitionKeyString(tenant).AppendString("k"))
		for i := at; i < at+100; i++ {
			id := fmt.Sprint("d", i%documents)
			batch.UpsertItem(fmt.Appendf(nil, `{"id":%q,"tenant":%q,"kind":"k","n":%d}`, id, tenant, i+1), nil)
			last[tenant+"/"+id] = i + 1
		}
		for {
			resp, err := b.items.ExecuteTransactionalBatch(b.t.Context(), batch, nil)
			if isRetryWith(err) {
				continue
			}
			if err != nil || !resp.Success {
				b.t.Fatal(err)
			}
			break
		}
	}
}

// held counts what a watch has read and not yet given to its loop.
type held struct {
	mu               sync.Mutex
	now, most        int
	bytes, mostBytes int
	requests         int
}

func (h *held) through(b *testBundle) *azcosmos.ContainerClient {
	items, _ := b.through(b.emu.Endpoint(), transport(func(r *http.Request) (*http.Response, error) {
		resp, err := b.emu.Transport().Do(r)
		if err != nil || r.Header.Get("A-IM") == "" || !strings.HasSuffix(r.URL.Path, "/docs") {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		h.mu.Lock()
		defer h.mu.Unlock()
		h.requests++
		h.now += bytes.Count(body, []byte(`"_lsn":`))
		h.bytes += len(body)
		h.most, h.mostBytes = max(h.most, h.now), max(h.mostBytes, h.bytes)
		return resp, nil
	}))
	return items
}

func (h *held) given(size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now--
	h.bytes -= size
}

// A watch of 100,000 changes over four ranges that split, whose loop stops for
// a minute, sees the last version of every document, each document's versions
// in their order, and holds four pages at most.
func TestWatchSeesEverythingInBoundedMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const changes, documents = 100_000, 80_000
		b := setup(t, emulatortest.WithPartitions(4))
		var h held
		items := h.through(b)
		last, got := map[string]int{}, map[string]int{}
		b.writeMany(0, changes/2, documents, last)
		ctx, end := context.WithCancel(t.Context())
		seen, stopped := 0, false
		timeout := time.AfterFunc(time.Hour, end)
		for c, err := range changefeed.Watch(ctx, items, changefeed.WatchOptions{StartFrom: changefeed.Beginning()}) {
			if err != nil {
				t.Fatal(err)
			}
			h.given(len(c.Document))
			var i item
			if err := c.Decode(&i); err != nil {
				t.Fatal(err)
			}
			key := i.Tenant + "/" + i.ID
			if i.N <= got[key] {
				t.Fatalf("%s came as %d after %d", key, i.N, got[key])
			}
			got[key] = i.N
			if seen++; seen == 10_000 && !stopped {
				stopped = true
				// Meanwhile everything else is written, and ranges split.
				before := h.requests
				for round := range 5 {
					b.writeMany(changes/2+round*changes/10, changes/10, documents, last)
					ranges := b.emu.Ranges(database, monitored)
					b.emu.Split(database, monitored, ranges[round%len(ranges)].ID)
					<-time.After(12 * time.Second)
				}
				if h.requests != before {
					t.Errorf("%d reads while the loop stood still", h.requests-before)
				}
			}
			if seen > 10_000 && done(got, last) {
				break
			}
		}
		timeout.Stop()
		end()
		if !done(got, last) {
			t.Errorf("after %d changes the last versions were not all seen", seen)
		}
		t.Logf("%d writes, %d changes seen, %d reads; at most %d changes and %d KB were held", changes, seen, h.requests, h.most, h.mostBytes/1024)
		if most := changefeed.WatchedAtOnce * 200; h.most > most { // a batch stays on one page
			t.Errorf("%d changes were held", h.most)
		}
	})
}

func done(got, last map[string]int) bool {
	if len(got) != len(last) {
		return false
	}
	for key, n := range last {
		if got[key] != n {
			return false
		}
	}
	return true
}

// Every watch sees every change from its start on, without leases; the
// position behind a change goes on there, over splits and merges.
func TestWatchGoesOnFromAPosition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, emulatortest.WithPartitions(3))
		b.fill(50)
		collect := func(opts changefeed.WatchOptions, during func(), n int) (got map[string]int, position string) {
			t.Helper()
			got = map[string]int{}
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			defer end()
			if during != nil {
				time.AfterFunc(10*time.Second, during)
			}
			for c, err := range changefeed.Watch(ctx, b.items, opts) {
				if err != nil {
					t.Fatal(err)
				}
				var i item
				if err := c.Decode(&i); err != nil {
					t.Fatal(err)
				}
				got[i.Tenant+"/"+i.ID] = i.N
				position = c.Position()
				if len(got) == n {
					break
				}
			}
			return got, position
		}
		write := func() {
			for i := range 7 {
				b.put(fmt.Sprint("t", i), "new", 2)
			}
		}
		for range 2 { // each sees all
			if got, _ := collect(changefeed.WatchOptions{}, write, 0); len(got) != 7 {
				t.Errorf("from now: %v", got)
			}
		}
		got, position := collect(changefeed.WatchOptions{StartFrom: changefeed.Beginning()}, nil, 20)
		r := b.emu.Ranges(database, monitored)
		b.emu.Split(database, monitored, r[0].ID)
		b.emu.Merge(database, monitored, r[1].ID, r[2].ID)
		write()
		rest, _ := collect(changefeed.WatchOptions{Position: position}, nil, 0)
		for key := range got {
			rest[key] += 0
		}
		if len(rest) != 57 || len(got) != 20 {
			t.Errorf("%d documents, %d of them before the position", len(rest), len(got))
		}
		since := time.Now()
		<-time.After(time.Minute)
		b.put("t1", "late", 1)
		if got, _ := collect(changefeed.WatchOptions{StartFrom: changefeed.At(since)}, nil, 0); len(got) != 1 {
			t.Errorf("from a time: %v", got)
		}
	})
}

// An outage is waited out and told of; what does not pass ends the watch with
// one error, and the end of the context with none.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	watch := func(b *testBundle, opts changefeed.WatchOptions) (changes int, errs []error) {
		ctx, end := context.WithTimeout(b.t.Context(), 5*time.Minute)
		defer end()
		for c, err := range changefeed.Watch(ctx, b.items, opts) {
			if err != nil {
				errs = append(errs, err)
			} else if c.ID != "" {
				changes++
			}
		}
		return changes, errs
	}
	for name, fault := range outageKinds() {
		t.Run("after an outage, "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.fill(5)
				armed := b.emu.Fault(fault.Container(monitored).Keep())
				time.AfterFunc(2*time.Minute, armed.Disarm)
				var log logged
				changes, errs := watch(b, changefeed.WatchOptions{StartFrom: changefeed.Beginning(), Logger: logger(&log)})
				if changes != 5 || len(errs) != 0 {
					t.Errorf("%d changes, %v", changes, errs)
				}
				slow := name == "no answer in time" // which is one in the end
				if !slow && strings.Count(log.String(), "stands still") != 1 || !slow && strings.Count(log.String(), "goes on") != 1 {
					t.Errorf("log:\n%s", log.String())
				}
			})
		})
	}
	t.Run("when the request is refused", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.emu.Fault(emulator.Answer(400, 0).On(emulator.ChangeFeed).Keep())
			if changes, errs := watch(b, changefeed.WatchOptions{}); changes != 0 || len(errs) != 1 || strings.Contains(errs[0].Error(), "://") {
				t.Errorf("%d changes, %v", changes, errs)
			}
		})
	})
	t.Run("with bad options", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.write(func(ctx context.Context) error {
				_, err := b.leases.CreateItem(ctx, azcosmos.NewPartitionKeyString("x"), []byte(`{"id":"x"}`), nil)
				return err
			})
			var foreign string
			for c, err := range changefeed.Watch(t.Context(), b.leases, changefeed.WatchOptions{StartFrom: changefeed.Beginning()}) {
				if err != nil {
					t.Fatal(err)
				}
				foreign = c.Position()
				break
			}
			for name, opts := range map[string]changefeed.WatchOptions{
				"items": {MaxItems: 1001}, "negative items": {MaxItems: -1}, "poll": {PollInterval: -1}, "long poll": {MaxPollInterval: -1},
				"days": {PollInterval: 48 * time.Hour}, "short long poll": {PollInterval: time.Minute, MaxPollInterval: time.Second}, "position": {Position: "x"}, "another container's": {Position: foreign},
			} {
				if _, errs := watch(b, opts); len(errs) != 1 || !errors.Is(errs[0], tenantitem.ErrInvalid) {
					t.Errorf("%s: %v", name, errs)
				}
			}
		})
	})
}

// A range that became many while nobody read it goes on as those.
func TestWatchGoesOnAfterManySplits(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // it splits by itself
	b.put("t0", "first", 1)
	next, stop := iter.Pull2(changefeed.Watch(t.Context(), b.items, changefeed.WatchOptions{StartFrom: changefeed.Beginning()}))
	defer stop()
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		for _, r := range b.emu.Ranges(database, monitored) {
			b.emu.Split(database, monitored, r.ID)
		}
	}
	b.put("t0", "second", 2)
	if c, err, _ := next(); err != nil || c.ID != "second" {
		t.Errorf("%s, %v", c.ID, err)
	}
}
