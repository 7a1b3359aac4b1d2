package parented_test

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A process that finishes a delete is overtaken by another one, and the ids are
// used again. What it finds then under the old ids is not its own.
func TestADeleteDoesNotTouchWhatTookItsIDs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for batches := range int64(7) {
		emulator := processes(t)
		p := planting{client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 10}}
		g := plant(t, p)
		note := g.tree(t, "acme", 2, 2)
		old, err := g.comments.Under(note).First(ctx, repository.All())
		must(t, err)
		again := &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: note.ID}}}
		overtaken := false
		late := &beforeBatch{after: batches, do: func() {
			overtaken = true
			_, err := g.forest.Resume(ctx, "acme")
			must(t, err)
			must(t, g.notes.In("acme").Create(ctx, again))
			comment := &Comment{}
			comment.ID = old.ID
			must(t, g.comments.Under(again).Create(ctx, comment))
			must(t, g.replies.Under(comment).Create(ctx, &Reply{}))
		}}
		dyingAt(t, emulator, p, 8, false, func(ctx context.Context, g grove) error { return g.notes.In("acme").Delete(ctx, note.ID, nil) })
		dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
			_, err := g.forest.Resume(context.WithValue(ctx, lateKey{}, late), "acme")
			return err
		})
		if want := map[string]int64{"Note": 1, "Comment": 1, "Reply": 1}; overtaken && !maps.Equal(g.stored(t, "acme"), want) || overtaken && g.visible(t, "acme") != 3 {
			t.Errorf("overtaken before batch %d: %v is stored, want the new documents", batches, g.stored(t, "acme"))
		}
		if batches < 4 && !overtaken {
			t.Fatalf("there were only %d batches", late.seen.Load())
		}
	}
}

// A child's own delete dies; then its parent is deleted softly, and restored.
// The child does not come back.
func TestARestoreBringsBackNothingThatWasDeletedBefore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// A comment is met when it is decided whether the note may go; a reply, below
	// which nothing can forbid that, when it is removed.
	ofComment := func(ctx context.Context, g grove, c, _ string) error {
		return g.comments.In("acme").Delete(ctx, c, nil)
	}
	ofReply := func(ctx context.Context, g grove, _, r string) error { return g.replies.In("acme").Delete(ctx, r, nil) }
	for name, test := range map[string]struct {
		child parented.Policy
		del   func(ctx context.Context, g grove, comment, reply string) error
		less  int64 // documents that go with the child
	}{
		"a comment":                   {del: ofComment, less: 4},
		"a comment with a tombstone":  {del: ofComment, less: 4, child: parented.Policy{Tombstone: time.Hour}},
		"a comment with its own time": {del: ofComment, less: 4, child: parented.Policy{Retain: time.Hour}},
		"a reply":                     {del: ofReply, less: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emulator := processes(t)
			p := planting{client: emulator.Client(nil), note: parented.Policy{Retain: time.Hour}, child: test.child, config: parented.ForestConfig{PageSize: 2}}
			g := plant(t, p)
			hidden := 0
			for n := firstOwnRequest; ; n++ {
				note := g.tree(t, "acme", 2, 2)
				c, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				r, err := g.replies.Under(c).First(ctx, repository.All())
				must(t, err)
				must(t, g.reactions.Under(r).Create(ctx, &Reaction{}))
				ended := dyingAt(t, emulator, p, n, true, func(ctx context.Context, g grove) error { return test.del(ctx, g, c.ID, r.ID) })
				want := int64(8)
				if _, err := g.replies.In("acme").Get(ctx, r.ID); err != nil || g.hides(t, c.ID) {
					want, hidden = want-test.less, hidden+1
				}
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
				must(t, g.notes.In("acme").Restore(ctx, note.ID))
				if got := g.visible(t, "acme"); got != want {
					t.Fatalf("dead at request %d: %d documents are visible after the restore, want %d", n, got, want)
				}
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
				must(t, g.notes.In("acme").Purge(ctx, note.ID))
				emulator.Clock().Advance(3 * time.Hour)
				if got := g.stored(t, "acme"); len(got) != 0 {
					t.Fatalf("dead at request %d: %v stays", n, got)
				}
				if ended {
					break
				}
			}
			if hidden < 3 {
				t.Fatalf("only %d deaths left a delete that was begun", hidden)
			}
		})
	}
}

