package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// of is another process over the same database.
func (g grove) of(t *testing.T, e *emulatortest.Emulator, p planting, policies ...policy.Policy) grove {
	t.Helper()
	p.client = clientOf(e, policies...)
	database, err := p.client.NewDatabase(g.database.ID())
	must(t, err)
	return open(t, database, p)
}

// A restore is held up at any of its requests for two minutes, in which another process sweeps. The tree is whole in the
// end, and stays.
func TestASweepDuringASlowRestore(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it moves the clock")
	for n := range int32(18) {
		ctx := t.Context()
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}}
		g := plant(t, p)
		note := g.tree(t, "acme", 1, 2)
		c, err := g.comments.Under(note).First(ctx, repository.All())
		must(t, err)
		r, err := g.replies.Under(c).First(ctx, repository.All())
		must(t, err)
		must(t, g.reactions.Under(r).Create(ctx, &Reaction{}))
		must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
		slow := pauseAt(n + 1)
		other := g.of(t, e, p, slow)
		var did error
		doing := slow.until(func() { did = other.notes.In("acme").Restore(ctx, note.ID) })
		e.Clock().Advance(2 * time.Minute)
		swept, err := g.forest.Sweep(ctx, "acme", nil)
		must(t, err)
		close(slow.goOn)
		<-doing
		must(t, did)
		if n, err := g.replies.In("acme").Count(ctx, repository.All()); err != nil || n != 2 {
			t.Errorf("at request %d of the restore, the sweep took %v: of 2 replies %d are there, %v", slow.n, swept, n, err)
		}
		if n, err := g.reactions.In("acme").Count(ctx, repository.All()); err != nil || n != 1 {
			t.Errorf("at request %d of the restore, the sweep took %v: of 1 reaction %d are there, %v", slow.n, swept, n, err)
		}
		e.Clock().Advance(30 * time.Hour)
		if left := g.stored(t, "acme"); left["Reply"] != 2 || left["Reaction"] != 1 {
			t.Errorf("at request %d: a day later %v are stored", slow.n, left)
		}
	}
}

// A living process sweeps, from beginning to end, at one request of a restore. Nothing dies, and no later sweep is asked for.
func TestASweepInARestoreHidesNothing(t *testing.T) {
	t.Parallel()
	for _, how := range leavings() {
		if how.again {
			continue
		}
		for n := range int32(14) {
			t.Run(fmt.Sprintf("%s, at %d", how, n+1), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				l := leaveBehind(t, how)
				slow := pauseAt(n + 1)
				p := l.planting
				p.client = clientOf(l.emulator, slow)
				database, err := p.client.NewDatabase(l.database.ID())
				must(t, err)
				other := open(t, database, p)
				var did error
				doing := slow.until(func() { did = other.notes.In("acme").Restore(ctx, l.note.ID) })
				_, err = l.forest.Sweep(ctx, "acme", anyAge)
				must(t, err)
				close(slow.goOn)
				<-doing
				must(t, did)
				if got := l.present(t); got != l.whole {
					t.Errorf("%s, want %s", got, l.whole)
				}
			})
		}
	}
}

