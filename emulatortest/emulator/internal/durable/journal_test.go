package durable_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/durable"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func open(t testing.TB, dir string) *durable.Journal {
	t.Helper()
	j, err := durable.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func load(t testing.TB, j *durable.Journal) map[string]string {
	t.Helper()
	records := map[string]string{}
	if err := j.Load(func(key string, value []byte) error { records[key] = string(value); return nil }); err != nil {
		t.Fatal(err)
	}
	return records
}

func TestJournal_keepsUnits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	waits := []func() error{
		j.Append([]store.Mutation{{Key: "a/1", Value: []byte("one")}, {Key: "a/2", Value: []byte("two")}, {Key: "b/1", Value: []byte("b")}}),
		j.Append([]store.Mutation{{Key: "a/1"}, {Key: "a/3", Value: []byte{}}}),
		j.Append([]store.Mutation{{Key: "b", Prefix: true}}),
	}
	for _, wait := range waits {
		for range 2 {
			if err := wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(load(t, open(t, dir)))
	if want := fmt.Sprint(map[string]string{"a/2": "two", "a/3": ""}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestJournal_isOrderedUnderConcurrency(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	const writers, writes = 8, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			key := fmt.Sprint("w/", w)
			var last func() error
			for i := range writes {
				last = j.Append([]store.Mutation{{Key: key, Value: fmt.Append(nil, i)}})
			}
			if err := last(); err != nil {
				t.Error(err)
			}
			if got := load(t, j)[key]; got != fmt.Sprint(writes-1) {
				t.Errorf("%s is %s after its last write", key, got)
			}
		})
	}
	group.Wait()
}

func TestJournal_closed(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append([]store.Mutation{{Key: "a", Value: []byte("b")}})(); !errors.Is(err, durable.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

func TestOpen_folderInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	if _, err := durable.Open(dir); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("second open: %v", err)
	}
}

// dump describes everything that a client can see of an account.
func dump(t testing.TB, a *store.Account) string {
	t.Helper()
	var out strings.Builder
	for _, r := range slices.Concat(a.Databases(), a.Offers()) {
		fmt.Fprintln(&out, string(r.Body))
	}
	for _, r := range a.Databases() {
		db, err := a.Database(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range db.Containers() {
			c, err := db.Container(r.ID)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&out, string(c.Resource().Body))
			dumpContainer(t, &out, c)
		}
	}
	return out.String()
}

