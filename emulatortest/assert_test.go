package emulatortest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
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
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
	read := func() {
		if _, err := items.ReadItem(t.Context(), pk("a"), "1", nil); err != nil {
			t.Error(err)
		}
	}
	query := func(levels ...string) func() {
		return func() {
			pager := items.NewQueryItemsPager("SELECT * FROM c", pk(levels...), nil)
			if _, err := pager.NextPage(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	cases := []struct {
		name   string
		assert func(testing.TB)
		says   string // empty when the assertion holds
	}{
		{"a point read is one", func(w testing.TB) { emulatortest.AssertPointRead(w, e, read) }, ""},
		{"two are not", func(w testing.TB) { emulatortest.AssertPointRead(w, e, func() { read(); read() }) }, "read item, read item"},
		{"a query is none", func(w testing.TB) { emulatortest.AssertPointRead(w, e, query("a")) }, "query items"},
		{"nothing is none", func(w testing.TB) { emulatortest.AssertPointRead(w, e, func() {}) }, "no request"},
		{"a query with its key", func(w testing.TB) { emulatortest.AssertSinglePartition(w, e, query("a")) }, ""},
		{"a query without a key", func(w testing.TB) { emulatortest.AssertSinglePartition(w, e, query()) }, "more than one logical partition"},
		{"no request at all", func(w testing.TB) { emulatortest.AssertSinglePartition(w, e, func() {}) }, "no request at all"},
		{"cheap enough", func(w testing.TB) { emulatortest.AssertRequestUnits(w, e, 1, read) }, ""},
		{"too dear", func(w testing.TB) { emulatortest.AssertRequestUnits(w, e, 0.5, read) }, "want at most 0.50 request units"},
	}
	for _, c := range cases { // one after the other: they share the log
		w := &witness{TB: t}
		c.assert(w)
		said := strings.Join(w.said, "\n")
		if (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: said %q, want %q", c.name, said, c.says)
		}
	}
}
