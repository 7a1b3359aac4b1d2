package repository_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// losing lets one write take effect, lets others work on it, and loses its answer.
type losing struct {
	armed atomic.Bool
	then  func()
}

func (l *losing) Do(req *policy.Request) (*http.Response, error) {
	isQuery := req.Raw().Header.Get("x-ms-documentdb-query") != ""
	if req.Raw().Method == http.MethodGet || isQuery || !l.armed.CompareAndSwap(true, false) {
		return req.Next()
	}
	resp, err := req.Next()
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	l.then()
	return nil, io.ErrUnexpectedEOF
}

// A write that took effect, lost its answer and was overtaken before it was
// read back must not leave the caller with the other writer's etag.
func TestALostWriteThatWasOvertakenCantClobber(t *testing.T) {
	t.Parallel()
	writes := map[string]func(ctx context.Context, acme *repository.Scope[Note], n *Note) (*Note, error){
		"Create": func(ctx context.Context, acme *repository.Scope[Note], _ *Note) (*Note, error) {
			n := &Note{Title: "mine"}
			n.ID = "new"
			return n, acme.Create(ctx, n)
		},
		"Replace": func(ctx context.Context, acme *repository.Scope[Note], n *Note) (*Note, error) {
			n.Title = "mine"
			return n, acme.Replace(ctx, n)
		},
		"Upsert": func(ctx context.Context, acme *repository.Scope[Note], n *Note) (*Note, error) {
			n.Title = "mine"
			return n, acme.Upsert(ctx, n)
		},
		"Mutate": func(ctx context.Context, acme *repository.Scope[Note], n *Note) (*Note, error) {
			return acme.Mutate(ctx, n.ID, func(n *Note) error { n.Title = "mine"; return nil })
		},
		"Batch": func(ctx context.Context, acme *repository.Scope[Note], n *Note) (*Note, error) {
			n.Title = "mine"
			return n, acme.Batch().Replace(n).Create(&Note{Title: "another"}).Commit(ctx)
		},
		"SaveAll": func(ctx context.Context, acme *repository.Scope[Note], n *Note) (*Note, error) {
			n.Title = "mine"
			_, err := acme.SaveAll(ctx, slices.Values([]*Note{n, {Title: "another"}}), nil)
			return n, err
		},
	}
	overtakers := map[string]func(ctx context.Context, theirs *repository.Scope[Note], id string) error{
		"by a mutation": func(ctx context.Context, theirs *repository.Scope[Note], id string) error {
			_, err := theirs.Mutate(ctx, id, func(n *Note) error { n.Count = 7; return nil })
			return err
		},
		"by a patch": func(ctx context.Context, theirs *repository.Scope[Note], id string) error {
			_, err := theirs.Patch(ctx, id, repository.Set("/count", 7))
			return err
		},
	}
	for name, write := range writes {
		for how, overtake := range overtakers {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				b, ctx := setupNotes(t), t.Context()
				lost := &losing{}
				container, err := b.emulator.Client(repository.ClientOptions(&azcosmos.ClientOptions{
					ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{lost}},
				})).NewContainer(emulatortest.DatabaseID(t, b.client, "db"), "main")
				must(t, err)
				acme := newRepository(t, container, repository.Config{}).In("acme")
				n := &Note{Title: "before"}
				must(t, acme.Create(ctx, n))
				id := n.ID
				if name == "Create" {
					id = "new"
				}
				lost.then = func() {
					if err := overtake(ctx, b.acme, id); err != nil {
						t.Errorf("the other writer: %v", err)
					}
				}
				lost.armed.Store(true)
				mine, err := write(ctx, acme, n)
				if errors.Is(err, repository.ErrAmbiguous) {
					return // said honestly; there is no etag to misuse
				}
				must(t, err)
				mine.Title = "mine again"
				var conflict *repository.ConflictError[Note]
				if err := acme.Save(ctx, mine); !errors.As(err, &conflict) || conflict.Current.Count != 7 {
					t.Errorf("saving over an unseen change: %v", err)
				}
				got, err := acme.Get(ctx, id)
				must(t, err)
				if got.Title != "mine" || got.Count != 7 {
					t.Errorf("stored: title %q, count %d", got.Title, got.Count)
				}
			})
		}
	}
}

// A replica that lags shows neither document; the batch is then sent again, and
// only the refusal tells how far to look.
func TestALostBatchThroughALaggingReplica(t *testing.T) {
	t.Parallel()
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setupNotes(t, emulatortest.WithReplicaLag(3*time.Second))
				first, second := &Note{Title: "first"}, &Note{Title: "second"}
				b.emulator.Fault(loss.fault.On(emulator.TransactionalBatch))
				err := b.acme.Batch().Create(first).Create(second).Commit(t.Context())
				if errors.Is(err, repository.ErrAmbiguous) && loss.name != "unavailable before the effect" {
					return // nothing proves it before the replica has caught up
				}
				must(t, err)
				got, err := b.acme.Get(t.Context(), first.ID)
				must(t, err)
				if got.ETag != first.ETag {
					t.Errorf("the entity has etag %s, the document %s", first.ETag, got.ETag)
				}
			})
		})
	}
}

