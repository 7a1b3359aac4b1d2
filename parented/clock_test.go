package parented_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A processClock makes the clock of a process out of the service's.
type processClock func(service *emulator.Clock) func() time.Time

func offBy(d time.Duration) processClock {
	return func(service *emulator.Clock) func() time.Time {
		return func() time.Time { return service.Now().Add(d) }
	}
}

// standing is a clock that shows one time.
func standing(service *emulator.Clock) func() time.Time {
	at := service.Now()
	return func() time.Time { return at }
}

// jumping is a clock that goes two days on with each look, and back with the next.
func jumping(service *emulator.Clock) func() time.Time {
	var looks atomic.Int64
	return func() time.Time {
		return service.Now().Add(time.Duration(looks.Add(1)%2*2-1) * 24 * time.Hour)
	}
}

const (
	day        = 24 * time.Hour
	restorable = day - time.Minute
	// inBetween is when the last descendant of a tree that was kept for a day has to be there only if the
	// document above is there too.
	inBetween = day + 2*time.Hour
)

// clocksOfTwo are the clocks of the process that begins a delete and of the one that ends it.
var clocksOfTwo = map[string][2]processClock{
	"right":                  {offBy(0), offBy(0)},
	"the second a day ahead": {offBy(0), offBy(day)},
	"the first a day ahead":  {offBy(day), offBy(0)},
	"two days apart":         {offBy(-day), offBy(day)},
	"standing":               {standing, standing},
	"jumping":                {jumping, jumping},
}

// A tree can be restored for as long as was said, and never in part: by the service's clock, whatever those of
// the processes say that begin its delete and end it.
func TestATreeIsKeptByTheServicesClock(t *testing.T) {
	t.Parallel()
	const late = 20 * time.Hour
	for name, clocks := range clocksOfTwo {
		for _, then := range []time.Duration{restorable, inBetween} {
			t.Run(fmt.Sprintf("%s, restored after %v", name, then), func(t *testing.T) {
				t.Parallel()
				e := processes(t)
				first := planting{client: e.Client(nil), note: parented.Policy{Retain: day}, config: parented.ForestConfig{PageSize: 2, Now: clocks[0](e.Clock())}}
				second := first
				second.config.Now = clocks[1](e.Clock())
				g := plant(t, second)
				for n := firstOwnRequest; ; n++ {
					note := g.tree(t, "acme", 1, 1)
					ended := dyingAt(t, e, first, n, true, func(ctx context.Context, g grove) error { return g.notes.In("acme").Delete(ctx, note.ID, nil) })
					e.Clock().Advance(late)
					_, err := g.forest.Resume(t.Context(), "acme")
					must(t, err)
					e.Clock().Advance(then - late)
					g.restoreWhole(t, fmt.Sprint("dead at request ", n), note, 3, then == restorable)
					e.Clock().Advance(5 * day)
					if got := g.stored(t, "acme"); len(got) != 0 {
						t.Fatalf("dead at request %d: five days later there is %v", n, got)
					}
					if ended {
						break
					}
				}
			})
		}
	}
}

// restoreWhole restores a note with that many documents in all, which must all be there or none, and takes them
// away again.
func (g grove) restoreWhole(t *testing.T, when string, note *Note, documents int64, must bool) {
	t.Helper()
	ctx := t.Context()
	err := g.notes.In("acme").Restore(ctx, note.ID)
	switch got := g.visible(t, "acme"); {
	case err == nil || errors.Is(err, repository.ErrConflict): // it died before it began
		if got != documents {
			t.Fatalf("%s: %d of %d documents came back", when, got, documents)
		}
	case must || !errors.Is(err, repository.ErrNotFound) || got != 0:
		t.Fatalf("%s: %v; %d documents are visible", when, err, got)
	}
	if err := g.notes.In("acme").Delete(ctx, note.ID, nil); err != nil {
		mustBe(t, err, repository.ErrNotFound)
	}
}

// A delete takes hours between two of its requests, because its process is stopped or the tree is large. What it
// hid first does not expire before the tree can no longer be restored.
func TestADeleteThatTakesHoursIsKeptAsAWhole(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it turns the clock between requests")
	for name, clock := range map[string]processClock{"right": offBy(0), "standing": standing, "jumping": jumping} {
		for _, then := range []time.Duration{restorable, inBetween} {
			t.Run(fmt.Sprintf("%s, restored after %v", name, then), func(t *testing.T) {
				t.Parallel()
				const hours = 3 * time.Hour
				e := processes(t)
				p := planting{client: e.Client(nil), note: parented.Policy{Retain: day}, config: parented.ForestConfig{PageSize: 2, Now: clock(e.Clock())}}
				g := plant(t, p)
				for n := int32(1); ; n++ {
					note := g.tree(t, "acme", 1, 1)
					stops := &stopAt{n: n, call: func() { e.Clock().Advance(hours) }}
					database, err := stops.client(e).NewDatabase(g.database.ID())
					must(t, err)
					must(t, open(t, database, p).notes.In("acme").Delete(t.Context(), note.ID, nil))
					e.Clock().Advance(then - hours)
					g.restoreWhole(t, fmt.Sprint("stopped before request ", n), note, 3, then == restorable)
					e.Clock().Advance(5 * day)
					if stops.seen.Load() < n {
						break
					}
				}
			})
		}
	}
}

