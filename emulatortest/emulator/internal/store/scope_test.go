package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

const hierarchical = `{"id":"c","partitionKey":{"paths":["/t","/e"]}}`

// setupTenants makes 4 tenants with 2 types of 3 items each, written round robin, in 3 physical partitions.
func setupTenants(t testing.TB) *testBundle {
	b := setup(t, store.Options{Partitions: 3}, hierarchical)
	for i := range 24 {
		body := fmt.Appendf(nil, `{"id":"%d","t":"t%d","e":"e%d"}`, i, i%4, i/4%2)
		must(b.c.CreateItem(store.Call{KeyFromBody: true}, body))(t)
	}
	return b
}

func TestSnapshot_scopes(t *testing.T) {
	t.Parallel()
	b := setupTenants(t)
	lo, hi := epk.PrefixRange(epk.MultiHash, epk.String("t1"))
	full := epk.Hash(epk.MultiHash, epk.String("t1"), epk.String("e0"))
	tests := []struct {
		name              string
		scope             store.Scope
		want              []string
		status, substatus int
	}{
		{"all", store.Scope{}, strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"), 0, 0},
		{"full key", store.Scope{Key: key("t1", "e0")}, strings.Fields("1 9 17"), 0, 0},
		{"prefix", store.Scope{Key: key("t1")}, strings.Fields("1 5 9 13 17 21"), 0, 0},
		{"unknown key", store.Scope{Key: key("t9", "e0")}, nil, 0, 0},
		{"unknown prefix", store.Scope{Key: key("t9")}, nil, 0, 0},
		{"hash range of the prefix", store.Scope{MinEPK: lo, MaxEPK: hi}, strings.Fields("1 5 9 13 17 21"), 0, 0},
		{"in lower case", store.Scope{MinEPK: strings.ToLower(lo), MaxEPK: strings.ToLower(hi)}, strings.Fields("1 5 9 13 17 21"), 0, 0},
		{"hash range of one key", store.Scope{MinEPK: full, MaxEPK: full + "FF"}, strings.Fields("1 9 17"), 0, 0},
		{"empty hash range", store.Scope{MinEPK: lo, MaxEPK: lo}, nil, 0, 0},
		{"key outside of the hash range", store.Scope{Key: key("t1", "e0"), MinEPK: "", MaxEPK: full}, nil, 0, 0},
		{"key inside of the hash range", store.Scope{Key: key("t1", "e0"), MinEPK: full, MaxEPK: "FF"}, strings.Fields("1 9 17"), 0, 0},
		{"no hash is an upper bound", store.Scope{MinEPK: "FF", MaxEPK: "FF"}, nil, 0, 0},
		{"bounds the wrong way round", store.Scope{MinEPK: hi, MaxEPK: lo}, nil, 400, 0},
		{"bounds are no hexadecimal", store.Scope{MinEPK: "xyz", MaxEPK: "FF"}, nil, 400, 0},
		{"too many components", store.Scope{Key: key("t1", "e0", "x")}, nil, 400, 0},
		{"unknown range", store.Scope{RangeID: "7"}, nil, 410, 1002},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := b.c.Snapshot(tt.scope, "")
			wantError(t, err, tt.status, tt.substatus)
			if err != nil {
				return
			}
			var got []string
			for d := range s.Items("") {
				got = append(got, d.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			// Resuming behind any item must give what follows it.
			for d := range s.Items("") {
				var rest []string
				for d := range s.Items(d.RID) {
					rest = append(rest, d.ID)
				}
				if i := slices.Index(tt.want, d.ID); !slices.Equal(rest, tt.want[i+1:]) {
					t.Errorf("behind %s: %v", d.ID, rest)
				}
			}
		})
	}
}

func TestSnapshot_rangeThatDoesNotOwnTheKey(t *testing.T) {
	t.Parallel()
	b := setupTenants(t)
	ranges, _ := b.c.Ranges()
	owners := 0
	for _, r := range ranges {
		_, err := b.c.Snapshot(store.Scope{Key: key("t1", "e0"), RangeID: r.ID}, "")
		if err == nil {
			owners++
			continue
		}
		wantError(t, err, 410, 1002)
	}
	if owners != 1 {
		t.Errorf("%d ranges own the key", owners)
	}
}

func TestSnapshot_doesNotChange(t *testing.T) {
	t.Parallel()
	b := setupTenants(t)
	s := must(b.c.Snapshot(store.Scope{}, ""))(t)
	must(b.c.DeleteKey(at("t1", "e0")))(t)
	must(b.c.CreateItem(at("t1", "e0"), []byte(`{"id":"new","t":"t1","e":"e0"}`)))(t)
	must(b.c.Split("1"))(t)
	n := 0
	for d := range s.Items("") {
		if d.ID == "new" {
			t.Error("the snapshot sees a later write")
		}
		n++
	}
	if n != 24 || s.Len() != 24 {
		t.Errorf("%d items, Len %d", n, s.Len())
	}
}

func TestSnapshot_unindexed(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(store.Call{Key: key("p"), Unindexed: true}, doc("hidden", "p", 1)))(t)
	must(b.c.CreateItem(at("p"), doc("shown", "p", 1)))(t)
	if got := ids(t, b.c, store.Scope{}); !slices.Equal(got, []string{"shown"}) {
		t.Errorf("a query sees %v", got)
	}
	if got := ids(t, b.c, store.Scope{Unindexed: true}); !slices.Equal(got, []string{"hidden", "shown"}) {
		t.Errorf("a list sees %v", got)
	}
	must(b.c.ReadItem(at("p"), "hidden"))(t)
}

