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

// A create of a new comment is refused, since the note is deleted in that instant. Nothing of it is stored, also where
// comments are deleted softly.
func TestNothingIsStoredOfARefusedCreate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	soft := parented.Policy{Retain: 24 * time.Hour}
	p := planting{client: e.Client(nil), note: soft, child: soft}
	g := plant(t, p)
	note := g.tree(t, "acme", 0, 0)
	ws := newStepper()
	wg := g.of(t, e, p, ws)
	var told error
	ws.start(func() {
		n := &Comment{Body: "refused"}
		n.ID = "c"
		told = wg.comments.Under(note).Create(ctx, n)
	})
	ws.step(1)
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	ws.finish()
	mustBe(t, told, repository.ErrDanglingRef)
	if n := g.stored(t, "acme"); n["Comment"] != 0 {
		t.Errorf("stored: %v", n)
	}
	must(t, g.notes.In("acme").Restore(ctx, note.ID))
	if err := g.comments.In("acme").Restore(ctx, "c"); !errors.Is(err, repository.ErrNotFound) {
		c, getErr := g.comments.In("acme").Get(ctx, "c")
		t.Errorf("a restore of what was refused said %v, and there is %+v, %v", err, c, getErr)
	}
}

// The note of a comment that is created over one that was deleted softly is deleted before any request of the create. Refused, the
// create has left what it found; else it holds, goes with the note and comes back with it.
func TestACreateOverADeletedChild(t *testing.T) {
	t.Parallel()
	outcomes := map[bool]int{}
	for n := range 8 {
		ctx := t.Context()
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		soft := parented.Policy{Retain: 24 * time.Hour}
		p := planting{client: e.Client(nil), note: soft, child: soft}
		g := plant(t, p)
		note := g.tree(t, "acme", 0, 0)
		c := &Comment{Body: "old"}
		c.ID = "c"
		must(t, g.comments.Under(note).Create(ctx, c))
		must(t, g.comments.In("acme").Delete(ctx, "c", nil))
		ws := newStepper()
		wg := g.of(t, e, p, ws)
		var told error
		ws.start(func() {
			again := &Comment{Body: "new"}
			again.ID = "c"
			told = wg.comments.Under(note).Create(ctx, again)
		})
		ws.step(n)
		must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
		ws.finish()
		if there, err := g.comments.In("acme").Exists(ctx, "c"); err != nil || there {
			t.Errorf("after %d requests: there without its note: %t, %v", n, there, err)
		}
		must(t, g.notes.In("acme").Restore(ctx, note.ID))
		want := "new"
		if told != nil {
			mustBe(t, told, repository.ErrDanglingRef)
			must(t, g.comments.In("acme").Restore(ctx, "c"))
			want = "old"
		}
		outcomes[told == nil]++
		got, err := g.comments.In("acme").Get(ctx, "c")
		must(t, err)
		if got.Body != want {
			t.Errorf("after %d requests: the create said %v, and what comes back is %q", n, told, got.Body)
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("creates that held and were refused: %v", outcomes)
	}
}

// The transaction of a create finds that the parent has gone: nothing is written, though the process dies then.
func TestACreatorThatDiesWhereTheParentHadGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := openOnePartition(t, e.Client(nil), parented.Cascade)
	p.note(t, "a")
	slow := pauseAt(2)
	mortal, die := context.WithCancel(ctx)
	other := openOnePartition(t, clientOf(e, slow, &diesAfter{n: 4, die: die}), parented.Cascade)
	var told error
	writing := slow.until(func() { told = other.comments.In("acme").Create(mortal, commentOf("a", "new")) })
	must(t, p.notes.In("acme").Delete(ctx, "a", nil))
	must(t, p.notes.In("acme").Purge(ctx, "a"))
	close(slow.goOn)
	<-writing
	if told == nil {
		t.Error("the create succeeded")
	}
	if c, err := p.comments.In("acme").Get(ctx, "new"); !errors.Is(err, repository.ErrNotFound) {
		t.Errorf("the parent had gone before the transaction, and there is %+v, %v", c, err)
	}
}

// The answer to a create is lost, and an outage follows, so that neither the child nor its parent, which is deleted
// meanwhile, can be looked at. The process lives, and Resume comes by when the outage is over.
func TestACreateThatIsLostInAnOutage(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it loses answers")
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{client: e.Client(nil)}
	g := plant(t, p)
	note := g.tree(t, "acme", 1, 0)
	ws := newStepper()
	wg := g.of(t, e, p, ws)
	var told error
	ws.start(func() {
		c := &Comment{Body: "new"}
		c.ID = "new"
		told = wg.comments.Under(note).Create(ctx, c)
	})
	ws.step(1)
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	e.Fault(emulator.Cut().AfterEffect().On(emulator.CreateItem).Times(1))
	e.Fault(emulator.Answer(503, 0).On(emulator.ReadItem).Times(1000))
	ws.finish()
	e.Faults().Clear()
	mustBe(t, told, repository.ErrAmbiguous)
	r, err := wg.forest.Resume(ctx, "acme")
	must(t, err)
	if n, err := g.comments.In("acme").Count(ctx, repository.All()); err != nil || n != 0 {
		t.Errorf("the create said %v, Resume %+v, and %d comments stand without their note, %v", told, r, n, err)
	}
}

// The id that a child names is that of another entity type's document in the same logical partition: there is no such parent.
func TestAParentIDOfAnotherEntityType(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := openOneTree(t, processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))).Client(nil), parented.Cascade)
	n := p.note(t, "n")
	must(t, p.comments.Under(n).Create(ctx, commentOf("n", "c")))
	r := &Reply{}
	r.ID = "r"
	if err := p.replies.UnderID("acme", "n").Create(ctx, r); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("Create: %v", err)
	}
	r.ParentID = ""
	must(t, p.replies.UnderID("acme", "c").Create(ctx, r))
	if err := p.replies.Move(ctx, "acme", "r", "n"); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("Move: %v", err)
	}
	r2 := &Reply{}
	r2.ParentID = "n"
	r3 := &Reply{}
	r3.ParentID = "c"
	if err := p.replies.In("acme").Batch().Create(r2).Create(r3).Commit(ctx); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("Batch of two parents: %v", err)
	}
}

type oneTree struct {
	onePartition
	replies *parented.Repository[Reply, Comment]
}

func openOneTree(t *testing.T, client *azcosmos.Client, rule parented.Rule) oneTree {
	t.Helper()
	p := oneTree{onePartition: openOnePartition(t, client, rule)}
	container := containerFor(t, client)
	cfg := repository.Config{PartitionKey: []string{"/tenantId"}}
	p.forest = parented.NewForest(parented.ForestConfig{})
	var err error
	p.notes, err = repository.New[Note](container, cfg)
	must(t, err)
	must(t, parented.Register(p.forest, p.notes, parented.Policy{Retain: time.Hour}))
	p.comments, err = parented.New[Comment](p.forest, p.notes, container, parented.Config{Config: cfg, Rule: rule})
	must(t, err)
	p.replies, err = parented.New[Reply](p.forest, p.comments.Items(), container, parented.Config{Config: cfg, Rule: rule})
	must(t, err)
	return p
}

func containerFor(t *testing.T, client *azcosmos.Client) *azcosmos.ContainerClient {
	t.Helper()
	container, err := client.NewContainer("one", "items")
	must(t, err)
	return container
}
