package repository_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

// oneInFive makes every fifth request fail, in all the ways that matter to a
// write: refused, unanswered before it took effect, unanswered after.
func oneInFive(b *noteBundle) {
	kinds := []emulator.Fault{
		emulator.Answer(http.StatusTooManyRequests, 3200),
		emulator.Answer(449, 0),
		emulator.Answer(http.StatusServiceUnavailable, 0),
		emulator.Answer(http.StatusServiceUnavailable, 0).AfterEffect(),
		emulator.Answer(http.StatusRequestTimeout, 0),
		emulator.Answer(http.StatusRequestTimeout, 0).AfterEffect(),
		emulator.Cut(),
		emulator.Cut().AfterEffect(),
	}
	for i, kind := range kinds {
		b.emulator.Fault(kind.Probability(0.2/float64(len(kinds)), uint64(i)+1).Keep())
	}
}

func TestMutateCountsExactlyUnderFaults(t *testing.T) {
	t.Parallel()
	const writers, times = 64, 50
	for name, processes := range map[string]int{"in one process": 1, "in a process for each writer": writers} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
			synctest.Test(t, func(t *testing.T) {
				b := setupNotes(t)
				note := &Note{Title: "counter"}
				must(t, b.acme.Create(t.Context(), note))
				scopes := make([]*repository.Scope[Note], processes)
				for i := range scopes {
					scopes[i] = newRepository(t, b.container, repository.Config{}).In("acme")
				}
				oneInFive(b)
				var done sync.WaitGroup
				for w := range writers {
					done.Go(func() {
						for range times {
							_, err := scopes[w%processes].Mutate(t.Context(), note.ID, func(n *Note) error { n.Count++; return nil })
							if err != nil {
								t.Errorf("writer %d: %v", w, err)
								return
							}
						}
					})
				}
				done.Wait()
				b.emulator.Faults().Clear()
				got, err := b.acme.Get(t.Context(), note.ID)
				must(t, err)
				if got.Count != writers*times {
					t.Errorf("the counter is %d", got.Count)
				}
			})
		})
	}
}

func TestSaveAllIsTrueUnderFaults(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
	synctest.Test(t, func(t *testing.T) {
		b := setupNotes(t)
		oneInFive(b)
		input := notesFrom(4_000)
		items := make([]repository.ItemReceipt, len(input))
		untilKnown(t, items, func(opts *repository.BulkOptions) (*repository.Receipt, error) {
			return b.acme.SaveAll(t.Context(), slices.Values(input), opts)
		})
		b.emulator.Faults().Clear()
		compareWithReceipt(t, b, input, items)

		for _, n := range input[:2000] {
			n.Count++
		}
		oneInFive(b)
		receipt, err := b.acme.SaveAll(t.Context(), slices.Values(input[:2000]), nil)
		must(t, err) // replacements are bound to etags, so that nothing stays unknown
		if receipt.Succeeded != 2000 {
			t.Fatalf("%d replaced", receipt.Succeeded)
		}
		var ids []string
		for _, n := range input[2000:] {
			ids = append(ids, n.ID)
		}
		untilKnown(t, make([]repository.ItemReceipt, len(ids)), func(opts *repository.BulkOptions) (*repository.Receipt, error) {
			return b.acme.DeleteAll(t.Context(), slices.Values(ids), opts)
		})
		b.emulator.Faults().Clear()
		left := 0
		for n, err := range b.acme.Query(t.Context(), repository.All()) {
			must(t, err)
			left++
			if n.Count != 1 {
				t.Fatalf("%s has count %d", n.Title, n.Count)
			}
		}
		if left != 2000 {
			t.Errorf("%d are left", left)
		}
	})
}

// compareWithReceipt checks that exactly what the receipt calls stored is
// stored, once, with the etag of the receipt.
func compareWithReceipt(t *testing.T, b *noteBundle, input []*Note, items []repository.ItemReceipt) {
	t.Helper()
	stored := map[string]*Note{}
	for n, err := range b.acme.Query(t.Context(), repository.All()) {
		must(t, err)
		stored[n.ID] = n
	}
	for i, item := range items {
		got := stored[item.ID]
		if got == nil || got.ETag != item.ETag || got.Title != input[i].Title || input[i].ETag != item.ETag {
			t.Fatalf("item %d: receipt %+v, stored %+v", i, item, got)
		}
	}
	if len(stored) != len(items) {
		t.Fatalf("%d stored, %d receipts", len(stored), len(items))
	}
}

