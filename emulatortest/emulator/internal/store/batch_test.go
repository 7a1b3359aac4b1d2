package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

func TestBatch(t *testing.T) {
	t.Parallel()
	incr := store.Patch{Operations: []store.PatchOperation{{Kind: "incr", Path: "/n", Value: []byte("1")}}}
	half := `{"id":"%d","pk":"p","s":"` + strings.Repeat("x", 1500<<10) + `"}`
	tests := []struct {
		name string
		ops  func(etag string) []store.Operation
		want []int
		fail bool
	}{
		{"create then replace then patch", func(string) []store.Operation {
			return []store.Operation{
				{Kind: store.OpCreate, Body: doc("x", "p", 1)},
				{Kind: store.OpReplace, ID: "x", Body: doc("x", "p", 2)},
				{Kind: store.OpPatch, ID: "x", Patch: incr},
				{Kind: store.OpRead, ID: "x"},
				{Kind: store.OpUpsert, Body: doc("y", "p", 2)},
				{Kind: store.OpUpsert, Body: doc("y", "p", 3)},
				{Kind: store.OpDelete, ID: "a"},
			}
		}, []int{201, 200, 200, 200, 201, 200, 204}, false},
		{"conflict at the end", func(string) []store.Operation {
			return []store.Operation{{Kind: store.OpCreate, Body: doc("x", "p", 1)}, {Kind: store.OpCreate, Body: doc("a", "p", 1)}}
		}, []int{424, 409}, true},
		{"missing in the middle", func(string) []store.Operation {
			return []store.Operation{
				{Kind: store.OpDelete, ID: "a"}, {Kind: store.OpReplace, ID: "x", Body: doc("x", "p", 1)}, {Kind: store.OpRead, ID: "a"},
			}
		}, []int{424, 404, 424}, true},
		{"stale etag", func(string) []store.Operation {
			return []store.Operation{{Kind: store.OpUpsert, Body: doc("a", "p", 9), Precondition: store.Precondition{IfMatch: `"stale"`}}}
		}, []int{412}, true},
		{"fresh etag", func(etag string) []store.Operation {
			return []store.Operation{{Kind: store.OpUpsert, Body: doc("a", "p", 9), Precondition: store.Precondition{IfMatch: etag}}}
		}, []int{200}, false},
		{"other key in a body", func(string) []store.Operation {
			return []store.Operation{{Kind: store.OpCreate, Body: doc("x", "p", 1)}, {Kind: store.OpCreate, Body: doc("y", "q", 1)}}
		}, []int{424, 400}, true},
		{"not modified", func(etag string) []store.Operation {
			return []store.Operation{
				{Kind: store.OpCreate, Body: doc("x", "p", 1)},
				{Kind: store.OpRead, ID: "a", Precondition: store.Precondition{IfNoneMatch: etag}},
			}
		}, []int{201, 304}, false},
		{"answer too large", func(string) []store.Operation {
			var ops []store.Operation
			for i := range 4 {
				ops = append(ops, store.Operation{Kind: store.OpCreate, Body: fmt.Appendf(nil, half, i)})
			}
			return ops
		}, []int{424, 424, 413, 424}, true},
		{"patch of nothing to do", func(string) []store.Operation {
			return []store.Operation{{Kind: store.OpPatch, ID: "a"}}
		}, []int{400}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, "")
			a := must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
			before := feedOf(t, b.c, store.Scope{}, 0)
			out := must(b.c.Batch(at("p"), tt.ops(a.ETag)))(t)
			var got []int
			charge := 0.0
			for _, r := range out.Results {
				got = append(got, r.Status)
				charge += r.Charge
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("statuses %v, want %v", got, tt.want)
			}
			status := 200
			if slices.ContainsFunc(tt.want, func(s int) bool { return s >= 300 }) {
				status = 207
			}
			if out.Status != status || out.Failed != (status == 207) || out.Charge < charge-0.01 {
				t.Errorf("batch: %+v", out.Result)
			}
			after := feedOf(t, b.c, store.Scope{}, 0)
			if tt.fail != slices.Equal(before, after) {
				t.Errorf("failed is %v, but the feed went from %v to %v", tt.fail, before, after)
			}
			if want := a.LSN + 1; !tt.fail && out.LSN != want || tt.fail && out.LSN != a.LSN {
				t.Errorf("LSN %d after %d", out.LSN, a.LSN)
			}
		})
	}
}

