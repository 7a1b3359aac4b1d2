package emulatortest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

func TestBatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	items := newContainer(t, emulatortest.Client(t), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a"}`)

	batch := items.NewTransactionalBatch(pk("a"))
	batch.CreateItem([]byte(`{"id":"2","pk":"a"}`), nil)
	batch.CreateItem([]byte(`{"id":"1","pk":"a"}`), nil)
	r, err := items.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || r.Success || r.OperationResults[0].StatusCode != http.StatusFailedDependency || r.OperationResults[1].StatusCode != http.StatusConflict {
		t.Fatalf("%+v %v", r.OperationResults, err)
	}
	_, err = items.ReadItem(ctx, pk("a"), "2", nil)
	wantStatus(t, err, http.StatusNotFound)

	batch = items.NewTransactionalBatch(pk("a"))
	batch.CreateItem([]byte(`{"id":"2","pk":"a","n":1}`), nil)
	patch := azcosmos.PatchOperations{}
	patch.AppendIncrement("/n", 4)
	batch.PatchItem("2", patch, nil)
	batch.ReadItem("2", nil)
	batch.DeleteItem("1", nil)
	r, err = items.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || !r.Success {
		t.Fatalf("%+v %v", r.OperationResults, err)
	}
	var doc struct{ N int }
	if err := json.Unmarshal(r.OperationResults[2].ResourceBody, &doc); err != nil || doc.N != 5 {
		t.Errorf("the batch read %s (%v)", r.OperationResults[2].ResourceBody, err)
	}
}

func TestBatchLimits(t *testing.T) {
	t.Parallel()
	items := newContainer(t, emulatortest.Client(t), "/pk")
	many := items.NewTransactionalBatch(pk("a"))
	for range 101 {
		many.DeleteItem("1", nil)
	}
	_, err := items.ExecuteTransactionalBatch(t.Context(), many, nil)
	wantStatus(t, err, http.StatusBadRequest)

	large := items.NewTransactionalBatch(pk("a"))
	for i := range 3 {
		large.CreateItem(fmt.Appendf(nil, `{"id":"%d","pk":"a","x":"%01000000d"}`, i, 0), nil)
	}
	_, err = items.ExecuteTransactionalBatch(t.Context(), large, nil)
	wantStatus(t, err, http.StatusRequestEntityTooLarge)
}

func TestPatchCondition(t *testing.T) {
	t.Parallel()
	items := newContainer(t, emulatortest.Client(t), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a","n":1}`)
	for _, c := range []struct {
		condition string
		status    int
	}{
		{"from c where c.n = 2", 412},
		{"from c where c.n = 1 and is_defined(c.pk)", 200},
		{"from c where c.n =", 400},
		{"from c", 400},
	} {
		patch := azcosmos.PatchOperations{}
		patch.AppendSet("/touched", true)
		patch.SetCondition(c.condition)
		r, err := items.PatchItem(t.Context(), pk("a"), "1", patch, nil)
		if c.status != http.StatusOK {
			wantStatus(t, err, c.status)
		} else if err != nil || r.RawResponse.StatusCode != c.status {
			t.Errorf("%q: %v", c.condition, err)
		}
	}
}

func TestExpiryFollowsTheClock(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, emulatortest.WithClock(emulator.NewClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))))
	client := e.Client(nil)
	newContainer(t, client, "/pk")
	db, err := client.NewDatabase("db")
	if err != nil {
		t.Fatal(err)
	}
	ttl := int32(-1)
	if _, err := db.CreateContainer(t.Context(), azcosmos.ContainerProperties{
		ID: "short", DefaultTimeToLive: &ttl,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2},
	}, nil); err != nil {
		t.Fatal(err)
	}
	items, err := db.NewContainer("short")
	if err != nil {
		t.Fatal(err)
	}
	create(t, items, pk("a"), `{"id":"1","pk":"a","ttl":60}`)
	e.Clock().Advance(59 * time.Second)
	if _, err := items.ReadItem(t.Context(), pk("a"), "1", nil); err != nil {
		t.Fatalf("gone a second early: %v", err)
	}
	e.Clock().Advance(time.Hour) // far beyond what a signed date may differ by
	_, err = items.ReadItem(t.Context(), pk("a"), "1", nil)
	wantStatus(t, err, http.StatusNotFound)
}

