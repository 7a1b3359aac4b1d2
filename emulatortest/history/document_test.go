package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/emulatortest/history"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Note struct {
	tenantitem.TenantItem[Note]
	Title string `json:"title"`
	Count int64  `json:"count"`
}

// seeds is how many histories are recorded: HISTORIES in the environment, or a few.
func seeds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HISTORIES")
	if text == "" {
		return 30
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("HISTORIES: %v", err)
	}
	return n
}

// TestEightClientsUnderFaultsAreLinearizable: what eight processes do to two documents while requests fail can be explained
// by an order of their calls.
func TestEightClientsUnderFaultsAreLinearizable(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
	for seed := range seeds(t) {
		synctest.Test(t, func(t *testing.T) {
			var r history.Recorder
			record(t, &r, uint64(seed))
			r.Check(t, history.Document())
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func record(t *testing.T, r *history.Recorder, seed uint64) {
	t.Helper()
	ctx := context.Background()
	e := emulatortest.New(t, emulatortest.Calm()) // the clients share no session, and a replica that is behind is not linearizable
	setup(t, e.Client(nil))
	var clients sync.WaitGroup
	scopes := make([]*repository.Scope[Note], 8)
	for i := range scopes {
		container, err := e.ClientNamed(fmt.Sprint("client ", i), repository.ClientOptions(nil)).NewContainer("db", "main")
		if err != nil {
			t.Fatal(err)
		}
		notes, err := repository.New[Note](container, repository.Config{})
		if err != nil {
			t.Fatal(err)
		}
		scopes[i] = notes.In("acme")
	}
	disturb(e, seed)
	for i, notes := range scopes {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		clients.Go(func() {
			c := &client{notes: notes, etags: map[string]string{}}
			for range 12 {
				call := c.choose(random, i)
				r.Do(i, call, func() history.Answer { return c.make(ctx, call) })
				time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
			}
		})
	}
	clients.Wait()
}

// disturb makes requests fail now and then, before and after their effect, and some of those that are cut take effect later. Where every attempt of a
// create was answered 503, the engine takes the service at its word that it processed none, so that no 503 comes behind an effect here: a create that
// was applied all the same, and whose document another client has deleted since, would be made twice.
func disturb(e *emulatortest.Emulator, seed uint64) {
	for i, f := range []emulator.Fault{
		emulator.Throttle(time.Millisecond), emulator.Answer(449, 0), emulator.Answer(http.StatusServiceUnavailable, 0),
		emulator.Answer(http.StatusRequestTimeout, 0).AfterEffect(),
		emulator.Cut(), emulator.Cut().AfterEffect(), emulator.Cut().Later(2), emulator.Delay(time.Millisecond),
	} {
		e.Fault(f.Probability(0.03, seed*100+uint64(i)+1).Keep())
	}
}

func setup(t *testing.T, client *azcosmos.Client) {
	t.Helper()
	ctx := context.Background()
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil); err != nil {
		t.Fatal(err)
	}
	db, err := client.NewDatabase("db")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "main",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// client is one process: it remembers the etags that it was told.
type client struct {
	notes *repository.Scope[Note]
	etags map[string]string
}

func (c *client) choose(random *rand.Rand, who int) history.Call {
	call := history.Call{Key: string(rune('a' + random.IntN(2))), Text: fmt.Sprintf("%d.%d", who, random.IntN(1000))}
	verbs := []string{"create", "create", "get", "get", "increment", "increment", "replace", "replace", "upsert", "delete"}
	call.Verb = verbs[random.IntN(len(verbs))]
	switch call.Verb {
	case "replace":
		if call.ETag = c.etags[call.Key]; call.ETag == "" {
			call.Verb = "get"
		}
	case "increment":
		call.Number = 1
	}
	return call
}

func (c *client) make(ctx context.Context, call history.Call) history.Answer {
	n := &Note{Title: call.Text, Count: call.Number}
	n.ID = call.Key
	var err error
	switch call.Verb {
	case "create":
		err = c.notes.Create(ctx, n)
	case "upsert":
		err = c.notes.Upsert(ctx, n)
	case "replace":
		n.ETag = call.ETag
		err = c.notes.Replace(ctx, n)
	case "delete":
		err = c.notes.Delete(ctx, call.Key, nil)
	case "increment":
		n, err = c.notes.Patch(ctx, call.Key, repository.Increment("/count", 1))
	case "get":
		n, err = c.notes.Get(ctx, call.Key)
	}
	switch {
	case err == nil && call.Verb == "delete":
		return history.Answer{}
	case err == nil && call.Verb == "increment":
		return history.Answer{} // what comes back may be a later state, when the answer was lost and the document was read
	case err == nil:
		if n.ETag == `"overtaken"` { // another write followed before the answer was known
			return history.Answer{}
		}
		c.etags[call.Key] = n.ETag
		return history.Answer{Text: n.Title, Number: n.Count, ETag: n.ETag}
	case errors.Is(err, repository.ErrNotFound):
		return history.Answer{Outcome: history.Refused, Text: history.NotFound}
	case errors.Is(err, repository.ErrConflict):
		return history.Answer{Outcome: history.Refused, Text: history.Conflict}
	case errors.Is(err, repository.ErrPreconditionFailed):
		return history.Answer{Outcome: history.Refused, Text: history.Precondition}
	}
	return history.Answer{Outcome: history.Unknown}
}