func TestSplit_refuses(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 3}, "")
	_, err := b.c.Split("9")
	wantError(t, err, 410, 1002)
	for _, bound := range []string{"", "FF", "zz", "3F"} {
		_, err := b.c.Split("0", bound)
		wantError(t, err, 400, 0)
	}
	_, err = b.c.Merge("0", "2")
	wantError(t, err, 400, 0)
	_, err = b.c.Merge("0", "0")
	wantError(t, err, 400, 0)
	_, err = b.c.Merge("0", "9")
	wantError(t, err, 410, 1002)
}

func TestSplit_rangesAndRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	_, etag := b.c.Ranges()
	children := must(b.c.Split("0"))(t)
	if children[0].ID != "1" || children[1].ID != "2" || !slices.Equal(children[1].Parents, []string{"0"}) || children[0].LSN != 2 {
		t.Errorf("children %+v", children)
	}
	ranges, after := b.c.Ranges()
	if after == etag || len(ranges) != 2 {
		t.Errorf("etag %s, ranges %+v", after, ranges)
	}
	_, err := b.c.ReadItem(store.Call{Key: key("p"), RangeID: "0"}, "a")
	wantError(t, err, 410, 1002)
	owner := must(b.c.ReadItem(at("p"), "a"))(t).RangeID
	must(b.c.ReadItem(store.Call{Key: key("p"), RangeID: owner}, "a"))(t)
	grandchildren := must(b.c.Split(owner))(t)
	merged := must(b.c.Merge(grandchildren[1].ID, grandchildren[0].ID))(t)
	if want := []string{"0", owner, "3", "4"}; !slices.Equal(merged.Parents, want) || merged.ID != "5" {
		t.Errorf("merged %+v, want parents %v", merged, want)
	}
	v := parse(t, merged.Body)
	for _, name := range []string{"id", "minInclusive", "maxExclusive", "parents", "status", "_rid", "_self", "_etag", "throughputFraction"} {
		if v.Get(name).IsUndefined() {
			t.Errorf("%s is missing in %s", name, merged.Body)
		}
	}
}

// TestConcurrency has writers, readers, splits and merges at once; what it checks beyond races is that no write is lost.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 2}, "")
	const writers, writes = 4, 60
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			pk := fmt.Sprint("w", w)
			for i := range writes {
				id := fmt.Sprint(i)
				if _, err := b.c.CreateItem(at(pk), doc(id, pk, i)); err != nil {
					t.Error(err)
				}
				if _, err := b.c.Batch(at(pk), []store.Operation{
					{Kind: store.OpUpsert, Body: doc("left", pk, i)}, {Kind: store.OpUpsert, Body: doc("right", pk, i)},
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Go(func() {
		for i := range 20 {
			ranges, _ := b.c.Ranges()
			if i%3 == 2 {
				if _, err := b.c.Merge(ranges[0].ID, ranges[1].ID); err != nil {
					t.Error(err)
				}
				continue
			}
			if _, err := b.c.Split(ranges[i%len(ranges)].ID); err != nil {
				t.Error(err)
			}
		}
	})
	group.Go(func() {
		for i := range 100 {
			pk := fmt.Sprint("w", i%writers)
			s, err := b.c.Snapshot(store.Scope{Key: key(pk)}, "")
			if err != nil {
				t.Error(err)
				return
			}
			var pair [2]float64
			for d := range s.Items("") {
				n, _ := d.Value().Get("n").Number()
				switch d.ID {
				case "left":
					pair[0] = n
				case "right":
					pair[1] = n
				}
			}
			if pair[0] != pair[1] {
				t.Errorf("half of a batch shows: %v", pair)
			}
		}
	})
	group.Wait()
	if got := len(ids(t, b.c, store.Scope{})); got != writers*(writes+2) {
		t.Errorf("%d items, want %d", got, writers*(writes+2))
	}
}

func BenchmarkStore(b *testing.B) {
	body := func(i int) []byte {
		return fmt.Appendf(nil, `{"id":"%d","pk":"p%d","title":"A title of some length","text":%q,"tags":["a","b","c"],"n":%d}`, i, i%1000, strings.Repeat("lorem ipsum ", 70), i)
	}
	bundle := setup(b, store.Options{}, "")
	const items = 20000
	for i := range items {
		must(bundle.c.CreateItem(at(fmt.Sprint("p", i%1000)), body(i)))(b)
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		call := at("p7")
		for b.Loop() {
			if _, err := bundle.c.ReadItem(call, "1007"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("upsert", func(b *testing.B) {
		b.ReportAllocs()
		call, text := at("p7"), body(1007)
		for b.Loop() {
			if _, err := bundle.c.UpsertItem(call, text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("upsert between snapshots", func(b *testing.B) {
		b.ReportAllocs()
		call, text := at("p7"), body(1007)
		for b.Loop() {
			if _, err := bundle.c.UpsertItem(call, text); err != nil {
				b.Fatal(err)
			}
			if _, err := bundle.c.Snapshot(store.Scope{Key: call.Key}, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("scan of 20 of 20000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := must(bundle.c.Snapshot(store.Scope{Key: key("p7")}, ""))(b)
			n := 0
			for d := range s.Items("") {
				n += d.Size()
			}
			if n == 0 {
				b.Fatal("nothing")
			}
		}
	})
}