// The look after a lost answer may have been too early, so that a refusal for
// lack of throughput does not say that nothing was stored.
func TestALostWriteThatIsThrottledThenIsAmbiguous(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setupNotes(t, emulatortest.WithReplicaLag(time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := b.acme.Exists(ctx, "nothing") // the client knows the account now
		must(t, err)
		b.emulator.Fault(emulator.Cut().AfterEffect().On(emulator.CreateItem))
		b.emulator.Fault(emulator.Answer(http.StatusTooManyRequests, 3200).On(emulator.CreateItem).Keep())
		err = b.acme.Create(ctx, &Note{Title: "x"})
		if !errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
			t.Errorf("got %v", err)
		}
	})
}

// A document under an older name is in another partition than the one that a
// delete asks first: that nothing is there does not mean that it is gone.
func TestALostDeleteReachesTheOlderName(t *testing.T) {
	t.Parallel()
	deletes := map[string]func(ctx context.Context, acme *repository.Scope[Note], ids []string) error{
		"Delete": func(ctx context.Context, acme *repository.Scope[Note], ids []string) error {
			for _, id := range ids {
				if err := acme.Delete(ctx, id, nil); err != nil {
					return err
				}
			}
			return nil
		},
		"DeleteAll": func(ctx context.Context, acme *repository.Scope[Note], ids []string) error {
			_, err := acme.DeleteAll(ctx, slices.Values(ids), nil)
			return err
		},
	}
	for name, remove := range deletes {
		for _, loss := range losses {
			t.Run(name+"/"+loss.name, func(t *testing.T) {
				t.Parallel()
				b, ctx := setupNotes(t), t.Context()
				older := newRepository(t, b.container, repository.Config{EntityType: "OldNote"}).In("acme")
				notes := []*Note{{Title: "a"}, {Title: "b"}}
				ids := make([]string, len(notes))
				for i, n := range notes {
					must(t, older.Create(ctx, n))
					ids[i] = n.ID
				}
				renamed := newRepository(t, b.container, repository.Config{Aliases: []string{"OldNote"}}).In("acme")
				armed := b.emulator.Fault(loss.fault.On(emulator.DeleteItem, emulator.TransactionalBatch))
				err := remove(ctx, renamed, ids)
				if armed.Fired() != 1 || !errors.Is(err, repository.ErrAmbiguous) {
					t.Fatalf("the fault happened %d times; %v", armed.Fired(), err)
				}
				for _, id := range ids { // the caller looks, and finishes what is left
					if err := renamed.Delete(ctx, id, nil); err != nil && !errors.Is(err, repository.ErrNotFound) {
						t.Fatal(err)
					}
				}
				for _, id := range ids {
					if there, err := older.Exists(ctx, id); err != nil || there {
						t.Errorf("a deleted document is still there: %v, %v", there, err)
					}
				}
			})
		}
	}
}

// What follows a write is another document's business: its conflict must not
// make the write happen twice, or look as if it had not happened.
func TestAConflictOfWhatFollowsAWriteIsNotTheWritesOwn(t *testing.T) {
	t.Parallel()
	b, ctx := setupNotes(t), t.Context()
	n := &Note{Title: "x"}
	must(t, b.acme.Create(ctx, n))
	elsewhere := &Note{Title: "elsewhere"}
	must(t, b.acme.Create(ctx, elsewhere))
	hooked := newRepository(t, b.container, repository.Config{})
	fail := true
	must(t, engine.CollectionOf(hooked).SetObserver(engine.OwnerParented, engine.ObserverFunc(
		func(ctx context.Context, _ string, _ []any, _ bool) error {
			if !fail {
				return nil
			}
			fail = false
			_, err := b.acme.Patch(ctx, elsewhere.ID, repository.Set("/count", 1).IfMatch(`"other"`))
			return err
		},
	)))
	acme := hooked.In("acme")
	if _, err := acme.Mutate(ctx, n.ID, func(n *Note) error { n.Count++; return nil }); !errors.Is(err, repository.ErrPreconditionFailed) {
		t.Errorf("Mutate: %v", err)
	}
	got, err := acme.Get(ctx, n.ID)
	must(t, err)
	if got.Count != 1 {
		t.Errorf("the mutation was applied %d times", got.Count)
	}
	fail = true
	var conflict *repository.ConflictError[Note]
	if err := acme.Replace(ctx, got); err == nil || errors.As(err, &conflict) {
		t.Errorf("a replacement that was stored: %v", err)
	}
}
