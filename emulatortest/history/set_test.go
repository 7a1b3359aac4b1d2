package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/history"
	"github.com/cosmosgrove/grove/repository"
)

// caller is one process: it makes a call of its choice and gives the answer.
type caller func(random *rand.Rand) (history.Call, func() history.Answer)

// recordCalls lets the processes that open makes, one for each client, call at the same time while requests fail, and checks the history.
func recordCalls(t *testing.T, model porcupine.Model, clients, calls int, prepare func(ctx context.Context, e *emulatortest.Emulator), open func(e *emulatortest.Emulator, i int) caller) {
	t.Helper()
	emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
	for seed := range seeds(t) {
		synctest.Test(t, func(t *testing.T) {
			var r history.Recorder
			e := emulatortest.New(t, emulatortest.Calm()) // the clients share no session, and a replica that is behind is not linearizable
			setup(t, e.Client(nil))
			prepare(t.Context(), e)
			processes := make([]caller, clients)
			for i := range processes {
				processes[i] = open(e, i)
			}
			disturb(e, uint64(seed))
			var group sync.WaitGroup
			for i, process := range processes {
				random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
				group.Go(func() {
					for range calls {
						call, do := process(random)
						r.Do(i, call, do)
						time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
					}
				})
			}
			group.Wait()
			r.Check(t, model)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// notesFor is the notes of a tenant as a process of its own sees them.
func notesFor(t *testing.T, e *emulatortest.Emulator, name string) *repository.Repository[Note] {
	t.Helper()
	container, err := e.ClientNamed(name, repository.ClientOptions(nil)).NewContainer("db", "main")
	if err != nil {
		t.Fatal(err)
	}
	notes, err := repository.New[Note](container, repository.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// answerOf is what a client learns from an error.
func answerOf(err error) history.Answer {
	switch {
	case err == nil:
		return history.Answer{}
	case errors.Is(err, repository.ErrAmbiguous):
	case errors.Is(err, repository.ErrNotFound):
		return history.Answer{Outcome: history.Refused, Text: history.NotFound}
	case errors.Is(err, repository.ErrConflict):
		return history.Answer{Outcome: history.Refused, Text: history.Conflict}
	}
	return history.Answer{Outcome: history.Unknown}
}

func keys[T any](ctx context.Context, r *repository.Reader[T], key func(*T) string) history.Answer {
	var found []string
	for item, err := range r.Query(ctx, repository.All()) {
		if err != nil {
			return history.Answer{Outcome: history.Unknown}
		}
		found = append(found, key(item))
	}
	slices.Sort(found)
	return history.Answer{Text: strings.Join(found, ",")}
}

// TestATenantsSetIsLinearizable: what a query of a tenant finds while others create and delete is what was there at one moment.
func TestATenantsSetIsLinearizable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	recordCalls(t, history.Set(), 4, 8, func(context.Context, *emulatortest.Emulator) {}, func(e *emulatortest.Emulator, i int) caller {
		notes := notesFor(t, e, fmt.Sprint("client ", i)).In("acme")
		return func(random *rand.Rand) (history.Call, func() history.Answer) {
			key := string(rune('a' + random.IntN(3)))
			switch random.IntN(3) {
			case 0:
				n := &Note{Title: key}
				n.ID = key
				return history.Call{Verb: "add", Key: key}, func() history.Answer { return answerOf(notes.Create(ctx, n)) }
			case 1:
				return history.Call{Verb: "remove", Key: key}, func() history.Answer { return answerOf(notes.Delete(ctx, key, nil)) }
			}
			return history.Call{Verb: "query"}, func() history.Answer {
				return keys(ctx, &notes.Reader, func(n *Note) string { return n.ID })
			}
		}
	})
}
