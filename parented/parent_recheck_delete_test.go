package parented_test

import (
	"net/http"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A batch whose delete can't be carried out yet keeps the checks pending of children whose parents it could not look at again.
func TestABatchThatCannotFinishItsDeleteChecksLater(t *testing.T) {
	t.Parallel()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{client: e.Client(nil), vote: parented.Cascade}
	g := plant(t, p)
	stays, goes := &Note{Title: "stays"}, &Note{Title: "goes"}
	must(t, g.notes.In("acme").Create(t.Context(), stays))
	must(t, g.notes.In("acme").Create(t.Context(), goes))
	must(t, g.comments.In("acme").Create(t.Context(), commentUnder("old", stays)))
	var armed *emulator.ArmedFault
	p.client = clientOf(e, &aroundWrite{before: func() {
		must(t, g.notes.In("acme").Delete(t.Context(), goes.ID, nil))
		armed = e.Fault(emulator.Answer(http.StatusForbidden, 0).On(emulator.ReadItem, emulator.QueryItems).Keep())
	}, after: func() {}})
	database, err := p.client.NewDatabase(g.database.ID())
	must(t, err)
	second := open(t, database, p)
	err = second.comments.In("acme").Batch().Create(commentUnder("x", goes)).Delete("old", "").Commit(t.Context())
	armed.Disarm()
	mustBe(t, err, repository.ErrAmbiguous)
	_, err = second.forest.Resume(t.Context())
	must(t, err)
	there, err := g.comments.In("acme").Exists(t.Context(), "x")
	must(t, err)
	if there {
		t.Errorf("the child stands without its parent")
	}
}
