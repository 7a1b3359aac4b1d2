package emulator

import "testing"

func TestLogKeepsTheLatest(t *testing.T) {
	t.Parallel()
	l := newLog(3)
	var mark int
	for i := range 7 {
		if i == 5 {
			mark = l.Mark()
		}
		l.record(Exchange{Operation: ReadItem, Status: i})
	}
	l.record(Exchange{Operation: CreateItem, Status: 7})
	for _, c := range []struct {
		name string
		got  []Exchange
		want []int
	}{
		{"all", l.All(), []int{5, 6, 7}},
		{"since a mark", l.Since(mark), []int{5, 6, 7}},
		{"since the last", l.Since(7), []int{7}},
		{"since now", l.Since(l.Mark()), nil},
		{"since a time to come", l.Since(99), nil},
	} {
		if len(c.got) != len(c.want) {
			t.Errorf("%s: %d entries, want %d", c.name, len(c.got), len(c.want))
			continue
		}
		for i, e := range c.got {
			if e.Status != c.want[i] {
				t.Errorf("%s: entry %d is %d, want %d", c.name, i, e.Status, c.want[i])
			}
		}
	}
	if l.Count() != 8 || l.Count(ReadItem) != 7 || l.Count(ReadItem, CreateItem) != 8 || l.Count(DeleteItem) != 0 {
		t.Errorf("counts %d %d %d", l.Count(), l.Count(ReadItem), l.Count(DeleteItem))
	}
}