func (g grove) hides(t testing.TB, comment string) bool {
	t.Helper()
	there, err := g.comments.In("acme").Exists(context.Background(), comment)
	must(t, err)
	return !there
}

// Two processes decide one delete. One of them meets a child that forbids it,
// begins to roll the delete back, and dies; the other one had seen none.
func TestTheFirstDecisionHolds(t *testing.T) {
	t.Parallel()
	var refused, ended atomic.Int64
	t.Run("dead at request", func(t *testing.T) {
		for n := firstOwnRequest; n < 24; n++ {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				emulator := processes(t)
				p := planting{client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 10}}
				g := plant(t, p)
				note := g.tree(t, "acme", 2, 0)
				c, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				rollingBack := false
				late := &beforeBatch{after: 2, do: func() { // the mark and the closing are done, the decision is next
					g.stray(t, "Vote", "late", "Comment", c.ID)
					if dyingAt(t, emulator, p, n, true, func(ctx context.Context, g grove) error {
						_, err := g.forest.Resume(ctx, "acme")
						return err
					}) {
						ended.Add(1)
					}
					comments, err := g.comments.In("acme").Count(ctx, repository.All())
					must(t, err)
					rollingBack = comments > 0
				}}
				dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
					return g.notes.In("acme").Delete(context.WithValue(ctx, lateKey{}, late), note.ID, nil)
				})
				_, err = g.forest.Resume(ctx, "acme")
				must(t, err)
				if rollingBack {
					refused.Add(1)
					if got := g.visible(t, "acme"); got != 4 {
						t.Fatalf("%d of 4 documents are left after a refusal", got)
					}
				}
				_, err = g.votes.In("acme").Get(ctx, "late")
				must(t, err)
			})
		}
	})
	if refused.Load() < 2 || ended.Load() == 0 {
		t.Fatalf("%d deaths came after the rollback had begun, %d processes came to their end", refused.Load(), ended.Load())
	}
}

// While a note is being deleted, after it was found that nothing forbids that,
// a comment with a vote is moved to it, or a vote to its comment, by a process
// that dies then. Neither goes with the note.
func TestARestrictingChildIsNotTakenByALateMove(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(ctx context.Context, g grove, c *Comment, v *Vote, to *Note, under *Comment) error{
		"a comment": func(ctx context.Context, g grove, c *Comment, _ *Vote, to *Note, _ *Comment) error {
			return g.comments.Move(ctx, "acme", c.ID, to.Ref())
		},
		"a vote": func(ctx context.Context, g grove, _ *Comment, v *Vote, _ *Note, under *Comment) error {
			return g.votes.Move(ctx, "acme", v.ID, under.Ref())
		},
	} {
		for _, died := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by a process that died: %t", name, died), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				emulator := processes(t)
				p := planting{client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 10}}
				g := plant(t, p)
				note, other := g.tree(t, "acme", 1, 1), g.tree(t, "acme", 1, 0)
				under, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				c, err := g.comments.Under(other).First(ctx, repository.All())
				must(t, err)
				v := &Vote{}
				must(t, g.votes.Under(c).Create(ctx, v))

				// Before its only batch the mover has seen the new parent alive.
				inFlight := &beforeBatch{do: func() {
					dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
						// After the mark, the closing and the decision it dies.
						ctx, die := context.WithCancel(ctx)
						return g.notes.In("acme").Delete(context.WithValue(ctx, lateKey{}, &beforeBatch{after: 3, do: die}), note.ID, nil)
					})
				}}
				mortal, die := context.WithCancel(context.WithValue(ctx, lateKey{}, inFlight))
				defer die()
				dyingAt(t, emulator, p, never, false, func(_ context.Context, g grove) error {
					ctx := mortal
					if died {
						ctx = context.WithValue(ctx, answeredKey{}, die)
					}
					return move(ctx, g, c, v, note, under)
				})
				_, err = g.forest.Resume(ctx, "acme")
				must(t, err)
				_, err = g.votes.In("acme").Get(ctx, v.ID)
				must(t, err)
				_, err = g.comments.In("acme").Get(ctx, c.ID)
				must(t, err)
			})
		}
	}
}