func dumpContainer(t testing.TB, out *strings.Builder, c *store.Container) {
	t.Helper()
	ranges, etag := c.Ranges()
	fmt.Fprintln(out, etag)
	for _, r := range ranges {
		fmt.Fprintln(out, string(r.Body))
		request := store.FeedRequest{Scope: store.Scope{RangeID: r.ID}, MaxItems: 1 << 20, MaxBytes: 1 << 30}
		latest, err := c.LatestVersions(request)
		if err != nil {
			t.Fatal(err)
		}
		request.Start.AfterLSN = 1
		all, err := c.AllVersions(request)
		if err != nil {
			all.ETag = err.Error()
		}
		fmt.Fprintf(out, "%s %s\n%s %s\n", latest.ETag, latest.Documents, all.ETag, all.Documents)
	}
	snapshot, err := c.Snapshot(store.Scope{Unindexed: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(out, snapshot.SessionToken, c.Usage())
	for d := range snapshot.Items("") {
		fmt.Fprintln(out, d.RID, d.LSN, d.TS, d.ETag(), string(d.Raw))
	}
	indexed, err := c.Snapshot(store.Scope{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for d := range indexed.Items("") {
		fmt.Fprint(out, d.RID, " ")
	}
	fmt.Fprintln(out)
}

func TestAccount_isRestoredExactly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	opts := func(j store.Journal) store.Options {
		return store.Options{Journal: j, Partitions: 2, Now: func() time.Time { now = now.Add(time.Second); return now }}
	}
	j := open(t, dir)
	a, err := store.Open(opts(j))
	check(t, err)
	fill(t, a)
	dump(t, a) // reading all versions sweeps what has expired, which must not happen between the dumps to compare
	before := dump(t, a)
	check(t, a.Close())

	a, err = store.Open(opts(open(t, dir)))
	check(t, err)
	was, is := strings.Split(before, "\n"), strings.Split(dump(t, a), "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("line %d of %d and %d\nbefore: %s\nafter:  %s", i, len(was), len(is), was[min(i, len(was)-1)], is[min(i, len(is)-1)])
		}
	}
	// Nothing that was used before may be used again: rids, etags, range ids.
	db, err := a.Database("db1")
	check(t, err)
	c, err := db.Container("notes")
	check(t, err)
	r, err := c.CreateItem(store.Call{KeyFromBody: true}, []byte(`{"id":"after","t":"t1","e":"Note"}`))
	check(t, err)
	if strings.Contains(before, strings.Trim(r.ETag, `"`)) {
		t.Errorf("etag %s was used before", r.ETag)
	}
	ranges, _ := c.Ranges()
	children, err := c.Split(ranges[0].ID)
	check(t, err)
	if children[0].ID != "7" { // 0 to 6 were given to ranges before, some of which are gone
		t.Errorf("range id %s", children[0].ID)
	}
}

// fill makes an account with everything in it that has to survive.
func fill(t testing.TB, a *store.Account) {
	t.Helper()
	db, err := a.CreateDatabase([]byte(`{"id":"db1"}`), store.Throughput{AutoscaleMax: 4000})
	check(t, err)
	_, err = a.CreateDatabase([]byte(`{"id":"db2"}`), store.Throughput{})
	check(t, err)
	gone, err := db.CreateContainer([]byte(`{"id":"gone","partitionKey":{"paths":["/pk"]}}`), store.Throughput{Manual: 500})
	check(t, err)
	_, err = gone.CreateItem(store.Call{KeyFromBody: true}, []byte(`{"id":"a","pk":"p"}`))
	check(t, err)
	check(t, gone.Delete(store.Precondition{}))
	c, err := db.CreateContainer([]byte(`{"id":"notes","partitionKey":{"paths":["/t","/e"]},"defaultTtl":-1,"custom":[1.50],
		"changeFeedPolicy":{"retentionDuration":60},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}`), store.Throughput{Manual: 700})
	check(t, err)
	for i := range 40 {
		body := fmt.Appendf(nil, `{"id":"i%d","t":"t%d","e":"Note","u":%d,"n":1.%d0}`, i, i%7, i, i)
		_, err := c.CreateItem(store.Call{KeyFromBody: true, Unindexed: i%5 == 0}, body)
		check(t, err)
	}
	_, err = c.Split("0")
	check(t, err)
	_, err = c.Split("1", "30")
	check(t, err)
	_, err = c.Merge("3", "4")
	check(t, err)
	k := store.Key{epk.String("t1"), epk.String("Note")}
	_, err = c.Batch(store.Call{Key: k}, []store.Operation{
		{Kind: store.OpCreate, Body: []byte(`{"id":"x","t":"t1","e":"Note","u":"x"}`)},
		{Kind: store.OpReplace, ID: "x", Body: []byte(`{"id":"y","t":"t1","e":"Note","u":"y"}`)},
		{Kind: store.OpDelete, ID: "i1"},
	})
	check(t, err)
	_, err = c.CreateItem(store.Call{Key: k}, []byte(`{"id":"short","t":"t1","e":"Note","u":"short","ttl":1}`))
	check(t, err)
	_, err = c.Replace([]byte(`{"id":"notes","partitionKey":{"paths":["/t","/e"]},"defaultTtl":-1,"custom":[2.50],"changeFeedPolicy":{"retentionDuration":60}}`), store.Precondition{})
	check(t, err)
	offers := a.Offers()
	_, err = a.ReplaceOffer(offers[len(offers)-1].RID, []byte(`{"content":{"offerThroughput":900}}`), store.Precondition{})
	check(t, err)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCreate_concurrently(b *testing.B) {
	j := open(b, b.TempDir())
	a, err := store.Open(store.Options{Journal: j})
	check(b, err)
	db, err := a.CreateDatabase([]byte(`{"id":"db"}`), store.Throughput{})
	check(b, err)
	c, err := db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Throughput{})
	check(b, err)
	b.SetParallelism(32)
	var n sync.Mutex
	next := 0
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.Lock()
			next++
			id := next
			n.Unlock()
			_, err := c.CreateItem(store.Call{KeyFromBody: true}, fmt.Appendf(nil, `{"id":"%d","pk":"p"}`, id))
			if err != nil {
				b.Error(err)
			}
		}
	})
}