func TestSplitAndMergeUnderAClient(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := emulatortest.New(t, emulatortest.WithPartitions(2))
	items := newContainer(t, e.Client(nil), "/pk")
	const n = 40
	for i := range n {
		key := fmt.Sprint("key", i)
		create(t, items, pk(key), fmt.Sprintf(`{"id":"%d","pk":%q}`, i, key))
	}
	before := e.Ranges("db", "items")
	if len(before) != 2 {
		t.Fatalf("%d ranges, want 2", len(before))
	}
	feed := azcosmos.ChangeFeedOptions{MaxItemCount: 7, FeedRange: &azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}}
	page, err := items.ReadChangeFeed(ctx, &feed)
	if err != nil {
		t.Fatal(err)
	}
	seen := page.Count

	children := e.Split("db", "items", before[0].ID)
	if len(children) != 2 || children[0].Parents[0] != before[0].ID {
		t.Fatalf("split into %+v", children)
	}
	for i := range n {
		key := fmt.Sprint("key", i)
		if _, err := items.ReadItem(ctx, pk(key), fmt.Sprint(i), nil); err != nil {
			t.Errorf("item %d is lost: %v", i, err)
		}
	}
	// The feed goes on from the parent's position in both children.
	for range 60 {
		feed = azcosmos.ChangeFeedOptions{MaxItemCount: 7, Continuation: &page.ContinuationToken}
		if page, err = items.ReadChangeFeed(ctx, &feed); err != nil {
			t.Fatal(err)
		}
		seen += page.Count
	}
	if seen != n {
		t.Errorf("the feed told %d changes, want %d", seen, n)
	}
	e.Merge("db", "items", children[0].ID, children[1].ID)
	if got := len(e.Ranges("db", "items")); got != 2 {
		t.Errorf("%d ranges after the merge, want 2", got)
	}
}

func TestReplicaLag(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, withoutRetries(), emulatortest.WithReplicaLag(time.Minute),
		emulatortest.WithClock(emulator.NewClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))))
	items := newContainer(t, e.Client(nil), "/pk")
	written := create(t, items, pk("a"), `{"id":"1","pk":"a"}`)

	_, err := items.ReadItem(t.Context(), pk("a"), "1", nil)
	if got := refusal(t, err, http.StatusNotFound).RawResponse.Header.Get("x-ms-substatus"); got != "" && got != "0" {
		t.Errorf("substatus %q without a session token", got)
	}
	withToken := &azcosmos.ItemOptions{SessionToken: written.SessionToken}
	_, err = items.ReadItem(t.Context(), pk("a"), "1", withToken)
	if got := refusal(t, err, http.StatusNotFound).RawResponse.Header.Get("x-ms-substatus"); got != "1002" {
		t.Errorf("substatus %q with the session token, want 1002", got)
	}
	e.Clock().Advance(time.Minute)
	if _, err := items.ReadItem(t.Context(), pk("a"), "1", withToken); err != nil {
		t.Error(err)
	}
}

func TestThroughputLimit(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, withoutRetries(), emulatortest.WithClock(emulator.NewClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))))
	items := newContainer(t, e.Client(nil), "/pk")
	e.LimitThroughput("db", "items", 10)
	var answer *azcore.ResponseError
	for i := 0; i < 20 && answer == nil; i++ {
		if _, err := items.CreateItem(t.Context(), pk("a"), fmt.Appendf(nil, `{"id":"%d","pk":"a"}`, i), nil); err != nil {
			answer = refusal(t, err, http.StatusTooManyRequests)
		}
	}
	if answer == nil || answer.RawResponse.Header.Get("x-ms-retry-after-ms") == "" {
		t.Fatal("20 creates fitted into 10 request units a second")
	}
	e.Clock().Advance(10 * time.Second)
	create(t, items, pk("a"), `{"id":"later","pk":"a"}`)
}

func TestProvisionedThroughputIsKeptWhenAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		opts []emulatortest.Option
		want bool
	}{
		{"kept", []emulatortest.Option{emulatortest.WithThroughputLimit()}, true},
		{"not kept", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := emulatortest.WithClock(emulator.NewClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
			e := emulatortest.New(t, append(c.opts, withoutRetries(), clock)...)
			items := newContainer(t, e.Client(nil), "/pk") // 400 request units a second
			throttled := false
			for i := 0; i < 200 && !throttled; i++ {
				_, err := items.CreateItem(t.Context(), pk("a"), fmt.Appendf(nil, `{"id":"%d","pk":"a"}`, i), nil)
				if err != nil {
					wantStatus(t, err, http.StatusTooManyRequests)
					throttled = true
				}
			}
			if throttled != c.want {
				t.Errorf("throttled: %v, want %v", throttled, c.want)
			}
		})
	}
}

func TestLogicalPartitionLimit(t *testing.T) {
	t.Parallel()
	items := newContainer(t, emulatortest.Client(t, withoutRetries(), emulatortest.WithLogicalPartitionLimit(4096)), "/pk")
	var answer *azcore.ResponseError
	for i := 0; i < 10 && answer == nil; i++ {
		_, err := items.CreateItem(t.Context(), pk("a"), fmt.Appendf(nil, `{"id":"%d","pk":"a","x":"%01000d"}`, i, 0), nil)
		if err != nil {
			answer = refusal(t, err, http.StatusForbidden)
		}
	}
	if answer == nil || answer.RawResponse.Header.Get("x-ms-substatus") != "1014" {
		t.Fatal("10 KB fitted into a logical partition of 4 KB")
	}
	create(t, items, pk("b"), `{"id":"1","pk":"b"}`)
}

// Writers, readers and a restless topology at the same time lose nothing.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	ranges := e.Ranges("db", "items") // skips the test where there is no topology to change
	const writers, each = 6, 30
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			key := fmt.Sprint("key", w)
			for i := range each {
				if _, err := items.CreateItem(t.Context(), pk(key), fmt.Appendf(nil, `{"id":"%d","pk":%q}`, i, key), nil); err != nil {
					t.Errorf("create %d of %s: %v", i, key, err)
				}
				if _, err := items.ReadItem(t.Context(), pk(key), fmt.Sprint(i), nil); err != nil {
					t.Errorf("read %d of %s: %v", i, key, err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			children := e.Split("db", "items", ranges[0].ID)
			ranges[0] = e.Merge("db", "items", children[0].ID, children[1].ID)
		}
	})
	wg.Wait()
	found, _ := ids(t, items, "SELECT * FROM c", pk(), nil)
	if len(found) != writers*each {
		t.Errorf("%d items, want %d", len(found), writers*each)
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		opts []emulatortest.Option
	}{
		{"HTTP", nil},
		{"HTTPS", []emulatortest.Option{emulatortest.WithTLS()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := emulatortest.Serve(t, append(c.opts, withoutRetries())...)
			items := newContainer(t, server.Client(&azcosmos.ClientOptions{}), "/pk")
			create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
			server.Fault(emulator.Cut().On(emulator.DeleteItem).Keep())
			if _, err := items.DeleteItem(t.Context(), pk("a"), "1", nil); err == nil {
				t.Error("the cut connection went unnoticed")
			}
			if _, err := items.ReadItem(t.Context(), pk("a"), "1", nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDataDirOutlivesTheEmulator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var etag azcore.ETag
	//nolint:paralleltest // the second part reads what the first has written
	t.Run("write", func(t *testing.T) {
		items := newContainer(t, emulatortest.Client(t, emulatortest.WithDataDir(dir)), "/pk")
		etag = create(t, items, pk("a"), `{"id":"1","pk":"a"}`).ETag
	})
	//nolint:paralleltest // see above
	t.Run("read", func(t *testing.T) {
		items, err := emulatortest.Client(t, emulatortest.WithDataDir(dir)).NewContainer("db", "items")
		if err != nil {
			t.Fatal(err)
		}
		r, err := items.ReadItem(t.Context(), pk("a"), "1", nil)
		if err != nil || r.ETag != etag {
			t.Errorf("etag %q, want %q (%v)", r.ETag, etag, err)
		}
	})
}
