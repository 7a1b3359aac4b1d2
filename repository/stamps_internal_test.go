package repository

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestStampsNeverDecideWrongly plays random histories of one document, some of
// whose writers lose their answers, and compares every verdict with the truth.
func TestStampsNeverDecideWrongly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var now *stored
		writes := 0
		number := map[int]int{}
		stamp := func() (writer int, s string) {
			w := rapid.IntRange(0, 120).Draw(t, "writer")
			number[w]++
			return w, fmt.Sprintf("w%d:%d", w, number[w])
		}
		store := func(stamps []string, patch string) {
			writes++
			now = &stored{ETag: fmt.Sprint("e", writes), Stamps: stamps, Stamp: patch}
		}
		// lost are the writes whose answers did not come.
		type lost struct {
			writer  int
			stamp   string
			on      basis
			applied bool
			blind   int // the overwriting writes so far
		}
		var open []lost
		overwrites := 0
		for range rapid.IntRange(1, 150).Draw(t, "writes") {
			w, s := stamp()
			happens := rapid.Bool().Draw(t, "takes effect")
			// A writer settles one write before it begins the next: see turns.
			open = slices.DeleteFunc(open, func(l lost) bool { return l.writer == w })
			l := lost{writer: w, stamp: s, applied: happens}
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case now == nil:
				l.on = basis{absent: true}
				if happens {
					store([]string{createdRoot + s}, "")
				}
			case kind == 0:
				l.on = basis{etag: now.ETag}
				if happens {
					overwrites++
					store([]string{overwrittenRoot + s}, "")
				}
			case kind == 1:
				continue // a patch by somebody: it takes the place of the last patch's mark
			default:
				before := *now
				l.on = basis{etag: now.ETag, before: &before}
				if happens {
					store(now.stampsOver(s), "")
				}
			}
			l.blind = overwrites
			open = append(open, l)
			for _, l := range open {
				switch o := l.on.judge(now, l.stamp); {
				case o == applied && !l.applied, o == notApplied && l.applied && now != nil && l.blind == overwrites:
					t.Fatalf("verdict %d about %s, applied %t", o, l.stamp, l.applied)
				case o == notApplied && l.applied && !l.on.absent:
					t.Fatalf("verdict %d about %s, which was applied and overwritten", o, l.stamp)
				}
			}
			if len(open) > 20 {
				open = open[1:]
			}
		}
	})
}
