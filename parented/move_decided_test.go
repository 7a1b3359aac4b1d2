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

// diesWithWrite holds the first write of a process back until it is told to let it go, and
// answers to it that the process has died.
type diesWithWrite struct {
	die              context.CancelFunc
	held, let, there chan struct{}
	once             sync.Once
}

func (p *diesWithWrite) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().Method != http.MethodPatch && req.Raw().Header.Get("x-ms-cosmos-is-batch-request") == "" {
		return req.Next()
	}
	p.once.Do(func() { close(p.held) })
	<-p.let
	resp, err := req.Next()
	p.die()
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
	mover := &diesWithWrite{die: die, held: make(chan struct{}), let: make(chan struct{}), there: make(chan struct{})}
	moverDatabase, err := clientOf(e, mover).NewDatabase("notes")
	must(t, err)
	moverGrove := open(t, moverDatabase, planting{note: parented.Policy{Retain: retain}})
	go func() {
		defer close(mover.there)
		_ = moverGrove.comments.Move(moving, "acme", c.ID, to.Ref())
	}()
	<-mover.held
	write := sync.OnceFunc(func() {
		close(mover.let)
		<-mover.there
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