// untilKnown resumes a bulk until nothing is unknown, and puts what became
// of every item into items.
func untilKnown(t *testing.T, items []repository.ItemReceipt, run func(*repository.BulkOptions) (*repository.Receipt, error)) {
	t.Helper()
	var opts repository.BulkOptions
	for range 100 {
		receipt, err := run(&opts)
		if receipt == nil {
			t.Fatal(err)
		}
		if receipt.Failed > 0 {
			t.Fatalf("%d failed: %v", receipt.Failed, err)
		}
		for _, item := range receipt.Items {
			items[item.Index] = item
		}
		if err == nil {
			return
		}
		opts.Resume = receipt.Resume
	}
	t.Fatal("it does not come to an end")
}

// losses are the ways in which a write is left without an answer.
var losses = []struct {
	name    string
	fault   emulator.Fault
	applied bool
}{
	{"cut before the effect", emulator.Cut(), false},
	{"cut after the effect", emulator.Cut().AfterEffect(), true},
	{"timed out before the effect", emulator.Answer(http.StatusRequestTimeout, 0), false},
	{"timed out after the effect", emulator.Answer(http.StatusRequestTimeout, 0).AfterEffect(), true},
	{"unavailable after the effect", emulator.Answer(http.StatusServiceUnavailable, 0).AfterEffect(), true},
	{"unavailable before the effect", emulator.Answer(http.StatusServiceUnavailable, 0), false},
}

// proof is the evidence that a verb's write leaves, or needs.
type proof int

const (
	none proof = iota // a lost answer stays ambiguous
	mark              // what took effect is seen
	etag              // what took no effect is seen, and is repeated
	both
	// creation is mark, and a service that says that it did not process the
	// request is believed where nothing is there.
	creation
)

// decides reports whether a loss leaves the verb with a definite answer.
func (p proof) decides(applied bool, name string) bool {
	switch p {
	case both:
		return true
	case mark:
		return applied
	case etag:
		return !applied
	case creation:
		return applied || name == "unavailable before the effect"
	}
	return false
}

func TestWritesWithLostAnswers(t *testing.T) {
	t.Parallel()
	type verb struct {
		name string
		do   func(ctx context.Context, acme *repository.Scope[Note], n *Note) error
		// want is the counter afterwards; -1 for no document.
		want int64
		// proof is what can tell afterwards whether the write took effect.
		proof proof
	}
	verbs := []verb{
		{"Create", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			return acme.Create(ctx, &Note{Title: "new", Count: 7})
		}, 0, creation},
		{"Replace", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			n.Count = 1
			return acme.Replace(ctx, n)
		}, 1, both},
		{"Save", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			n.Count = 1
			return acme.Save(ctx, n)
		}, 1, both},
		{"Upsert", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			n.Count = 1
			return acme.Upsert(ctx, n)
		}, 1, mark},
		{"Mutate", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			_, err := acme.Mutate(ctx, n.ID, func(n *Note) error { n.Count++; return nil })
			return err
		}, 1, both},
		{"Patch", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			_, err := acme.Patch(ctx, n.ID, repository.Increment("/count", 1))
			return err
		}, 1, mark},
		{"Patch of fields", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			_, err := acme.Patch(ctx, n.ID, repository.Set("/count", 1))
			return err
		}, 1, mark},
		{"Patch of an etag", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			_, err := acme.Patch(ctx, n.ID, repository.Increment("/count", 1).IfMatch(n.ETag))
			return err
		}, 1, both},
		{"Delete", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			return acme.Delete(ctx, n.ID, nil)
		}, -1, none},
		{"Delete of an etag", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			return acme.Delete(ctx, n.ID, &repository.DeleteOptions{ETag: n.ETag})
		}, -1, etag},
		{"Batch", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			n.Count = 1
			return acme.Batch().Create(&Note{Title: "another"}).Replace(n).Commit(ctx)
		}, 1, both},
		{"Batch of deletes", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			return acme.Batch().Delete(n.ID, "").Commit(ctx)
		}, -1, none},
		{"Batch of a put", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			n.Count = 1
			return acme.Batch().Upsert(n).Commit(ctx)
		}, 1, mark},
		{"SaveAll", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			n.Count = 1
			_, err := acme.SaveAll(ctx, slices.Values([]*Note{n, {Title: "another"}}), nil)
			return err
		}, 1, both},
		{"DeleteAll", func(ctx context.Context, acme *repository.Scope[Note], n *Note) error {
			_, err := acme.DeleteAll(ctx, slices.Values([]string{n.ID}), nil)
			return err
		}, -1, none},
	}
	writes := []emulator.Operation{
		emulator.CreateItem, emulator.UpsertItem, emulator.ReplaceItem, emulator.DeleteItem, emulator.PatchItem, emulator.TransactionalBatch,
	}
	for _, loss := range losses {
		for _, v := range verbs {
			t.Run(fmt.Sprintf("%s/%s", v.name, loss.name), func(t *testing.T) {
				t.Parallel()
				emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
				synctest.Test(t, func(t *testing.T) {
					b := setupNotes(t)
					n := &Note{Title: "x"}
					must(t, b.acme.Create(t.Context(), n))
					armed := b.emulator.Fault(loss.fault.On(writes...))
					err := v.do(t.Context(), b.acme, n)
					if armed.Fired() != 1 {
						t.Fatalf("the fault happened %d times", armed.Fired())
					}
					decided := v.proof.decides(loss.applied, loss.name)
					if decided {
						must(t, err)
					} else if !errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
						t.Fatalf("want ErrAmbiguous, got %v", err)
					}
					if !decided && !loss.applied {
						v.want = 0 // nothing was sent again
					}
					got, err := b.acme.Get(t.Context(), n.ID)
					switch {
					case v.want < 0 && !errors.Is(err, repository.ErrNotFound):
						t.Errorf("the document is still there: %v", err)
					case v.want >= 0 && (err != nil || got.Count != v.want):
						t.Errorf("got %+v, %v; want count %d", got, err, v.want)
					case v.want >= 0 && decided && n.ETag != got.ETag && v.name != "Mutate" && !strings.HasPrefix(v.name, "Patch"):
						t.Errorf("the entity has etag %s, the document %s", n.ETag, got.ETag)
					}
				})
			})
		}
	}
}

