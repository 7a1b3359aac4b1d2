package parented_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A comment that was deleted softly is written again by an Upsert, beside the delete of its note, which comments restrict.
// There is no fault, and every process lives.
func TestAnUpsertOfADeletedChildThatRestricts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	wireIn := func(db *azcosmos.DatabaseClient) grove {
		container, err := db.NewContainer("items")
		must(t, err)
		g := grove{forest: parented.NewForest(parented.ForestConfig{}), database: db}
		g.notes, err = repository.New[Note](container, repository.Config{})
		must(t, err)
		g.comments, err = parented.New[Comment](g.forest, g.notes, container, parented.Config{Rule: parented.Restrict, Policy: parented.Policy{Retain: time.Hour}})
		must(t, err)
		return g
	}
	for d := range 9 {
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		db := plant(t, planting{client: e.Client(nil)}).database
		g := wireIn(db)
		process := func(s *stepper) grove {
			db, err := clientOf(e, s).NewDatabase(db.ID())
			must(t, err)
			return wireIn(db)
		}
		n := &Note{Title: "n"}
		n.ID = "n"
		must(t, g.notes.In("acme").Create(ctx, n))
		must(t, g.comments.Under(n).Create(ctx, commentOf("n", "c")))
		must(t, g.comments.In("acme").Delete(ctx, "c", nil))
		ws, ds := newStepper(), newStepper()
		writer, deleter := process(ws), process(ds)
		var wrote, deleted error
		go func() { defer close(ws.ended); wrote = writer.comments.In("acme").Upsert(ctx, commentOf("n", "c")) }()
		go func() { defer close(ds.ended); deleted = deleter.notes.In("acme").Delete(ctx, "n", nil) }()
		ws.step(1)
		ds.step(d)
		ws.finish()
		ds.finish()
		_, err := g.forest.Resume(ctx)
		must(t, err)
		note, err := g.notes.In("acme").Exists(ctx, "n")
		must(t, err)
		comment, err := g.comments.In("acme").Exists(ctx, "c")
		must(t, err)
		if wrote == nil && comment && !note {
			t.Errorf("after %d requests of the delete: the upsert said nil, the comment is there, and its note is not; the delete said %v", d, deleted)
		}
	}
}

// A new vote is upserted beside the delete of its comment, which votes restrict; the answer to the upsert is lost, and every
// process lives. A vote that is left without its comment was not said to be stored.
func TestAnUpsertWhoseAnswerWasLostDuringADelete(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it loses answers")
	for d := range 9 {
		ctx := t.Context()
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		p := planting{client: e.Client(nil)}
		g := plant(t, p)
		note := g.tree(t, "acme", 1, 0)
		c, err := g.comments.Under(note).First(ctx, repository.All())
		must(t, err)
		ws, ds := newStepper(), newStepper()
		wg, dg := g.of(t, e, p, ws), g.of(t, e, p, ds)
		var wrote, deleted error
		ws.start(func() {
			v := voteUnder(c.ID)
			v.ID = "v"
			wrote = wg.votes.In("acme").Upsert(ctx, v)
		})
		ds.start(func() {
			deleted = dg.comments.In("acme").Delete(ctx, c.ID, nil)
		})
		ws.step(1)
		ds.step(d)
		e.Fault(emulator.Cut().AfterEffect().On(emulator.UpsertItem).Times(1))
		ws.finish()
		ds.finish()
		resumed, err := g.forest.Resume(ctx, "acme")
		must(t, err)
		there, err := g.comments.In("acme").Exists(ctx, c.ID)
		must(t, err)
		child, err := g.votes.In("acme").Exists(ctx, "v")
		must(t, err)
		if child && !there && (!errors.Is(wrote, repository.ErrAmbiguous) || !errors.Is(wrote, repository.ErrDanglingRef)) {
			t.Errorf("after %d requests of the delete: the vote is there without its comment, the upsert said %v, the delete %v, Resume %+v", d, wrote, deleted, resumed)
		}
		if wrote == nil && there && !child || errors.Is(deleted, repository.ErrHasChildren) && !errors.Is(deleted, repository.ErrAmbiguous) && !there {
			t.Errorf("%d: %v, %v: %t, %t", d, wrote, deleted, there, child)
		}
	}
}

// The whole soft delete of the tree runs between the first look of an upsert of a new vote, which votes restrict, and its write, whose answer is lost. The vote is
// hidden with its comment, its writer is told so, and a restore by the same process brings it back.
func TestAnUpsertThatWasLostReturnsWithItsParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it loses answers")
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{client: e.Client(nil), note: parented.Policy{Retain: time.Hour}}
	g := plant(t, p)
	note := g.tree(t, "acme", 1, 0)
	c, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	s := newStepper()
	writer := g.of(t, e, p, s)
	var wrote error
	s.start(func() {
		v := voteUnder(c.ID)
		v.ID = "v"
		wrote = writer.votes.In("acme").Upsert(ctx, v)
	})
	s.step(1)
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	e.Fault(emulator.Cut().AfterEffect().On(emulator.UpsertItem).Times(1))
	s.finish()
	mustBe(t, wrote, repository.ErrAmbiguous)
	mustBe(t, wrote, repository.ErrDanglingRef)
	before, err := g.votes.In("acme").Exists(ctx, "v")
	must(t, err)
	must(t, writer.notes.In("acme").Restore(ctx, note.ID))
	after, err := g.votes.In("acme").Exists(ctx, "v")
	must(t, err)
	if before || !after {
		t.Errorf("the vote is there before the restore: %t, and after it: %t", before, after)
	}
}

// A comment that restricts was left visible when its note was deleted softly (its writer died before the second look). A
// purge of the note takes no document that is there and that Restrict keeps.
func TestAPurgeLeavesWhatRestrictKeeps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := openOnePartition(t, e.Client(nil), parented.Restrict)
	p.note(t, "a")
	mortal, die := context.WithCancel(ctx)
	slow := pauseAt(2)
	dying := openOnePartition(t, clientOf(e, slow, &diesAfter{n: 3, die: die}), parented.Restrict)
	writing := slow.until(func() { _ = dying.comments.In("acme").Create(mortal, commentOf("a", "c")) })
	must(t, p.notes.In("acme").Delete(ctx, "a", nil))
	close(slow.goOn)
	<-writing
	die()
	before, err := p.comments.In("acme").Exists(ctx, "c")
	must(t, err)
	swept, err := p.forest.Sweep(ctx, "acme", anyAge)
	must(t, err)
	must(t, p.notes.In("acme").Purge(ctx, "a"))
	after, err := p.comments.In("acme").Exists(ctx, "c")
	must(t, err)
	if !before || !after {
		t.Errorf("the comment is there before the purge: %t, and after it: %t; a sweep counted %v", before, after, swept)
	}
}
