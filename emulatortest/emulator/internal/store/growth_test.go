package store_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

func TestGrow(t *testing.T) {
	t.Parallel()
	cases := []struct {
		content string
		ranges  int
		least   int // to which it may go back
	}{
		{`{"offerThroughput":10000}`, 1, 400},
		{`{"offerThroughput":10100}`, 2, 400},
		{`{"offerThroughput":30000}`, 3, 400},
		{`{"offerAutopilotSettings":{"maxThroughput":50000}}`, 5, 500},
		{`{"offerThroughput":1000000}`, 100, 10000},
	}
	for _, c := range cases {
		t.Run(c.content, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, "")
			for i := range 200 {
				must(b.c.CreateItem(at(fmt.Sprint(i)), doc("a", fmt.Sprint(i), i)))(t)
			}
			offer := b.account.Offers()[0].RID
			for _, content := range []string{c.content, fmt.Sprintf(`{"offerThroughput":%d}`, c.least)} { // going back splits and merges nothing
				must(b.account.ReplaceOffer(offer, []byte(`{"content":`+content+`}`), store.Precondition{}))(t)
				wantError(t, b.account.Grow(offer), 0, 0)
				if ranges, _ := b.c.Ranges(); len(ranges) != c.ranges {
					t.Fatalf("%d ranges, want %d", len(ranges), c.ranges)
				}
			}
			for i := range 200 {
				must(b.c.ReadItem(at(fmt.Sprint(i)), "a"))(t)
			}
		})
	}
}

func TestCreateContainer_startsWithTheRangesOfItsThroughput(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 2}, "")
	for id, c := range map[string]struct {
		throughput store.Throughput
		ranges     int
	}{
		"a": {store.Throughput{Manual: 400}, 2},
		"b": {store.Throughput{Manual: 20_000}, 2},
		"c": {store.Throughput{AutoscaleMax: 31_000}, 4},
	} {
		container := must(b.db.CreateContainer([]byte(`{"id":"`+id+`1","partitionKey":{"paths":["/pk"]}}`), c.throughput))(t)
		if ranges, _ := container.Ranges(); len(ranges) != c.ranges {
			t.Errorf("%+v: %d ranges, want %d", c.throughput, len(ranges), c.ranges)
		}
	}
}

func TestGrow_refuses(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	wantError(t, b.account.Grow("none"), 404, 0)
	shared := must(b.account.CreateDatabase([]byte(`{"id":"shared"}`), store.Throughput{Manual: 20_000}))(t)
	c := must(shared.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Throughput{}))(t)
	wantError(t, b.account.Grow(b.account.Offers()[1].RID), 0, 0)
	if ranges, _ := c.Ranges(); len(ranges) != 1 {
		t.Errorf("a shared offer made %d ranges", len(ranges))
	}
}