// Before it can write its decision, a delete is carried out by another process.
func TestADeleteThatAnotherProcessFinishesHasSucceeded(t *testing.T) {
	t.Parallel()
	for _, policy := range []parented.Policy{{}, {Tombstone: time.Hour}, {Retain: time.Hour}} {
		ctx := t.Context()
		emulator := processes(t)
		p := planting{client: emulator.Client(nil), note: policy}
		g := plant(t, p)
		note := g.tree(t, "acme", 2, 1)
		overtaken := false
		late := &beforeBatch{after: 2, do: func() {
			resumed, err := g.forest.Resume(ctx, "acme")
			must(t, err)
			overtaken = resumed.Finished == 1
		}}
		dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
			err := g.notes.In("acme").Delete(context.WithValue(ctx, lateKey{}, late), note.ID, nil)
			must(t, err)
			return err
		})
		if got := g.visible(t, "acme"); got != 0 || !overtaken {
			t.Fatalf("policy %+v: %d documents are visible, overtaken %t", policy, got, overtaken)
		}
	}
}

// A delete dies, and an Upsert brings its document back. What the delete had hidden
// is brought back by a sweep.
func TestASweepBringsBackWhatABrokenOffDeleteHid(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	emulator := processes(t)
	p := planting{client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 10}}
	g := plant(t, p)
	found := int64(0)
	for n := firstOwnRequest; ; n++ {
		note := g.tree(t, "acme", 2, 1)
		ended := dyingAt(t, emulator, p, n, true, func(ctx context.Context, g grove) error { return g.notes.In("acme").Delete(ctx, note.ID, nil) })
		must(t, g.notes.In("acme").Upsert(ctx, note))
		for _, keep := range []bool{true, false} {
			swept, err := g.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: time.Nanosecond, Keep: keep})
			must(t, err)
			found += swept["Comment"]
		}
		var stored int64
		for _, count := range g.stored(t, "acme") {
			stored += count
		}
		if got := g.visible(t, "acme"); got != stored {
			t.Fatalf("dead at request %d: %d documents are visible of %d", n, got, stored)
		}
		must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
		if ended {
			break
		}
	}
	if found == 0 {
		t.Fatal("no death left a hidden child")
	}
}

// The delete of a child dies; the same call finishes it.
func TestADeleteThroughTheParentCanBeFinished(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	emulator := processes(t)
	p := planting{client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 1}}
	g := plant(t, p)
	note, other := g.tree(t, "acme", 1, 0), g.tree(t, "acme", 0, 0)
	want := g.stored(t, "acme")
	for n := firstOwnRequest; ; n++ {
		c := &Comment{}
		must(t, g.comments.Under(note).Create(ctx, c))
		for range 2 {
			must(t, g.replies.Under(c).Create(ctx, &Reply{}))
		}
		ended := dyingAt(t, emulator, p, n, true, func(ctx context.Context, g grove) error { return g.comments.Under(note).Delete(ctx, c.ID, nil) })
		mustBe(t, g.comments.Under(other).Delete(ctx, c.ID, nil), repository.ErrNotFound)
		if err := g.comments.Under(note).Delete(ctx, c.ID, nil); err != nil {
			mustBe(t, err, repository.ErrNotFound)
		}
		if got := g.stored(t, "acme"); !maps.Equal(got, want) {
			t.Fatalf("dead at request %d: %v, want %v", n, got, want)
		}
		if ended {
			break
		}
	}
}
