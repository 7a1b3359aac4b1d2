package changefeed_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// A position that was stored before several splits and merges, and that another process goes on from, misses nothing: every
// document's last version comes, and the versions of a document in their order.
func TestWatchGoesOnFromOldPositions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newOldPositions(t, seed)
				w.write(20)
				for range 8 {
					w.watchSomewhere()
					w.write(w.random.IntN(10))
					for range w.random.IntN(5) {
						w.splitOrMerge()
						w.write(w.random.IntN(4))
					}
				}
				for _, p := range w.points {
					w.watchToTheEnd(p)
				}
			})
		})
	}
}

// oldPositions watches one container from positions that were stored at random.
type oldPositions struct {
	*testBundle
	random *rand.Rand
	n      int
	last   map[string]int // by document
	points []watchedUpTo
}

// watchedUpTo is a position, and what was seen up to it.
type watchedUpTo struct {
	position string
	seen     map[string]int
}

func newOldPositions(t *testing.T, seed uint64) *oldPositions {
	random := rand.New(rand.NewPCG(seed, 3))
	return &oldPositions{
		testBundle: setup(t, emulatortest.WithPartitions(1+random.IntN(5))), random: random,
		last: map[string]int{}, points: []watchedUpTo{{"", map[string]int{}}},
	}
}

func (w *oldPositions) write(many int) {
	for range many {
		w.n++
		tenant, id := fmt.Sprint("t", w.random.IntN(9)), fmt.Sprint("d", w.random.IntN(4))
		w.put(tenant, id, w.n)
		w.last[tenant+"/"+id] = w.n
	}
}

func (w *oldPositions) splitOrMerge() {
	ranges := w.emu.Ranges(database, monitored)
	if w.random.IntN(2) == 0 && len(ranges) > 1 {
		i := w.random.IntN(len(ranges) - 1)
		w.emu.Merge(database, monitored, ranges[i].ID, ranges[i+1].ID)
	} else if len(ranges) < 8 {
		w.emu.Split(database, monitored, ranges[w.random.IntN(len(ranges))].ID)
	}
}

// watch hands over what comes behind a position, until see reports false.
func (w *oldPositions) watch(items *azcosmos.ContainerClient, from watchedUpTo, pageSize int, see func(position string, seen map[string]int) bool) {
	w.t.Helper()
	ctx, end := context.WithTimeout(w.t.Context(), time.Minute)
	defer end()
	seen := maps.Clone(from.seen)
	for c, err := range changefeed.Watch(ctx, items, changefeed.WatchOptions{StartFrom: changefeed.Beginning(), Position: from.position, MaxItems: pageSize}) {
		if err != nil {
			w.t.Fatal(err)
		}
		var i item
		if err := c.Decode(&i); err != nil {
			w.t.Fatal(err)
		}
		key := i.Tenant + "/" + i.ID
		if i.N < seen[key] {
			w.t.Fatalf("%s came as %d after %d", key, i.N, seen[key])
		}
		seen[key] = i.N
		if !see(c.Position(), seen) {
			return
		}
	}
}

// watchSomewhere goes on from one of the positions for a while, in this or in another process, and stores some of those that come.
func (w *oldPositions) watchSomewhere() {
	items, left := w.items, w.random.IntN(40)
	if w.random.IntN(2) == 0 {
		items, _ = w.through(w.emu.Endpoint(), w.emu.Transport())
	}
	w.watch(items, w.points[w.random.IntN(len(w.points))], 1+w.random.IntN(4), func(position string, seen map[string]int) bool {
		if w.random.IntN(5) == 0 {
			w.points = append(w.points, watchedUpTo{position, maps.Clone(seen)})
		}
		if w.random.IntN(6) == 0 {
			w.splitOrMerge()
		}
		if w.random.IntN(4) == 0 {
			w.write(1)
		}
		left--
		return left > 0
	})
}

func (w *oldPositions) watchToTheEnd(from watchedUpTo) {
	w.t.Helper()
	complete := false
	w.watch(w.items, from, 0, func(_ string, seen map[string]int) bool {
		complete = done(seen, w.last)
		return !complete
	})
	if !complete && !done(from.seen, w.last) {
		w.t.Fatalf("not all came behind a position with %d documents seen", len(from.seen))
	}
}
