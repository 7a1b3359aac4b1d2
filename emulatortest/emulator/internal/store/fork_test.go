package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// world is an account with its clock, under steps that may run in an account and in another that is to be its equal.
type world struct {
	account *store.Account
	clock   *clock
}

func newWorld() *world {
	c := newClock()
	return &world{account: store.New(store.Options{Now: c.Now, Partitions: 2, EnforceThroughput: true}), clock: c}
}

func (w *world) fork() *world {
	c := &clock{now: w.clock.Now()}
	return &world{account: w.account.Fork(c.Now), clock: c}
}

// step is something done to a world; its answer, refusals included, is text to compare.
type step struct {
	name string
	do   func(*world) string
}

func answer(parts ...any) string { return fmt.Sprintln(parts...) }

// onContainer finds one of a few containers by number; most steps are about the items in them.
func onContainer(n int, do func(*world, *store.Container) string) func(*world) string {
	return func(w *world) string {
		db, err := w.account.Database(fmt.Sprint("db", n%2))
		if err != nil {
			return err.Error()
		}
		c, err := db.Container(fmt.Sprint("c", n%3))
		if err != nil {
			return err.Error()
		}
		return do(w, c)
	}
}

func createDatabase(n int) step {
	return step{"create database", func(w *world) string {
		db, err := w.account.CreateDatabase(fmt.Appendf(nil, `{"id":"db%d"}`, n%2), store.Throughput{Manual: 400})
		if err != nil {
			return err.Error()
		}
		return string(db.Resource().Body)
	}}
}

func createContainer(n int) step {
	return step{"create container", func(w *world) string {
		db, err := w.account.Database(fmt.Sprint("db", n%2))
		if err != nil {
			return err.Error()
		}
		c, err := db.CreateContainer(fmt.Appendf(nil, `{"id":"c%d","partitionKey":{"paths":["/pk"]},"defaultTtl":-1,
			"changeFeedPolicy":{"retentionDuration":100}}`, n%3), store.Throughput{AutoscaleMax: 1000})
		if err != nil {
			return err.Error()
		}
		return string(c.Resource().Body)
	}}
}

func drawStep(t *rapid.T, i int) step {
	n := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3}).Draw(t, "container")
	pk := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pk")
	id := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id")
	body := fmt.Appendf(nil, `{"id":%q,"pk":%q,"n":%d,"ttl":%d}`, id, pk, i, rapid.IntRange(1, 100).Draw(t, "ttl"))
	other := fmt.Appendf(nil, `{"id":"other","pk":%q,"n":%d}`, pk, i)
	steps := []step{
		createDatabase(n),
		createContainer(n),
		{"delete container", onContainer(n, func(_ *world, c *store.Container) string {
			return answer(c.Delete(store.Precondition{}))
		})},
		{"upsert", onContainer(n, func(_ *world, c *store.Container) string {
			r, err := c.UpsertItem(at(pk), body)
			return answer(r, err)
		})},
		{"delete", onContainer(n, func(_ *world, c *store.Container) string {
			r, err := c.DeleteItem(at(pk), id)
			return answer(r, err)
		})},
		{"batch", onContainer(n, func(_ *world, c *store.Container) string {
			r, err := c.Batch(at(pk), []store.Operation{{Kind: store.OpUpsert, Body: body}, {Kind: store.OpUpsert, Body: other}})
			return answer(r.Status, r.SessionToken, len(r.Results), err)
		})},
		{"split", onContainer(n, func(_ *world, c *store.Container) string {
			ranges, _ := c.Ranges()
			split, err := c.Split(ranges[0].ID)
			return answer(len(split), err)
		})},
		{"merge", onContainer(n, func(_ *world, c *store.Container) string {
			ranges, _ := c.Ranges()
			merged, err := c.Merge(ranges[0].ID, ranges[len(ranges)-1].ID)
			return answer(string(merged.Body), err)
		})},
		{"lag", func(w *world) string {
			w.account.SetReplicaLag(time.Duration(i%3-1) * time.Second)
			return ""
		}},
		{"limit", onContainer(n, func(_ *world, c *store.Container) string {
			c.LimitThroughput(float64(i % 20))
			return ""
		})},
		{"spend", onContainer(n, func(_ *world, c *store.Container) string {
			refusal := c.Admit()
			c.Spend(5)
			return answer(refusal)
		})},
		{"advance", func(w *world) string {
			w.clock.Advance(time.Duration(i%5) * 300 * time.Millisecond)
			return ""
		}},
		{"policy", onContainer(n, func(_ *world, c *store.Container) string {
			r, err := c.Replace(fmt.Appendf(nil, `{"id":"c%d","partitionKey":{"paths":["/pk"]},"defaultTtl":%d,
				"changeFeedPolicy":{"retentionDuration":100}}`, n%3, 1+i), store.Precondition{})
			return answer(string(r.Body), err)
		})},
	}
	// Most steps should find a container and change items.
	return steps[rapid.SampledFrom([]int{0, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 8, 9, 10, 11, 11, 12}).Draw(t, "step")]
}