// withoutDate is a connection that takes the service's time out of its answers.
type withoutDate struct{}

func (withoutDate) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	if err == nil {
		resp.Header.Del("Date")
	}
	return resp, err
}

// Where nobody says what time it is, a tree is kept from when its delete ended.
func TestATreeIsKeptWhereTheServiceDoesNotSayItsTime(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it changes answers")
	for name, clock := range map[string]processClock{"a day ahead": offBy(day), "standing": standing, "jumping": jumping} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := processes(t)
			p := planting{client: e.Client(nil), note: parented.Policy{Retain: day}, config: parented.ForestConfig{Now: clock(e.Clock())}}
			g := plant(t, p)
			note := g.tree(t, "acme", 1, 1)
			database, err := clientOf(e, withoutDate{}).NewDatabase(g.database.ID())
			must(t, err)
			must(t, open(t, database, p).notes.In("acme").Delete(t.Context(), note.ID, nil))
			e.Clock().Advance(restorable)
			g.restoreWhole(t, "after a day", note, 3, true)
		})
	}
}

// A restore that is refused, because the parent is deleted meanwhile, neither prolongs nor shortens the time for
// which a child is kept.
func TestARefusedRestoreChangesNoRetention(t *testing.T) {
	t.Parallel()
	for name, clocks := range clocksOfTwo {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t)
			p := planting{client: e.Client(nil), label: parented.Policy{Retain: day}, config: parented.ForestConfig{Now: clocks[0](e.Clock())}}
			g := plant(t, p)
			note, label := g.tree(t, "acme", 0, 0), &Label{}
			must(t, g.labels.Under(note).Create(ctx, label))
			must(t, g.labels.Under(note).Delete(ctx, label.ID, nil))

			const late = 20 * time.Hour
			e.Clock().Advance(late)
			p.config.Now = clocks[1](e.Clock())
			deleted := &beforeBatch{after: 0, do: func() { must(t, g.notes.In("acme").Delete(ctx, note.ID, nil)) }}
			dyingAt(t, e, p, never, false, func(ctx context.Context, g grove) error {
				err := g.labels.In("acme").Restore(context.WithValue(ctx, lateKey{}, deleted), label.ID)
				mustBe(t, err, repository.ErrDanglingRef)
				return err
			})
			e.Clock().Advance(restorable - late)
			if got := g.stored(t, "acme")["Label"]; got != 1 {
				t.Errorf("a minute before its time the label is gone")
			}
			e.Clock().Advance(2 * time.Minute)
			if got := g.stored(t, "acme")["Label"]; got != 0 {
				t.Errorf("a minute after its time the label is there")
			}
		})
	}
}

// A document whose tombstone is kept for longer can be restored for longer, and with all that was deleted with it.
func TestATombstoneThatIsKeptForLongerKeepsTheTree(t *testing.T) {
	t.Parallel()
	e := processes(t)
	g := plant(t, planting{client: e.Client(nil), note: parented.Policy{Retain: day, Tombstone: 3 * day}})
	note := g.tree(t, "acme", 1, 1)
	must(t, g.notes.In("acme").Delete(t.Context(), note.ID, nil))
	e.Clock().Advance(3*day - time.Minute)
	g.restoreWhole(t, "after three days", note, 3, true)
}

// A sweep leaves a child alone that was written less than MinAge ago, and takes one that is older, by the service's
// clock.
func TestASweepGoesByTheServicesClock(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]processClock{"right": offBy(0), "a day ahead": offBy(day), "a day behind": offBy(-day), "standing": standing, "jumping": jumping} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t)
			g := plant(t, planting{client: e.Client(nil), config: parented.ForestConfig{Now: clock(e.Clock())}})
			note := g.tree(t, "acme", 2, 0)
			container, err := g.database.NewContainer("items")
			must(t, err)
			_, err = container.DeleteItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Note"), note.ID, nil)
			must(t, err)
			sweep := func(age time.Duration, want int64) {
				t.Helper()
				swept, err := g.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: age, Keep: true})
				if must(t, err); swept["Comment"] != want {
					t.Errorf("%d comments were found that are older than %v, want %d", swept["Comment"], age, want)
				}
			}
			e.Clock().Advance(time.Hour)
			sweep(0, 2) // a minute
			sweep(59*time.Minute, 2)
			sweep(61*time.Minute, 0)
			c := g.comments.In("acme")
			some, err := c.First(ctx, repository.All())
			must(t, err)
			_, err = c.Patch(ctx, some.ID, repository.Set("/body", "new"))
			must(t, err)
			sweep(0, 1)
			sweep(-time.Hour, 2)
		})
	}
}
