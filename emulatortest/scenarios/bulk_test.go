package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Line is a document whose logical partition is its section, so that a bulk of several sections is several batches.
type Line struct {
	tenantitem.TenantItem[Line]
	Section string `json:"section"`
	Count   int64  `json:"count"`
}

const (
	sections = 3
	perEach  = 2
	lines    = sections * perEach
)

// linesOf is the lines as a process of its own sees them. All processes sign with one key, as a resumed run needs.
func linesOf(w *emulatortest.World) *repository.Repository[Line] {
	all, err := repository.New[Line](containerOf(w, "lines"), repository.Config{
		PartitionKey: []string{"/tenantId", "/section"}, CursorKey: []byte("0123456789abcdef"), Layout: emulatortest.State[form](w).layout,
	})
	must(w, err)
	return all
}

func line(i int, count int64) *Line {
	l := &Line{Section: fmt.Sprint("s", i%sections), Count: count}
	l.ID = fmt.Sprint("l", i)
	return l
}

// setupLines leaves every second line, with a count of 10.
func setupLines(w *emulatortest.World) {
	createContainer(w, "lines", azcosmos.ContainerProperties{}, "/tenantId", "/section")
	all := linesOf(w)
	for i := 0; i < lines; i += 2 {
		l := line(i, 10)
		must(w, all.In("acme", l.Section).Create(w.Context(), l))
		emulatortest.State[bulkRun](w).etags[i] = l.ETag
	}
}

// bulkRun is what the processes of a run keep outside of themselves.
type bulkRun struct {
	etags   [lines]string // as Setup stored them
	resume  string        // of the last progress
	receipt *repository.Receipt
	err     error
	resumed *repository.Receipt // of the run that goes on to the end
}

// input is what every run of the bulk is given: every second line is new, the others get one more.
func (r *bulkRun) input() []*Line {
	all := make([]*Line, lines)
	for i := range all {
		all[i] = line(i, 11)
		all[i].ETag = r.etags[i]
	}
	return all
}

func (r *bulkRun) save(ctx context.Context, all *repository.Repository[Line]) (*repository.Receipt, error) {
	return all.In("acme").SaveAll(ctx, slices.Values(r.input()), &repository.BulkOptions{
		Concurrency: 1, Resume: r.resume, Progress: func(p repository.Receipt) { r.resume = p.Resume },
	})
}

// stored is the count of each line that is there, by its index.
func stored(w *emulatortest.World) ([lines]int64, error) {
	var counts [lines]int64
	for l, err := range linesOf(w).In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return counts, err
		}
		var i int
		if _, err := fmt.Sscanf(l.ID, "l%d", &i); err != nil || i >= lines {
			return counts, fmt.Errorf("a line %q, which no run was given", l.ID)
		}
		counts[i] = l.Count
	}
	return counts, nil
}

// TestReceiptsAreTrue: what SaveAll says of an item is true at the end: succeeded is stored, failed and unsent are unchanged.
func TestReceiptsAreTrue(t *testing.T) {
	t.Parallel()
	explore(t, trueReceipt())
}

// trueReceipt compares a receipt with what is there.
func trueReceipt() emulatortest.Scenario {
	return emulatortest.Scenario{
		Setup: setupLines,
		Actors: []emulatortest.Actor{{Name: "caller", Do: func(w *emulatortest.World) error {
			run := emulatortest.State[bulkRun](w)
			run.receipt, run.err = run.save(w.Context(), linesOf(w))
			return run.err
		}}},
		Check: func(w *emulatortest.World) error {
			now, err := stored(w)
			if err != nil {
				return err
			}
			run := emulatortest.State[bulkRun](w)
			if errors.Is(w.Outcome("caller"), emulatortest.ErrKilled) {
				return nil
			}
			return checkReceipt(run, now, func(i int) (before, after int64) {
				if run.etags[i] != "" {
					before = 10
				}
				return before, 11
			})
		},
	}
}

// checkReceipt compares a receipt with what is there; of says what an item was before and is after its success.
func checkReceipt(run *bulkRun, now [lines]int64, of func(i int) (before, after int64)) error {
	var counted [4]int
	for _, item := range run.receipt.Items {
		counted[item.Status]++
		before, after := of(item.Index)
		got := now[item.Index]
		wrong := got != before && got != after
		switch item.Status {
		case repository.Succeeded:
			wrong = got != after || item.Err != nil
		case repository.Failed, repository.Unsent:
			wrong = got != before || item.Status == repository.Failed && (item.Err == nil || errors.Is(item.Err, repository.ErrAmbiguous))
		case repository.Unknown:
		}
		if wrong {
			return fmt.Errorf("the receipt says %v of item %d (%w), which was %d and is %d", item.Status, item.Index, item.Err, before, got)
		}
	}
	r := run.receipt
	if counted != [4]int{r.Unsent, r.Succeeded, r.Failed, r.Unknown} || r.Skipped+len(r.Items) != lines {
		return fmt.Errorf("the receipt counts %d succeeded, %d failed, %d unknown, %d unsent of %d", r.Succeeded, r.Failed, r.Unknown, r.Unsent, len(r.Items))
	}
	if (run.err == nil) != (r.Succeeded == len(r.Items)) {
		return fmt.Errorf("the error is %w, and %d of %d items succeeded", run.err, r.Succeeded, len(r.Items))
	}
	return nil
}

