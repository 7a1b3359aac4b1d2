package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

func TestTTL(t *testing.T) {
	t.Parallel()
	const properties = `{"id":"c","partitionKey":{"paths":["/pk"]}%s}`
	tests := []struct {
		name, container, item string
		lives                 time.Duration // negative means for ever
	}{
		{"off", ``, `,"ttl":5`, -1},
		{"off with text in the field", ``, `,"ttl":"soon"`, -1},
		{"on without a default", `,"defaultTtl":-1`, ``, -1},
		{"on without a default, item says", `,"defaultTtl":-1`, `,"ttl":5`, 5 * time.Second},
		{"default", `,"defaultTtl":10`, ``, 10 * time.Second},
		{"item overrides the default", `,"defaultTtl":10`, `,"ttl":20`, 20 * time.Second},
		{"item never expires", `,"defaultTtl":10`, `,"ttl":-1`, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, fmt.Sprintf(properties, tt.container))
			body := []byte(`{"id":"a","pk":"p"` + tt.item + `}`)
			must(b.c.CreateItem(at("p"), body))(t)
			if tt.lives < 0 {
				b.clock.Advance(1000 * time.Hour)
				must(b.c.ReadItem(at("p"), "a"))(t)
				return
			}
			b.clock.Advance(tt.lives - time.Second)
			must(b.c.UpsertItem(at("p"), body))(t) // a write renews the life
			b.clock.Advance(tt.lives - time.Second)
			must(b.c.ReadItem(at("p"), "a"))(t)
			b.clock.Advance(time.Second)
			_, err := b.c.ReadItem(at("p"), "a")
			wantError(t, err, 404, 0)
			if got := ids(t, b.c, store.Scope{}); len(got) != 0 {
				t.Errorf("a query still sees %v", got)
			}
			if got := feedOf(t, b.c, store.Scope{}, 0); len(got) != 0 {
				t.Errorf("the feed still tells %v", got)
			}
			_, err = b.c.ReplaceItem(at("p"), "a", body)
			wantError(t, err, 404, 0)
			must(b.c.CreateItem(at("p"), body))(t)
		})
	}
}

func TestTTL_badValues(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, `{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":-1}`)
	for _, ttl := range []string{"0", "-2", "1.5", "null", `"5"`, "true", "2147483648", "[]", "1e400"} {
		_, err := b.c.CreateItem(at("p"), []byte(`{"id":"a","pk":"p","ttl":`+ttl+`}`))
		wantError(t, err, 400, 0)
	}
	must(b.c.CreateItem(at("p"), []byte(`{"id":"a","pk":"p","ttl":2147483647}`)))(t)
}

func TestTTL_changedOnTheContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, `{"id":"c","partitionKey":{"paths":["/pk"]}}`)
	must(b.c.CreateItem(at("p"), []byte(`{"id":"own","pk":"p","ttl":100}`)))(t)
	must(b.c.CreateItem(at("p"), doc("plain", "p", 1)))(t)
	b.clock.Advance(50 * time.Second)
	must(b.c.Replace([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":20}`), store.Precondition{}))(t)
	if got := ids(t, b.c, store.Scope{}); !slices.Equal(got, []string{"own"}) {
		t.Errorf("live with a default of 20 s: %v", got)
	}
	must(b.c.Replace([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Precondition{}))(t)
	if got := ids(t, b.c, store.Scope{}); !slices.Equal(got, []string{"own", "plain"}) {
		t.Errorf("live with TTL off again: %v", got)
	}
}

func TestTTL_freesUniqueKeysAndSpace(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, `{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":5,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]}]}}`)
	must(b.c.CreateItem(at("p"), []byte(`{"id":"a","pk":"p","email":"x"}`)))(t)
	b.clock.Advance(5 * time.Second)
	must(b.c.CreateItem(at("p"), []byte(`{"id":"b","pk":"p","email":"x"}`)))(t)
	if u := b.c.Usage(); u.Documents != 1 {
		t.Errorf("usage %+v", u)
	}
}