// describe is everything that can be seen of a world.
func (w *world) describe(t testing.TB) string {
	var b strings.Builder
	for _, o := range w.account.Offers() {
		fmt.Fprintf(&b, "%s\n", o.Body)
	}
	for _, d := range w.account.Databases() {
		db := must(w.account.Database(d.ID))(t)
		fmt.Fprintf(&b, "%s\n", d.Body)
		for _, r := range db.Containers() {
			c := must(db.Container(r.ID))(t)
			ranges, etag := c.Ranges()
			fmt.Fprintf(&b, "%s\n%s %+v\n%v\n", r.Body, etag, c.Usage(), c.Admit())
			for _, r := range ranges {
				fmt.Fprintf(&b, "%s\n", r.Body)
				snapshot := must(c.Snapshot(store.Scope{RangeID: r.ID}, ""))(t)
				for d := range snapshot.Items("") {
					fmt.Fprintf(&b, "%s\n", d.Raw)
				}
				for _, start := range []store.FeedStart{{}, {AfterLSN: 1}} {
					read := c.LatestVersions
					if start.AfterLSN > 0 {
						read = c.AllVersions
					}
					page := must(read(store.FeedRequest{Scope: store.Scope{RangeID: r.ID}, Start: start, MaxItems: 1000}))(t)
					fmt.Fprintf(&b, "%s %s %q\n", page.ETag, page.SessionToken, page.Documents)
				}
			}
		}
	}
	return b.String()
}

// TestForkIsItsOriginBuiltAgain compares a fork and its origin, each with steps of its own after they parted, with accounts
// that were built from nothing by the same steps: what the other did leaves no trace, and every number goes on as it would.
func TestForkIsItsOriginBuiltAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := 0
		draw := func(label string) []step {
			steps := make([]step, rapid.IntRange(0, 25).Draw(rt, label))
			for i := range steps {
				n++
				steps[i] = drawStep(rt, n)
			}
			return steps
		}
		run := func(w *world, steps []step) (answers []string) {
			for _, s := range steps {
				answers = append(answers, s.name+": "+s.do(w))
			}
			return answers
		}
		common := append([]step{createDatabase(0), createContainer(0)}, draw("common")...)
		origin := newWorld()
		run(origin, common)
		worlds := []*world{origin, origin.fork()}
		worlds = append(worlds, worlds[1].fork())
		steps := make([][]step, len(worlds))
		answers := make([][]string, len(worlds))
		for range 2 { // in turns, so that each goes on after the others changed
			for i, w := range worlds {
				more := draw("own")
				answers[i] = append(answers[i], run(w, more)...)
				steps[i] = append(steps[i], more...)
			}
		}
		for i, w := range worlds {
			again := newWorld()
			run(again, common)
			want := run(again, steps[i])
			for j := range want {
				if answers[i][j] != want[j] {
					rt.Fatalf("world %d, step %d gave\n%s\nand built again\n%s", i, j, answers[i][j], want[j])
				}
			}
			if got, want := w.describe(t), again.describe(t); got != want {
				rt.Fatalf("world %d holds\n%s\nand built again\n%s", i, got, want)
			}
		}
	})
}

// TestForkWhileWritesArrive forks between a write and the moment at which a lagging replica shows it.
func TestForkWhileWritesArrive(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	b.account.SetReplicaLag(time.Second)
	for i := range 3 { // so that the list of what arrives has room for more
		must(b.c.CreateItem(at("a"), doc(fmt.Sprint(i), "a", i)))(t)
	}
	clock := &clock{now: b.clock.Now()}
	forked := must(must(b.account.Fork(clock.Now).Database("db"))(t).Container("c"))(t)
	must(b.c.CreateItem(at("a"), doc("origin's", "a", 3)))(t)
	must(forked.CreateItem(at("a"), doc("fork's", "a", 3)))(t)
	if got := ids(t, forked, store.Scope{}); len(got) != 0 {
		t.Errorf("the fork's replica shows %v at once", got)
	}
	b.clock.Advance(time.Second)
	clock.Advance(time.Second)
	for name, c := range map[string]*store.Container{"origin's": b.c, "fork's": forked} {
		if got, want := ids(t, c, store.Scope{}), []string{"0", "1", "2", name}; !slices.Equal(got, want) {
			t.Errorf("a second later the replica shows %v, want %v", got, want)
		}
	}
	behind := store.Scope{Behind: 1}
	for i := range 10 { // more than a partition remembers
		must(forked.CreateItem(at("a"), doc(fmt.Sprint("more", i), "a", i)))(t)
	}
	if got, want := ids(t, b.c, behind), []string{"0", "1", "2"}; !slices.Equal(got, want) {
		t.Errorf("before its last write the origin held %v, want %v", got, want)
	}
	must(forked.Split("0"))(t)
	must(forked.CreateItem(at("a"), doc("late", "a", 4)))(t)
	if got := ids(t, forked, store.Scope{}); len(got) != 14 {
		t.Errorf("behind a split the fork's replicas show %v", got)
	}
}

