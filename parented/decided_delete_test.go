package parented_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// heldWrite holds the first write of a process back until it is let go.
type heldWrite struct {
	held, let, written chan struct{}
	once, done         sync.Once
	then               func() // after that write
}

func newHeldWrite(then func()) *heldWrite {
	return &heldWrite{held: make(chan struct{}), let: make(chan struct{}), written: make(chan struct{}), then: then}
}

func (p *heldWrite) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().Method != http.MethodPatch && req.Raw().Header.Get("x-ms-cosmos-is-batch-request") == "" && req.Raw().Header.Get("x-ms-documentdb-is-upsert") == "" {
		return req.Next()
	}
	p.once.Do(func() { close(p.held) })
	<-p.let
	resp, err := req.Next()
	p.done.Do(func() {
		p.then()
		close(p.written)
	})
	return resp, err
}

// A document with something that restricts moves below one that is being deleted, at any request of that
// delete, and its mover dies with that write. The delete needs nobody's help: it takes what it is to take, or is refused,
// and the moved document is with a parent that is there.
func TestADeleteSendsBackWhatMovedThereLate(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it opens the database by name")
	const requests = 9
	for name, planned := range map[string]bool{"": false, ", with a plan": true} {
		for what, retain := range map[string]time.Duration{"for good": 0, "softly": time.Hour} {
			for n := range int32(requests) {
				t.Run(fmt.Sprintf("%s, before request %d%s", what, n+1, name), func(t *testing.T) {
					t.Parallel()
					moveLate(t, n+1, retain, planned)
				})
			}
		}
	}
}

func moveLate(t *testing.T, n int32, retain time.Duration, planned bool) {
	ctx := t.Context()
	e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	g := plant(t, planting{client: e.Client(nil), note: parented.Policy{Retain: retain}})
	from, to := g.tree(t, "acme", 1, 0), g.tree(t, "acme", 1, 1)
	c, err := g.comments.Under(from).First(ctx, repository.All())
	must(t, err)
	must(t, g.votes.Under(c).Create(ctx, &Vote{}))
	opts := &repository.DeleteOptions{}
	if planned {
		plan, err := g.notes.In("acme").PlanDelete(ctx, to.ID)
		must(t, err)
		opts.Plan = plan.Token
	}

	moving, die := context.WithCancel(ctx)
	mover := newHeldWrite(die)
	moverDatabase, err := clientOf(e, mover).NewDatabase("notes")
	must(t, err)
	moverGrove := open(t, moverDatabase, planting{note: parented.Policy{Retain: retain}})
	dead := make(chan struct{})
	go func() {
		defer close(dead)
		_ = moverGrove.comments.Move(moving, "acme", c.ID, to.Ref())
	}()
	<-mover.held
	write := sync.OnceFunc(func() {
		close(mover.let)
		<-dead
	})
	deleterDatabase, err := clientOf(e, &stopAt{n: n, call: write}).NewDatabase("notes")
	must(t, err)
	told := open(t, deleterDatabase, planting{note: parented.Policy{Retain: retain}}).notes.In("acme").Delete(ctx, to.ID, opts)
	write()

	refused := (errors.Is(told, repository.ErrHasChildren) || errors.Is(told, repository.ErrPreconditionFailed)) && !errors.Is(told, repository.ErrAmbiguous)
	if told != nil && !refused {
		t.Fatalf("the delete said %v", told)
	}
	if there, err := g.notes.In("acme").Exists(ctx, to.ID); err != nil || there != refused {
		t.Errorf("the delete said %v, and the note is there: %t, %v", told, there, err)
	}
	_, err = g.forest.Resume(ctx, "acme")
	must(t, err)
	outline, err := engine.CollectionOf(g.comments.Items()).Outline(ctx, "acme", nil, c.ID)
	must(t, err)
	want := from.ID
	if refused {
		want = outline.ParentID // the move came first, or came to nothing
	}
	if outline.ParentID != want || outline.Moving != "" || outline.DeletedAt != "" {
		t.Errorf("the comment is under %s, deleted at %q, and comes from %q (the delete said %v)", outline.ParentID, outline.DeletedAt, outline.Moving, told)
	}
}

// An Upsert writes over a vote of another comment, at any request of the delete of the parent that it names. What the
// two are told agrees with what is there in the end.
func TestAnUpsertDuringADecidedDelete(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it opens the database by name")
	const requests = 9
	for what, retain := range map[string]time.Duration{"for good": 0, "softly": time.Hour} {
		for n := range int32(requests) {
			t.Run(fmt.Sprintf("%s, before request %d", what, n+1), func(t *testing.T) {
				t.Parallel()
				upsertLate(t, n+1, retain)
			})
		}
	}
}

func upsertLate(t *testing.T, n int32, retain time.Duration) {
	ctx := t.Context()
	e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{note: parented.Policy{Retain: retain}}
	planted := p
	planted.client = e.Client(nil)
	g := plant(t, planted)
	from, to := g.tree(t, "acme", 1, 0), g.tree(t, "acme", 1, 1)
	former, err := g.comments.Under(from).First(ctx, repository.All())
	must(t, err)
	c, err := g.comments.Under(to).First(ctx, repository.All())
	must(t, err)
	vote := &Vote{}
	must(t, g.votes.Under(former).Create(ctx, vote))

	writer := newHeldWrite(func() {})
	writerDatabase, err := clientOf(e, writer).NewDatabase("notes")
	must(t, err)
	writerGrove := open(t, writerDatabase, p)
	upserted := make(chan error, 1)
	go func() {
		v := &Vote{}
		v.ID, v.ParentID = vote.ID, c.Ref()
		upserted <- writerGrove.votes.In("acme").Upsert(ctx, v)
	}()
	<-writer.held
	write := sync.OnceFunc(func() {
		close(writer.let)
		<-writer.written
	})
	deleterDatabase, err := clientOf(e, &stopAt{n: n, call: write}).NewDatabase("notes")
	must(t, err)
	deleted := open(t, deleterDatabase, p).notes.In("acme").Delete(ctx, to.ID, nil)
	write()
	wrote := <-upserted

	seen := func() (note, visible bool) {
		note, err := g.notes.In("acme").Exists(ctx, to.ID)
		must(t, err)
		visible, err = g.votes.In("acme").Exists(ctx, vote.ID)
		must(t, err)
		return note, visible
	}
	note, visible := seen()
	says := fmt.Sprintf("the delete says %v, the Upsert %v; the note is there: %t, the vote: %t", deleted, wrote, note, visible)
	late := errors.Is(wrote, repository.ErrAmbiguous) && errors.Is(wrote, repository.ErrDanglingRef)
	switch {
	case deleted == nil && (note || wrote == nil):
		t.Errorf("%s: no order gives that", says)
	case deleted == nil && late && retain > 0:
		must(t, g.notes.In("acme").Restore(ctx, to.ID))
		if _, restored := seen(); visible || !restored {
			t.Errorf("%s; after the restore: %t", says, restored)
		}
	case deleted != nil && !errors.Is(deleted, repository.ErrAmbiguous) && (!note || !visible || wrote != nil && !errors.Is(wrote, repository.ErrAmbiguous)):
		t.Errorf("%s: the delete is refused for the vote", says)
	case errors.Is(deleted, repository.ErrAmbiguous) && (retain > 0 || !late || !visible):
		t.Errorf("%s", says)
	}
}