// saveLines begins a bulk, and resumeLines goes on where it stopped.
func saveLines(w *emulatortest.World) error {
	run := emulatortest.State[bulkRun](w)
	_, err := run.save(w.Context(), linesOf(w))
	return err
}

func resumeLines(w *emulatortest.World) {
	run := emulatortest.State[bulkRun](w)
	run.resumed, run.err = run.save(w.Context(), linesOf(w))
}

// TestAResumedBulkStoresAllOnce: a bulk that a process began, killed at any request or failing there, is finished by another one from the last
// progress that was kept: every item is there once, and the second receipt says so.
func TestAResumedBulkStoresAllOnce(t *testing.T) {
	t.Parallel()
	explore(t, emulatortest.Scenario{
		Setup:  setupLines,
		Actors: []emulatortest.Actor{{Name: "caller", Do: saveLines}},
		Then:   resumeLines,
		Check: func(w *emulatortest.World) error {
			now, err := stored(w)
			if err != nil {
				return err
			}
			run := emulatortest.State[bulkRun](w)
			if run.err != nil {
				return fmt.Errorf("the resumed run failed: %w", run.err)
			}
			for i, count := range now {
				if count != 11 {
					return fmt.Errorf("item %d is %d after the resumed run", i, count)
				}
			}
			if run.resumed.Skipped+run.resumed.Succeeded != lines {
				return fmt.Errorf("%d items were passed over and %d succeeded, of %d", run.resumed.Skipped, run.resumed.Succeeded, lines)
			}
			return nil
		},
	})
}

// TestDeleteAllIsTrue: what DeleteAll says of an id is true at the end, and a run that is resumed by another process leaves none of them.
func TestDeleteAllIsTrue(t *testing.T) {
	t.Parallel()
	t.Run("receipt", func(t *testing.T) {
		t.Parallel()
		explore(t, trueDeleteAll())
	})
	t.Run("resumed", func(t *testing.T) {
		t.Parallel()
		exploreWith(t, resumedDeleteAll(), map[string]func(w *emulatortest.World){"the second run is given another token": func(w *emulatortest.World) {
			emulatortest.State[bulkRun](w).resume = "of another run"
		}})
	})
}

func setupDeleted(w *emulatortest.World) {
	createContainer(w, "lines", azcosmos.ContainerProperties{}, "/tenantId", "/section")
	for _, i := range []int{0, 3} { // one section
		must(w, linesOf(w).In("acme", "s0").Create(w.Context(), line(i, 10)))
	}
}

func deleteLines(w *emulatortest.World) (*repository.Receipt, error) {
	run := emulatortest.State[bulkRun](w)
	return linesOf(w).In("acme", "s0").DeleteAll(w.Context(), slices.Values([]string{"l0", "l3"}), &repository.BulkOptions{
		Concurrency: 1, Resume: run.resume, Progress: func(p repository.Receipt) { run.resume = p.Resume },
	})
}

func deleter() emulatortest.Actor {
	return emulatortest.Actor{Name: "caller", Do: func(w *emulatortest.World) error {
		run := emulatortest.State[bulkRun](w)
		run.receipt, run.err = deleteLines(w)
		return run.err
	}}
}

// trueDeleteAll compares the receipt of a DeleteAll with what is there.
func trueDeleteAll() emulatortest.Scenario {
	return emulatortest.Scenario{Setup: setupDeleted, Actors: []emulatortest.Actor{deleter()}, Check: func(w *emulatortest.World) error {
		if errors.Is(w.Outcome("caller"), emulatortest.ErrKilled) {
			return nil
		}
		now, err := stored(w)
		if err != nil {
			return err
		}
		for _, item := range emulatortest.State[bulkRun](w).receipt.Items {
			there := now[3*item.Index] != 0
			if item.Status == repository.Succeeded && there || (item.Status == repository.Failed || item.Status == repository.Unsent) && !there {
				return fmt.Errorf("the receipt says %v of %s (%w), which is there: %v", item.Status, item.ID, item.Err, there)
			}
		}
		return nil
	}}
}

// resumedDeleteAll has a second run leave nothing, and say so.
func resumedDeleteAll() emulatortest.Scenario {
	return emulatortest.Scenario{
		Setup: setupDeleted, Actors: []emulatortest.Actor{deleter()},
		Then: func(w *emulatortest.World) {
			run := emulatortest.State[bulkRun](w)
			run.resumed, run.err = deleteLines(w)
		},
		Check: func(w *emulatortest.World) error {
			now, err := stored(w)
			if err != nil {
				return err
			}
			if run := emulatortest.State[bulkRun](w); run.err != nil || now[0]+now[3] != 0 {
				return fmt.Errorf("the resumed run returned %w and left %v", run.err, now)
			}
			return nil
		},
	}
}
