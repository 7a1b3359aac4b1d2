package parented_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// apart are notes and comments in a container each, as one process sees them.
type apart struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
}

func openApart(t *testing.T, client *azcosmos.Client) apart {
	t.Helper()
	return openApartWith(t, client, parented.Policy{Retain: 100 * 365 * 24 * time.Hour})
}

// anyClock stands still, or jumps by years with every look: no time tells one delete
// from another.
func anyClock() func() time.Time {
	stands := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if rand.IntN(2) == 0 {
		return func() time.Time { return stands }
	}
	return func() time.Time { return stands.AddDate(rand.IntN(40)-20, 0, 0) }
}

// openApartWith is openApart with what deletes leave.
func openApartWith(t *testing.T, client *azcosmos.Client, policy parented.Policy) apart {
	t.Helper()
	here, err := client.NewContainer("db", "notes")
	must(t, err)
	there, err := client.NewContainer("db", "comments")
	must(t, err)
	forest := parented.NewForest(parented.ForestConfig{Now: anyClock()})
	a := apart{forest: forest}
	a.notes, err = repository.New[Note](here, repository.Config{})
	must(t, err)
	must(t, parented.Register(forest, a.notes, policy))
	a.comments, err = parented.New[Comment](forest, a.notes, there, parented.Config{Rule: parented.Cascade, Policy: policy})
	must(t, err)
	return a
}

func plantApart(t *testing.T, client *azcosmos.Client) (apart, *Note) {
	t.Helper()
	ctx := t.Context()
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil)
	must(t, err)
	db, err := client.NewDatabase("db")
	must(t, err)
	forever := int32(-1)
	for _, id := range []string{"notes", "comments"} {
		_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
			ID:                     id,
			DefaultTimeToLive:      &forever,
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
		}, nil)
		must(t, err)
	}
	a := openApart(t, client)
	note := &Note{Title: "root"}
	must(t, a.notes.In("acme").Create(ctx, note))
	for _, body := range []string{"first", "second"} {
		must(t, a.comments.Under(note).Create(ctx, &Comment{Body: body}))
	}
	return a, note
}

// A restore in another process, and a delete after it in a third, list the
// children on replicas that are behind. What the run before has written, they
// see all the same, in a container that they never looked at.
func TestTheNextRunSeesWhatTheLastOneWrote(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	first, note := plantApart(t, e.Client(nil))
	must(t, first.notes.In("acme").Delete(ctx, note.ID, nil))

	behind := func() { e.Fault(emulator.Behind(2).On(emulator.QueryItems)) }
	count := func(want int64) {
		t.Helper()
		n, err := openApart(t, e.Client(nil)).comments.In("acme").Count(ctx, repository.All())
		if must(t, err); n != want {
			t.Fatalf("%d comments are there, want %d", n, want)
		}
	}
	behind()
	must(t, openApart(t, e.Client(nil)).notes.In("acme").Restore(ctx, note.ID))
	count(2)
	behind()
	must(t, openApart(t, e.Client(nil)).notes.In("acme").Delete(ctx, note.ID, nil))
	count(0)
}

// A branch that was deleted before its tree stays deleted when the tree is
// restored, though the clock showed the same time at both deletes.
func TestABranchThatWasDeletedBeforeItsTreeStaysDeleted(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	a, note := plantApart(t, e.Client(nil))
	branch, err := a.comments.Under(note).First(ctx, repository.Where(repository.Eq("body", "first")))
	must(t, err)
	must(t, a.comments.Under(note).Delete(ctx, branch.ID, nil))
	must(t, a.notes.In("acme").Delete(ctx, note.ID, nil))
	must(t, a.notes.In("acme").Restore(ctx, note.ID))
	left, err := a.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	n, err := a.comments.Under(note).Count(ctx, repository.All())
	if must(t, err); n != 1 || left.Body != "second" {
		t.Errorf("%d comments came back, one of them %q", n, left.Body)
	}
}

// A run is known by its id: what a restore brought back keeps it as rolled back, and
// an own ttl survives both.
func TestARestoredDocumentKeepsItsTTL(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	a, note := plantApart(t, e.Client(nil))
	ttl := 7_000_000
	note, err := a.notes.In("acme").Mutate(ctx, note.ID, func(n *Note) error { n.TTL = &ttl; return nil })
	must(t, err)
	var rolledBack []string
	for range 2 {
		must(t, a.notes.In("acme").Delete(ctx, note.ID, nil))
		must(t, a.notes.In("acme").Restore(ctx, note.ID))
		outline, err := engine.CollectionOf(a.notes).Outline(context.WithoutCancel(ctx), "acme", nil, note.ID)
		must(t, err)
		if outline.TTL != ttl || outline.Journal == nil || outline.Journal.Run != "" {
			t.Fatalf("after a restore: ttl %d, journal %+v", outline.TTL, outline.Journal)
		}
		rolledBack = append(rolledBack, cmp.Or(outline.Journal.RolledBack, "none"))
	}
	if rolledBack[0] == "none" || rolledBack[0] == rolledBack[1] {
		t.Errorf("the runs that were rolled back: %v", rolledBack)
	}
}

// stopAt calls a function before the nth request of a client.
type stopAt struct {
	n    int32
	call func()
	seen atomic.Int32
}

func (s *stopAt) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().URL.Path != "/" && s.seen.Add(1) == s.n {
		s.call()
	}
	return req.Next()
}

func (s *stopAt) client(e *emulatortest.Emulator) *azcosmos.Client { return clientOf(e, s) }

func clientOf(e *emulatortest.Emulator, policies ...policy.Policy) *azcosmos.Client {
	o := repository.ClientOptions(nil)
	o.PerCallPolicies = append(o.PerCallPolicies, policies...)
	return e.Client(o)
}

// A process stops in the middle of a delete, which a second one finishes. It
// goes on in the middle of the restore, at every place of both. The tree is
// whole afterwards.
func TestASlowDeleteGoesOnInTheMiddleOfTheRestore(t *testing.T) {
	t.Parallel()
	const slowRequests, restoreRequests = 9, 7
	for n := range int32(slowRequests) {
		for m := range int32(restoreRequests) {
			t.Run(fmt.Sprintf("delete stops at %d, restore at %d", n+1, m+1), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				first, note := plantApart(t, e.Client(nil))

				stopped, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
				slow := openApart(t, (&stopAt{n: n + 1, call: func() { close(stopped); <-goOn }}).client(e))
				go func() {
					defer close(ended)
					_ = slow.notes.In("acme").Delete(ctx, note.ID, nil) // what it says depends on where it stopped
				}()
				select {
				case <-stopped:
				case <-ended:
				}
				_ = first.notes.In("acme").Delete(ctx, note.ID, nil) // not found where the slow one was through
				release := func() { close(goOn); <-ended }
				restorer := &stopAt{n: m + 1, call: release}
				must(t, openApart(t, restorer.client(e)).notes.In("acme").Restore(ctx, note.ID))
				if restorer.seen.Load() <= m {
					release()
				}
				there, err := first.notes.In("acme").Exists(ctx, note.ID)
				must(t, err)
				count, err := first.comments.In("acme").Count(ctx, repository.All())
				must(t, err)
				if there && count != 2 || !there && count != 0 {
					t.Errorf("the note is there: %t; %d of its 2 comments are", there, count)
				}
			})
		}
	}
}
