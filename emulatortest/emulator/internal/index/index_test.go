package index_test

import (
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// TestRangesHold checks ranges against values in the order of an index.
func TestRangesHold(t *testing.T) {
	t.Parallel()
	number, text := value.FromNumber, value.FromString
	all := []value.Value{
		{}, value.NullValue(), value.FromBool(false), value.FromBool(true), number(-1), number(0), number(2), text(""), text("a"), text("ab"),
		text("abc"), text("b"), text("\U0001F600"), text("\uE000"), value.FromArray(nil), value.FromArray([]value.Value{number(1)}), value.FromObject(nil),
	}
	if !slices.IsSortedFunc(all, index.Compare) {
		t.Fatal("the values are not in the order of an index")
	}
	for name, c := range map[string]struct {
		r    index.Range
		held []int // places in all
	}{
		"equal":            {index.Equal(number(0)), []int{5}},
		"equal to nothing": {index.Equal(number(1)), nil},
		"an array":         {index.Equal(value.FromArray([]value.Value{number(7)})), []int{14, 15}},
		"undefined":        {index.Equal(value.Value{}), []int{0}},
		"a kind":           {index.OfKind(value.Bool), []int{2, 3}},
		"above":            {index.Above(number(0), false), []int{6}},
		"above or equal":   {index.Above(number(0), true), []int{5, 6}},
		"under":            {index.Under(text("ab"), false), []int{7, 8}},
		"under or equal":   {index.Under(text("ab"), true), []int{7, 8, 9}},
		"a prefix":         {index.Prefix("ab"), []int{9, 10}},
		"an odd prefix":    {index.Prefix("\U0001F600"), []int{12}},
	} {
		for i, v := range all {
			if got, want := c.r.Holds(v), slices.Contains(c.held, i); got != want {
				t.Errorf("%s holds %v: %v, want %v", name, v, got, want)
			}
		}
		if from, to := slices.IndexFunc(all, c.r.Holds), len(c.held); to > 0 && from != c.held[0] {
			t.Errorf("%s begins at %d, want %d", name, from, c.held[0])
		}
	}
	if _, ok := index.Above(number(0), true).Point(); ok {
		t.Error("a range of many is a point")
	}
	if v, ok := index.Equal(text("a")).Point(); !ok || !value.Equal(v, text("a")) {
		t.Errorf("the point of an equality is %v, %v", v, ok)
	}
}

func TestOrdersServeTheirOpposite(t *testing.T) {
	t.Parallel()
	up := index.Order{{Path: index.Path{"a"}}, {Path: index.Path{"b"}, Descending: true}}
	down := index.Order{{Path: index.Path{"a"}, Descending: true}, {Path: index.Path{"b"}}}
	both := index.Order{{Path: index.Path{"a"}}, {Path: index.Path{"b"}}}
	if up.Name() != down.Name() || up.Name() == both.Name() {
		t.Errorf("%q %q %q", up.Name(), down.Name(), both.Name())
	}
	if a, b := index.By(index.Path{"a/b"}).Name(), index.By(index.Path{"a", "b"}).Name(); a == b {
		t.Errorf("two paths are both named %q", a)
	}
}