// TestForkKeepsNoJournal forks an account with a journal: what the fork does is not written down.
func TestForkKeepsNoJournal(t *testing.T) {
	t.Parallel()
	journal := &memoryJournal{}
	b := setup(t, store.Options{Journal: journal}, "")
	fork := b.account.Fork(b.clock.Now)
	before := len(journal.records)
	db := must(fork.Database("db"))(t)
	must(must(db.Container("c"))(t).CreateItem(at("a"), doc("1", "a", 1)))(t)
	must(db.CreateContainer([]byte(`{"id":"d","partitionKey":{"paths":["/pk"]}}`), store.Throughput{}))(t)
	if after := len(journal.records); after != before {
		t.Errorf("the journal went from %d to %d records", before, after)
	}
	if err := fork.Close(); err != nil {
		t.Error(err)
	}
	must(b.c.CreateItem(at("a"), doc("1", "a", 1)))(t)
}

// TestForkCostsNoMoreWithMoreItems counts allocations instead of time.
//
//nolint:paralleltest // other tests' allocations would be counted
func TestForkCostsNoMoreWithMoreItems(t *testing.T) {
	b := setup(t, store.Options{}, "")
	add := func(from, to int) {
		for i := from; i < to; i++ {
			must(b.c.CreateItem(at(fmt.Sprint(i%100)), doc(fmt.Sprint(i), fmt.Sprint(i%100), i)))(t)
		}
	}
	measure := func() (fork, write float64) {
		fork = testing.AllocsPerRun(20, func() { b.account.Fork(b.clock.Now) })
		write = testing.AllocsPerRun(20, func() {
			f := b.account.Fork(b.clock.Now)
			c := must(must(f.Database("db"))(t).Container("c"))(t)
			must(c.UpsertItem(at("5"), doc("5", "5", -1)))(t)
		})
		return fork, write
	}
	add(0, 100)
	fewFork, fewWrite := measure()
	add(100, 5_000)
	manyFork, manyWrite := measure()
	if manyFork > fewFork {
		t.Errorf("a fork allocates %v times with 100 items and %v times with 5,000", fewFork, manyFork)
	}
	if manyWrite > 2*fewWrite { // the trees are a level or two deeper
		t.Errorf("a fork and a write allocate %v times with 100 items and %v times with 5,000", fewWrite, manyWrite)
	}
}

// TestForkUnderLoad forks while writers are at work in the origin and in forks; each fork must be of one moment: a writer
// numbers its items in turn over two partitions, so that a fork that has the later one must have the earlier.
func TestForkUnderLoad(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 4}, "")
	done := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				pk := fmt.Sprint(i % 7)
				if _, err := b.c.CreateItem(at(pk), doc(fmt.Sprintf("%d-%06d", w, i), pk, i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20 {
		c := must(must(b.account.Fork(b.clock.Now).Database("db"))(t).Container("c"))(t)
		counts := map[string]int{}
		for _, id := range ids(t, c, store.Scope{}) {
			writer, number, _ := strings.Cut(id, "-")
			if want := fmt.Sprintf("%06d", counts[writer]); number != want {
				t.Errorf("writer %s: item %s came before %s", writer, number, want)
			}
			counts[writer]++
		}
		must(c.CreateItem(at("0"), doc("fork", "0", 0)))(t)
	}
	close(done)
	writers.Wait()
}

func BenchmarkFork(b *testing.B) {
	for _, items := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%d items", items), func(b *testing.B) {
			bundle := setup(b, store.Options{Partitions: 4}, "")
			for i := range items {
				must(bundle.c.CreateItem(at(fmt.Sprint(i%100)), doc(fmt.Sprint(i), fmt.Sprint(i%100), i)))(b)
			}
			b.ReportAllocs()
			for b.Loop() {
				bundle.account.Fork(bundle.clock.Now)
			}
		})
	}
}