func TestBatch_refusedAsAWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	_, err := b.c.Batch(at("p"), nil)
	wantError(t, err, 400, 0)
	_, err = b.c.Batch(at("p"), make([]store.Operation, 101))
	wantError(t, err, 400, 0)
	_, err = b.c.Batch(store.Call{}, []store.Operation{{Kind: store.OpRead, ID: "a"}})
	wantError(t, err, 400, 0)
}

func TestBatch_sessionToken(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	call := store.Call{Key: key("p"), SessionToken: "0:-1#99"}
	out := must(b.c.Batch(call, []store.Operation{{Kind: store.OpUpsert, Body: doc("a", "p", 1)}, {Kind: store.OpRead, ID: "a"}}))(t)
	for _, r := range out.Results {
		if r.Status != 404 || r.Err.Substatus != 1002 {
			t.Errorf("got %d/%d", r.Status, r.Err.Substatus)
		}
	}
	out = must(b.c.Batch(call, []store.Operation{{Kind: store.OpUpsert, Body: doc("a", "p", 1)}}))(t)
	if out.Failed {
		t.Error("a batch that only writes should ignore the token")
	}
}

func TestBulk_eachStandsAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	out := must(b.c.Bulk(store.Call{RangeID: "0"}, []store.Operation{
		{Kind: store.OpCreate, Key: key("p"), Body: doc("a", "p", 1)},
		{Kind: store.OpCreate, Key: key("p"), Body: doc("a", "p", 2)},
		{Kind: store.OpUpsert, Key: key("q"), Body: doc("a", "q", 1)},
		{Kind: store.OpDelete, Key: key("r"), ID: "a"},
		{Kind: store.OpRead, Key: key("q"), ID: "a"},
		{Kind: store.OpCreate, Key: key("q"), Body: []byte(`{`)},
	}))(t)
	var got []int
	for _, r := range out.Results {
		got = append(got, r.Status)
	}
	if want := []int{201, 409, 201, 404, 200, 400}; !slices.Equal(got, want) || !out.Failed || out.Status != 207 {
		t.Errorf("statuses %v, want %v; %+v", got, want, out.Result)
	}
	_, err := b.c.Bulk(store.Call{RangeID: "7"}, []store.Operation{{Kind: store.OpRead, Key: key("q"), ID: "a"}})
	wantError(t, err, 410, 1002)
}

// Documents that the answer leaves out don't make it too large.
func TestBatch_answerLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	var patches, reads []store.Operation
	for i := range 4 {
		id := fmt.Sprint("big", i)
		must(b.c.CreateItem(at("p"), fmt.Appendf(nil, `{"id":%q,"pk":"p","s":%q}`, id, strings.Repeat("x", 1500<<10))))(t)
		patches = append(patches, store.Operation{Kind: store.OpPatch, ID: id, Patch: store.Patch{Operations: []store.PatchOperation{{Kind: "incr", Path: "/n", Value: []byte("1")}}}})
		reads = append(reads, store.Operation{Kind: store.OpRead, ID: id})
	}
	for name, tt := range map[string]struct {
		minimal bool
		ops     []store.Operation
		failed  bool
	}{
		"patches with documents":    {false, patches, true},
		"patches without documents": {true, patches, false},
		"reads":                     {true, reads, true},
	} {
		call := at("p")
		call.Minimal = tt.minimal
		if out := must(b.c.Batch(call, tt.ops))(t); out.Failed != tt.failed || tt.failed && out.Results[2].Status != 413 {
			t.Errorf("%s: failed %v, the third operation %d", name, out.Failed, out.Results[2].Status)
		}
	}
}
