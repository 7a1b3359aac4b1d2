package emulatortest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// witness is a testing.TB that only remembers what an assertion said.
type witness struct {
	testing.TB
	said []string
}

func (w *witness) Helper()                      {}
func (w *witness) Error(args ...any)            { w.said = append(w.said, fmt.Sprint(args...)) }
func (w *witness) Errorf(f string, args ...any) { w.said = append(w.said, fmt.Sprintf(f, args...)) }

func TestAssertions(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, emulatortest.WithPartitions(2))
	items := newContainer(t, e.Client(nil), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
	read := func(ctx context.Context) {
		if _, err := items.ReadItem(ctx, pk("a"), "1", nil); err != nil {
			t.Error(err)
		}
	}
	query := func(levels ...string) func(ctx context.Context) {
		return func(ctx context.Context) {
			pager := items.NewQueryItemsPager("SELECT * FROM c", pk(levels...), nil)
			if _, err := pager.NextPage(ctx); err != nil {
				t.Error(err)
			}
		}
	}
	idle := func(context.Context) {}
	twice := func(ctx context.Context) { read(ctx); read(ctx) }
	underLoad := func(ctx context.Context) {
		var others sync.WaitGroup
		others.Go(func() { query()(t.Context()) }) // somebody else's
		read(ctx)
		others.Wait()
	}
	within := func(ctx context.Context) {
		var own sync.WaitGroup
		own.Go(func() { read(ctx) })
		own.Wait()
		read(ctx)
	}
	operations := func(ops ...emulator.Operation) []emulator.Operation { return ops }
	cases := []struct {
		name   string
		assert func(testing.TB)
		says   string // empty when the assertion holds
	}{
		{"a point read is one", func(w testing.TB) { emulatortest.AssertPointRead(w, e, read) }, ""},
		{"while another goroutine queries", func(w testing.TB) { emulatortest.AssertPointRead(w, e, underLoad) }, ""},
		{"two are not", func(w testing.TB) { emulatortest.AssertPointRead(w, e, twice) }, "(GetMany)"},
		{"nor is one of a goroutine that f starts", func(w testing.TB) { emulatortest.AssertPointRead(w, e, within) }, "read item db/items/1: 200, 1.00 RU"},
		{"a query is none", func(w testing.TB) { emulatortest.AssertPointRead(w, e, query("a")) }, "by its id and full partition key"},
		{"nothing is none", func(w testing.TB) { emulatortest.AssertPointRead(w, e, idle) }, "no request"},
		{"a query with its key", func(w testing.TB) { emulatortest.AssertSinglePartition(w, e, query("a")) }, ""},
		{"a query without a key", func(w testing.TB) { emulatortest.AssertSinglePartition(w, e, query()) }, "more than one logical partition"},
		{"no request at all", func(w testing.TB) { emulatortest.AssertSinglePartition(w, e, idle) }, "pass the context"},
		{"one physical partition", func(w testing.TB) { emulatortest.AssertNoFanOut(w, e, query("a")) }, ""},
		{"all physical partitions", func(w testing.TB) { emulatortest.AssertNoFanOut(w, e, query()) }, "visited 2 physical partitions"},
		{"cheap enough", func(w testing.TB) { emulatortest.AssertRequestUnits(w, e, 1, read) }, ""},
		{"too dear", func(w testing.TB) { emulatortest.AssertRequestUnits(w, e, 0.5, read) }, "want at most 0.50 request units"},
		{"these requests", func(w testing.TB) {
			emulatortest.AssertRequests(w, e, operations(emulator.ReadItem, emulator.ReadItem), twice)
		}, ""},
		{"one too many", func(w testing.TB) { emulatortest.AssertRequests(w, e, operations(emulator.ReadItem), twice) }, "  + read item"},
		{"one missing, another in its place", func(w testing.TB) {
			emulatortest.AssertRequests(w, e, operations(emulator.QueryItems, emulator.ReadItem), twice)
		}, "  - query items"},
	}
	for _, c := range cases {
		w := &witness{TB: t}
		c.assert(w)
		said := strings.Join(w.said, "\n")
		if (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: said %q, want %q", c.name, said, c.says)
		}
	}
}

// The cost of f is the same whoever else is at work, and a second request in f is always noticed.
func TestAssertionsCountOnlyWhatBelongsToThem(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	others.Go(func() { // a keeper at work
		for ctx.Err() == nil {
			_, _ = items.NewQueryItemsPager("SELECT * FROM c", pk(), nil).NextPage(ctx) // it is stopped in the middle of one
		}
	})
	defer others.Wait()
	defer stop()
	for range 300 {
		emulatortest.AssertPointRead(t, e, func(ctx context.Context) {
			if _, err := items.ReadItem(ctx, pk("a"), "1", nil); err != nil {
				t.Error(err)
			}
		})
		w := &witness{TB: t}
		emulatortest.AssertPointRead(w, e, func(ctx context.Context) {
			_, err := items.ReadItem(ctx, pk("a"), "1", nil)
			if err == nil {
				_, err = items.NewQueryItemsPager("SELECT * FROM c", pk("a"), nil).NextPage(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		})
		if len(w.said) != 1 {
			t.Fatalf("a second request was not noticed: %q", w.said)
		}
	}
}
