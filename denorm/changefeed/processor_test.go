package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestCatchUpHandlesEverythingOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(3), emulatortest.Calm()) // it reads leases, of which a replica may show what was before
	b.fill(250)
	var s seen
	p := b.processor(b.config("once"), s.handle)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.count() != 250 {
		t.Fatalf("%d documents seen", s.count())
	}
	calls := s.calls
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.calls != calls {
		t.Fatalf("changes came again: %d calls after %d", s.calls, calls)
	}
	b.put("t1", "d1", 2)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.last["t1/d1"] != 2 || s.calls != calls+1 {
		t.Fatalf("the new change: n = %d, %d calls", s.last["t1/d1"], s.calls-calls)
	}
	for _, doc := range b.leaseDocuments() {
		if doc["Owner"] != nil {
			t.Errorf("a lease was not handed back: %v", doc["Owner"])
		}
	}
}

func TestLeasesHaveTheShapeOfOtherProcessors(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	p := b.processor(b.config("shape"), new(seen).handle)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	docs := b.leaseDocuments()
	if len(docs) != 2 {
		t.Fatalf("%d leases", len(docs))
	}
	for _, doc := range docs {
		keys, _ := doc["FeedRange"].(map[string]any)["Range"].(map[string]any)
		low, _ := keys["min"].(string)
		high, _ := keys["max"].(string)
		token, _ := doc["ContinuationToken"].(string)
		if !strings.HasPrefix(doc["id"].(string), "shape") || doc["version"] != 1.0 || doc["LeaseToken"] != low+"-"+high ||
			!strings.HasPrefix(token, `"`) || doc["timestamp"] == "" || doc["properties"] == nil {
			t.Errorf("lease: %v", doc)
		}
	}
}

func TestPoisonIsQuarantinedAndReplayed(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // it looks for what was just deleted, which a replica may still show
	b.fill(20)
	var s seen
	heal := false
	cfg := b.config("poison")
	cfg.MaxAttempts = 3
	attempts := 0
	p := b.processor(cfg, func(ctx context.Context, changes []changefeed.Change) error {
		for _, c := range changes {
			if c.ID == "d7" && !heal {
				if len(changes) == 1 {
					attempts++
				}
				return errors.New("no sevens")
			}
		}
		return s.handle(ctx, changes)
	})
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.count() != 19 || attempts != 3 {
		t.Fatalf("%d documents handled, %d attempts with the poisonous one", s.count(), attempts)
	}
	var ids []string
	for q, err := range p.Quarantined(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, q.ID)
		if q.Reason != "no sevens" || q.Attempts != 3 || q.Processor != "poison" || len(q.Document) == 0 {
			t.Errorf("quarantined: %+v", q)
		}
	}
	if len(ids) != 1 {
		t.Fatalf("quarantine holds %v", ids)
	}
	if n, err := p.Replay(t.Context()); n != 0 || err == nil {
		t.Fatalf("replaying what still fails: %d, %v", n, err)
	}
	heal = true
	if n, err := p.Replay(t.Context()); n != 1 || err != nil {
		t.Fatalf("replaying: %d, %v", n, err)
	}
	if n, err := p.Replay(t.Context()); n != 0 || err != nil || s.count() != 20 {
		t.Fatalf("after replaying: %d, %v, %d documents", n, err, s.count())
	}
}

func TestNothingIsCheckpointedBeforeTheHandlerSucceeds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(5)
	ctx, cancel := context.WithCancel(t.Context())
	p := b.processor(b.config("crash"), func(context.Context, []changefeed.Change) error {
		cancel() // the process goes down while the handler works
		return errors.New("interrupted")
	})
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := b.processor(b.config("crash"), s.handle).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.count() != 5 {
		t.Fatalf("%d of 5 changes came again", s.count())
	}
}

func TestSplitsAndMergesLoseNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	var s seen
	p := b.processor(b.config("split"), s.handle)
	b.fill(60)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for round := 2; round < 6; round++ {
		ranges := b.emu.Ranges(database, monitored)
		if round == 4 {
			b.emu.Merge(database, monitored, ranges[0].ID, ranges[1].ID)
		} else {
			b.emu.Split(database, monitored, ranges[round%len(ranges)].ID)
		}
		for i := range 60 {
			b.put(fmt.Sprint("t", i%7), fmt.Sprint("d", i), round)
		}
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for key, n := range s.last {
			if n != round {
				t.Fatalf("round %d: %s was seen at %d", round, key, n)
			}
		}
		if s.count() != 60 {
			t.Fatalf("round %d: %d documents", round, s.count())
		}
	}
}

func TestInstancesShareAndTakeOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, instancesShareAndTakeOver)
}