// A blind Upsert of a reply beside a delete of its note and the restore of that, all of them living.
func TestAnUpsertDuringAnUndoneDelete(t *testing.T) {
	t.Parallel()
	for w2 := range 6 {
		for d := range 12 {
			t.Run(fmt.Sprintf("writer %d, restore %d", w2, d), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}, vote: parented.Cascade}
				g := plant(t, p)
				note := g.tree(t, "acme", 1, 1)
				c, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				r, err := g.replies.Under(c).First(ctx, repository.All())
				must(t, err)
				process := func(s *stepper) grove {
					p := p
					p.client = clientOf(e, s)
					database, err := p.client.NewDatabase(g.database.ID())
					must(t, err)
					return open(t, database, p)
				}
				ws, rs := newStepper(), newStepper()
				wg, rg := process(ws), process(rs)
				var wrote, restored error
				ws.start(func() {
					n := &Reply{Body: "new"}
					n.ID, n.ParentID = r.ID, r.ParentID
					wrote = wg.replies.In("acme").Upsert(ctx, n)
				})
				ws.step(1)
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
				rs.start(func() {
					restored = rg.notes.In("acme").Restore(ctx, note.ID)
				})
				ws.step(w2)
				rs.step(d)
				ws.finish()
				rs.finish()
				must(t, restored)
				got, err := g.replies.In("acme").Get(ctx, r.ID)
				if wrote != nil {
					t.Logf("wrote %v", wrote)
				}
				if err != nil {
					t.Errorf("the upsert said %v, and the reply: %v", wrote, err)
				} else if wrote == nil && got.Body != "new" {
					t.Errorf("the upsert said %v, and the body is %q", wrote, got.Body)
				}
			})
		}
	}
}

// An Upsert of a reply that began before the delete of its note comes while that delete is undone. Nothing dies, nothing is lost.
func TestAnUpsertInTheMiddleOfARestore(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it moves the clock")
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}}
	g := plant(t, p)
	note := g.tree(t, "acme", 1, 1)
	c, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	r, err := g.replies.Under(c).First(ctx, repository.All())
	must(t, err)
	write, unhide := pauseAt(2), pauseAt(8) // a look at the comment, the write; the restore of the comment itself
	writer, restorer := g.of(t, e, p, write), g.of(t, e, p, unhide)
	var wrote, restored error
	writing := write.until(func() {
		again := &Reply{Body: "new"}
		again.ID, again.ParentID = r.ID, r.ParentID
		wrote = writer.replies.In("acme").Upsert(ctx, again)
	})
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	restoring := unhide.until(func() { restored = restorer.notes.In("acme").Restore(ctx, note.ID) })
	close(write.goOn)
	<-writing
	close(unhide.goOn)
	<-restoring
	must(t, wrote)
	must(t, restored)
	if _, err := g.replies.In("acme").Get(ctx, r.ID); err != nil {
		t.Errorf("upsert and restore succeeded, and the reply: %v", err)
	}
	_, err = g.forest.Resume(ctx, "acme")
	must(t, err)
	e.Clock().Advance(27 * time.Hour)
	if left := g.stored(t, "acme"); left["Reply"] != 1 {
		t.Errorf("27 hours later there are %v", left)
	}
}

// The same at each request of the restore, three levels below the note.
func TestAnUpsertDeepInARestore(t *testing.T) {
	t.Parallel()
	for n := range int32(16) {
		ctx := t.Context()
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}}
		g := plant(t, p)
		note := g.tree(t, "acme", 1, 1)
		c, err := g.comments.Under(note).First(ctx, repository.All())
		must(t, err)
		r, err := g.replies.Under(c).First(ctx, repository.All())
		must(t, err)
		reaction := &Reaction{}
		must(t, g.reactions.Under(r).Create(ctx, reaction))
		write, unhide := pauseAt(2), pauseAt(n+1)
		writer, restorer := g.of(t, e, p, write), g.of(t, e, p, unhide)
		var wrote, restored error
		writing := write.until(func() {
			again := &Reaction{}
			again.ID, again.ParentID = reaction.ID, reaction.ParentID
			wrote = writer.reactions.In("acme").Upsert(ctx, again)
		})
		must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
		restoring := unhide.until(func() { restored = restorer.notes.In("acme").Restore(ctx, note.ID) })
		close(write.goOn)
		<-writing
		close(unhide.goOn)
		<-restoring
		must(t, wrote)
		must(t, restored)
		if there, err := g.reactions.In("acme").Exists(ctx, reaction.ID); err != nil || !there {
			t.Errorf("at request %d of the restore: upsert and restore succeeded, and the reaction is there: %t, %v", n+1, there, err)
		}
	}
}