func TestALostWriteIsNotStoppedByTheBudget(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	b.emulator.Fault(emulator.Cut().AfterEffect().On(emulator.CreateItem))
	ctx, _ := repository.WithBudget(t.Context(), 0.5)
	n := &Note{Title: "x"}
	must(t, b.acme.Create(ctx, n))
	if n.ETag == "" {
		t.Error("no etag")
	}
}

func TestARefusalThatAnotherWriterCausedIsReported(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	n := &Note{Title: "x"}
	must(t, b.acme.Create(t.Context(), n))
	other := *n
	b.emulator.Fault(emulator.Cut().On(emulator.ReplaceItem))
	other.Title = "theirs"
	must(t, newRepository(t, b.container, repository.Config{}).In("acme").Replace(t.Context(), &other))
	n.Title = "mine"
	var conflict *repository.ConflictError[Note]
	if err := b.acme.Replace(t.Context(), n); !errors.As(err, &conflict) || conflict.Current.Title != "theirs" {
		t.Errorf("a stale replace: %v", err)
	}
	again := &Note{TenantItem: n.TenantItem}
	again.ETag = ""
	b.emulator.Fault(emulator.Cut().On(emulator.CreateItem))
	if err := b.acme.Create(t.Context(), again); !errors.Is(err, repository.ErrConflict) && !errors.Is(err, repository.ErrAmbiguous) {
		t.Errorf("creating a taken id: %v", err)
	}
}

func TestLostAnswersThroughALaggingReplica(t *testing.T) {
	t.Parallel()
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			t.Parallel()
			emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
			synctest.Test(t, func(t *testing.T) {
				b := setupNotes(t, emulatortest.WithReplicaLag(3*time.Second))
				ctx := t.Context()
				n := &Note{Title: "first"}
				b.emulator.Fault(loss.fault.On(emulator.CreateItem))
				if err := b.acme.Create(ctx, n); errors.Is(err, repository.ErrAmbiguous) {
					time.Sleep(4 * time.Second) // in the bubble: the replicas have caught up
					if n, err = b.acme.Get(ctx, n.ID); errors.Is(err, repository.ErrNotFound) {
						n = &Note{Title: "first"}
						must(t, b.acme.Create(ctx, n))
					}
				} else {
					must(t, err)
				}
				n.Title = "second"
				b.emulator.Fault(loss.fault.On(emulator.ReplaceItem))
				must(t, b.acme.Replace(ctx, n))
				b.emulator.Fault(loss.fault.On(emulator.ReplaceItem))
				_, err := b.acme.Mutate(ctx, n.ID, func(n *Note) error { n.Count++; return nil })
				must(t, err)
				b.emulator.Fault(loss.fault.On(emulator.TransactionalBatch))
				untilKnown(t, make([]repository.ItemReceipt, 150), func(opts *repository.BulkOptions) (*repository.Receipt, error) {
					return b.acme.SaveAll(ctx, slices.Values(notesFrom(150)), opts)
				})
				got, err := b.acme.Get(ctx, n.ID)
				must(t, err)
				if got.Title != "second" || got.Count != 1 {
					t.Errorf("got %+v", got)
				}
				b.emulator.Fault(loss.fault.On(emulator.DeleteItem))
				if err := b.acme.Delete(ctx, n.ID, nil); !errors.Is(err, repository.ErrAmbiguous) {
					t.Errorf("a delete that leaves no mark: %v", err)
				}
			})
		})
	}
}