func instancesShareAndTakeOver(t *testing.T) {
	b := setup(t, emulatortest.WithPartitions(6))
	b.fill(30)
	var s seen
	start := func(name string) *changefeed.Processor {
		cfg := b.hasty("team")
		cfg.Instance = name
		p := b.processor(cfg, s.handle)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		return p
	}
	owners := func() map[any]int {
		out := map[any]int{}
		for _, doc := range b.leaseDocuments() {
			out[doc["Owner"]]++
		}
		return out
	}
	one := start("one")
	b.eventually(func() bool { return owners()["one"] == 6 }, "one owns all")
	start("two")
	start("three")
	b.eventually(func() bool { o := owners(); return o["one"] == 2 && o["two"] == 2 && o["three"] == 2 }, "an even share")
	if err := one.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if owners()["one"] != 0 {
		t.Fatalf("a stopped instance kept leases: %v", owners())
	}
	b.eventually(func() bool { o := owners(); return o["two"] == 3 && o["three"] == 3 }, "the others share what one had")
	if err := one.CatchUp(t.Context()); !errors.Is(err, changefeed.ErrStopped) {
		t.Fatalf("CatchUp after Stop: %v", err)
	}
}

func TestLag(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	p := b.processor(b.config("lag"), new(seen).handle)
	total := func() (n int64) {
		lags, err := p.Lag(t.Context())
		if err != nil || len(lags) != 2 {
			t.Fatalf("lag: %v, %v", lags, err)
		}
		for _, l := range lags {
			n += l.Changes
		}
		return n
	}
	b.fill(40)
	if n := total(); n < 40 {
		t.Fatalf("before: %d", n)
	}
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := total(); n != 0 {
		t.Fatalf("after: %d", n)
	}
}

func TestBadConfigIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sent := b.emu.Requests().Mark()
	for name, change := range map[string]func(*changefeed.Config){
		"no container":         func(c *changefeed.Config) { c.Container = nil },
		"no leases":            func(c *changefeed.Config) { c.Leases = nil },
		"leases in themselves": func(c *changefeed.Config) { c.Leases = c.Container },
		"no name":              func(c *changefeed.Config) { c.Name = "" },
		"a name with a slash":  func(c *changefeed.Config) { c.Name = "a/b" },
		"too many items":       func(c *changefeed.Config) { c.MaxItems = 1001 },
		"a tiny lease":         func(c *changefeed.Config) { c.LeaseDuration = time.Millisecond },
		"a negative lease":     func(c *changefeed.Config) { c.LeaseDuration = -time.Second },
		"a lease of two days":  func(c *changefeed.Config) { c.LeaseDuration = 48 * time.Hour },
		"negative items":       func(c *changefeed.Config) { c.MaxItems = -1 },
		"a negative poll":      func(c *changefeed.Config) { c.PollInterval = -1 },
		"a poll of two days":   func(c *changefeed.Config) { c.PollInterval = 48 * time.Hour },
		"a negative long poll": func(c *changefeed.Config) { c.MaxPollInterval = -1 },
		"a long poll of days":  func(c *changefeed.Config) { c.MaxPollInterval = 48 * time.Hour },
		"a short long poll":    func(c *changefeed.Config) { c.PollInterval, c.MaxPollInterval = time.Minute, time.Second },
		"a negative balance":   func(c *changefeed.Config) { c.BalanceInterval = -1 },
		"a balance of days":    func(c *changefeed.Config) { c.BalanceInterval = 48 * time.Hour },
		"negative attempts":    func(c *changefeed.Config) { c.MaxAttempts = -1 },
		"a negative backoff":   func(c *changefeed.Config) { c.Backoff = -1 },
		"a backoff of an hour": func(c *changefeed.Config) { c.Backoff = time.Hour }, // it doubled to a negative one
		"an endpoint of words": func(c *changefeed.Config) { c.Endpoint = "the account" },
		"an instance's slash":  func(c *changefeed.Config) { c.Instance = "a/b" },
	} {
		cfg := b.config("bad")
		change(&cfg)
		if _, err := changefeed.New(cfg, new(seen).handle); !errors.Is(err, tenantitem.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := changefeed.New(b.config("bad"), nil); !errors.Is(err, tenantitem.ErrInvalid) {
		t.Errorf("no handler: %v", err)
	}
	if b.emu.Requests().Mark() != sent {
		t.Error("a request was sent")
	}
	cfg := b.config("wrong-key")
	cfg.Leases, cfg.Container = b.items, b.leases
	if err := b.processor(cfg, new(seen).handle).CatchUp(t.Context()); !errors.Is(err, tenantitem.ErrInvalid) {
		t.Errorf("a lease container with another key: %v", err)
	}
}

// eventually waits for what other goroutines bring about.
func (b *testBundle) eventually(ok func() bool, what string) {
	b.t.Helper()
	deadline := time.After(2 * time.Minute) // of a machine that does much else
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			b.t.Fatalf("it never came to this: %s", what)
		case <-tick.C:
		}
	}
}
