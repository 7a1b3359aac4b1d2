package parented_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

func commentUnder(id string, note *Note) *Comment {
	c := &Comment{Body: "new"}
	c.ID, c.ParentID = id, note.Ref()
	return c
}

// What one transaction writes is looked at as a whole, though the first part of it is refused.
func TestEveryPartOfATransactionLooksAgain(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(a apart, x, y *Comment) error{
		"two parts": func(a apart, x, y *Comment) error {
			in := a.comments.In("acme")
			return partition.Commit(t.Context(), in.Batch().Create(x), in.Batch().Create(y))
		},
		"a create and an upsert": func(a apart, x, y *Comment) error {
			return a.comments.In("acme").Batch().Create(x).Upsert(y).Commit(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			first, note := plantApart(t, e.Client(nil))
			second := openApart(t, clientOf(e, &aroundWrite{before: func() {
				must(t, first.notes.In("acme").Delete(t.Context(), note.ID, nil))
			}, after: func() {}}))
			mustBe(t, write(second, commentUnder("x", note), commentUnder("y", note)), repository.ErrDanglingRef)
			for _, id := range []string{"x", "y"} {
				there, err := first.comments.In("acme").Exists(t.Context(), id)
				must(t, err)
				if there {
					t.Errorf("%s stands without its parent", id)
				}
			}
		})
	}
}

// A transaction of two parts of one entity type, of which one loses its child, is not refused as a whole.
func TestATransactionOfTwoPartsThatLosesOneChild(t *testing.T) {
	t.Parallel()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	first, note := plantApart(t, e.Client(nil))
	other := &Note{Title: "other"}
	must(t, first.notes.In("acme").Create(t.Context(), other))
	second := openApart(t, clientOf(e, &aroundWrite{before: func() {
		must(t, first.notes.In("acme").Delete(t.Context(), note.ID, nil))
	}, after: func() {}}))
	in := second.comments.In("acme")
	err := partition.Commit(t.Context(), in.Batch().Create(commentUnder("x", note)), in.Batch().Create(commentUnder("y", other)))
	there, existsErr := first.comments.In("acme").Exists(t.Context(), "y")
	must(t, existsErr)
	if there && !errors.Is(err, repository.ErrAmbiguous) {
		t.Errorf("a part is stored, and the commit says %v", err)
	}
}

// A child that is overwritten when the delete of its parent has ended can't be made a part of it; Resume in the same process does that.
func TestAChildThatCouldNotJoinADeleteJoinsLater(t *testing.T) {
	t.Parallel()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	first, note := plantApart(t, e.Client(nil))
	var armed *emulator.ArmedFault
	n := 0
	second := openApart(t, clientOf(e, &aroundWrite{before: func() {
		must(t, first.notes.In("acme").Delete(t.Context(), note.ID, nil))
	}, after: func() {}}, &onWrite{func() {
		if n++; n == 2 { // after the child itself
			armed = e.Fault(emulator.Answer(http.StatusForbidden, 0).On(emulator.PatchItem, emulator.TransactionalBatch).Keep())
		}
	}}))
	err := second.comments.In("acme").Upsert(t.Context(), commentUnder("x", note))
	if armed == nil {
		t.Fatal("there was no second write")
	}
	armed.Disarm()
	mustBe(t, err, repository.ErrAmbiguous)
	_, err = second.forest.Resume(t.Context())
	must(t, err)
	there, err := first.comments.In("acme").Exists(t.Context(), "x")
	must(t, err)
	must(t, first.notes.In("acme").Restore(t.Context(), note.ID))
	again, err := first.comments.In("acme").Exists(t.Context(), "x")
	must(t, err)
	if there || !again {
		t.Errorf("beside the deleted parent: %v; with the restored one: %v", there, again)
	}
}

// onWrite does something before each write of a client.
type onWrite struct{ call func() }

func (p *onWrite) Do(req *policy.Request) (*http.Response, error) {
	query := req.Raw().Header.Get("x-ms-documentdb-query") != "" || req.Raw().Header.Get("x-ms-documentdb-isquery") != ""
	if req.Raw().Method != http.MethodGet && !query {
		p.call()
	}
	return req.Next()
}

// A child that is overwritten, and has children that Restrict keeps, is not lost with the parent that was deleted in that instant.
func TestAnOverwrittenChildThatRestricts(t *testing.T) {
	t.Parallel()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	soft := parented.Policy{Retain: 24 * time.Hour}
	g := plant(t, planting{client: e.Client(nil), note: soft, child: soft})
	from, to := &Note{Title: "from"}, &Note{Title: "to"}
	must(t, g.notes.In("acme").Create(t.Context(), from))
	must(t, g.notes.In("acme").Create(t.Context(), to))
	must(t, g.comments.In("acme").Create(t.Context(), commentUnder("x", from)))
	x, err := g.comments.In("acme").Get(t.Context(), "x")
	must(t, err)
	must(t, g.votes.Under(x).Create(t.Context(), &Vote{Up: true}))
	client := clientOf(e, &aroundWrite{before: func() {
		must(t, g.notes.In("acme").Delete(t.Context(), to.ID, nil))
	}, after: func() {}})
	database, err := client.NewDatabase(g.database.ID())
	must(t, err)
	second := open(t, database, planting{client: client, note: soft, child: soft})
	mustBe(t, second.comments.In("acme").Upsert(t.Context(), commentUnder("x", to)), repository.ErrAmbiguous)
	_, err = second.forest.Resume(t.Context())
	must(t, err)
	_, err = second.forest.Sweep(t.Context(), "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
	must(t, err)
	must(t, second.notes.In("acme").Restore(t.Context(), to.ID))
	there, err := g.comments.In("acme").Exists(t.Context(), "x")
	must(t, err)
	if !there {
		t.Errorf("the child that Restrict keeps is hidden for ever")
	}
}
