package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// The charges come from the model in charge.go: sizes count in powers of two of a KB, with the system properties.
func TestRequestCharges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kb                   int // of text, to which less than 1 KB is added
		read, create, change float64
	}{
		{0, 1, 5.8 + 0.9, 8.7 + 0.9},
		{1, 2, 11.6 + 0.9, 17.4 + 0.9},
		{3, 4, 23.2 + 0.9, 34.8 + 0.9},
		{100, 128, 742.4 + 0.9, 1113.6 + 0.9},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.kb, " KB"), func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, "")
			body := []byte(`{"id":"a","pk":"p","s":"` + strings.Repeat("x", tt.kb<<10) + `"}`)
			charge := func(name string, got, want float64) {
				t.Helper()
				if diff := got - want; diff > 0.001 || diff < -0.001 {
					t.Errorf("%s: charged %v, want %v", name, got, want)
				}
			}
			charge("create", must(b.c.CreateItem(at("p"), body))(t).Charge, tt.create)
			charge("read", must(b.c.ReadItem(at("p"), "a"))(t).Charge, tt.read)
			charge("replace", must(b.c.ReplaceItem(at("p"), "a", body))(t).Charge, tt.change)
			batch := must(b.c.Batch(at("p"), []store.Operation{{Kind: store.OpUpsert, Body: body}, {Kind: store.OpRead, ID: "a"}}))(t)
			charge("batch", batch.Charge, tt.change+tt.read)
			charge("delete", must(b.c.DeleteItem(at("p"), "a"))(t).Charge, tt.change)
			hidden := store.Call{Key: key("p"), Unindexed: true}
			charge("without index", must(b.c.CreateItem(hidden, body))(t).Charge, tt.create-0.9)
		})
	}
	if got := store.RequestChargeQuery(1, 1000, 1000<<10); got < 1000 || got > 1010 {
		t.Errorf("a query over 1,000 documents of 1 KB is charged %v", got)
	}
	if one, three := store.RequestChargeQuery(1, 0, 0), store.RequestChargeQuery(3, 0, 0); one <= 0 || three <= 2*one {
		t.Errorf("empty queries are charged %v over one partition and %v over three", one, three)
	}
}

func TestWideDocument(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	text := []byte(`{"id":"a","pk":"p"`)
	for i := range 20000 {
		text = fmt.Appendf(text, `,"m%d":%d`, i%15000, i)
	}
	r := must(b.c.CreateItem(at("p"), append(text, '}')))(t)
	v := parse(t, r.Body)
	members, _ := v.Members()
	if len(members) != 15000+2+5 {
		t.Errorf("%d members", len(members))
	}
	if n, _ := v.Get("m4999").Number(); n != 19999 {
		t.Errorf("of two members with one name the value is %v", n)
	}
}
