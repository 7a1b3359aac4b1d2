package parented_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// The whole run is -kills 25 -descendants 5000; the defaults keep everyday runs short.
var (
	kills       = flag.Int("kills", 3, "how often the worker process is killed")
	descendants = flag.Int("descendants", 600, "how many documents it deletes each time")
	seed        = flag.Uint64("seed", 0, "what random tests draw from, to repeat a run as far as the scheduler allows; 0 is another one each time")
)

// workerEnv holds the assignment of a test binary that runs as a worker.
const workerEnv = "GROVE_TEST_DELETE"

type assignment struct{ Endpoint, Key, Tenant, Note string }

// work is the other process: it takes up what an earlier one began, then
// deletes its note.
func work(text string) error {
	var a assignment
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	credential, err := azcosmos.NewKeyCredential(a.Key)
	if err != nil {
		return err
	}
	client, err := azcosmos.NewClientWithKey(a.Endpoint, credential, repository.ClientOptions(nil))
	if err != nil {
		return err
	}
	defer client.Close()
	database, err := client.NewDatabase("notes")
	if err != nil {
		return err
	}
	g, err := wire(database, planting{config: parented.ForestConfig{PageSize: 100}})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := g.forest.Resume(ctx); err != nil {
		return err
	}
	return deleteOf(ctx, g, a.Tenant, a.Note)
}

func deleteOf(ctx context.Context, g grove, tenant, note string) error {
	there, err := g.notes.In(tenant).Exists(ctx, note)
	if err != nil || !there {
		return err
	}
	return g.notes.In(tenant).Delete(ctx, note, nil)
}

func TestADeleteSurvivesTheDeathOfItsProcess(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it serves an account of its own")
	server := emulatortest.Serve(t, emulatortest.Calm()) // it compares documents as they are stored
	g := plant(t, planting{client: server.Client(nil)})
	g.tree(t, "acme", 3, 3)
	g.tree(t, "globex", 3, 3)
	before := append(g.documents(t, "acme"), g.documents(t, "globex")...)

	random := seeded(t)
	whole := time.Duration(0) // how long an undisturbed worker takes
	interrupted := 0
	for round := 0; interrupted < *kills; round++ {
		note := g.largeTree(t, "acme", *descendants)
		a, err := json.Marshal(assignment{Endpoint: server.Endpoint(), Key: server.Key(), Tenant: "acme", Note: note.ID})
		must(t, err)
		begun := time.Now()
		worker := startWorker(t, string(a))
		if round > 0 {
			doomed := worker.Process // and not the one that takes up its work
			timer := time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { _ = doomed.Kill() })
			if worker.Wait() != nil {
				interrupted++
			} else {
				whole = time.Since(begun) // the machine has become faster than it was
			}
			timer.Stop()
			worker = startWorker(t, string(a))
		}
		must(t, worker.Wait())
		if round == 0 {
			whole = time.Since(begun)
		}
		if round > 10**kills {
			t.Fatalf("only %d of %d kills came before the worker was done", interrupted, round)
		}
		after := append(g.documents(t, "acme"), g.documents(t, "globex")...)
		if !slices.EqualFunc(before, after, bytes.Equal) {
			t.Fatalf("round %d: %d documents before, %d after, or not the same ones", round, len(before), len(after))
		}
	}
	t.Logf("%d workers were killed before their end; undisturbed one takes %v", interrupted, whole)
}

func startWorker(t *testing.T, assignment string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	worker := exec.Command(self)
	worker.Env = append(os.Environ(), workerEnv+"="+assignment)
	worker.Stderr = os.Stderr
	must(t, worker.Start())
	return worker
}

// largeTree makes a note with that many descendants on three levels, in bulk.
func (g grove) largeTree(t testing.TB, tenant string, n int) *Note {
	t.Helper()
	ctx := context.Background()
	note := &Note{Title: "large"}
	must(t, g.notes.In(tenant).Create(ctx, note))
	comments := make([]*Comment, n/100+1)
	for i := range comments {
		comments[i] = &Comment{Body: fmt.Sprint(i)}
		comments[i].ParentID = note.Ref()
	}
	_, err := g.comments.In(tenant).SaveAll(ctx, slices.Values(comments), nil)
	must(t, err)
	replies := make([]*Reply, n/10)
	for i := range replies {
		replies[i] = &Reply{Body: fmt.Sprint(i)}
		replies[i].ParentID = comments[i%len(comments)].Ref()
	}
	_, err = g.replies.In(tenant).SaveAll(ctx, slices.Values(replies), nil)
	must(t, err)
	reactions := make([]*Reaction, n-len(comments)-len(replies))
	for i := range reactions {
		reactions[i] = &Reaction{Sign: fmt.Sprint(i)}
		reactions[i].ParentID = replies[i%len(replies)].Ref()
	}
	_, err = g.reactions.In(tenant).SaveAll(ctx, slices.Values(reactions), nil)
	must(t, err)
	return note
}

// documents returns a tenant's documents as they are stored, sorted.
func (g grove) documents(t testing.TB, tenant string) [][]byte {
	t.Helper()
	container, err := g.database.NewContainer("items")
	must(t, err)
	var out [][]byte
	pager := container.NewQueryItemsPager("SELECT * FROM c WHERE c.tenantId = @tenant", azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
		QueryParameters: []azcosmos.QueryParameter{{Name: "@tenant", Value: tenant}},
	})
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		must(t, err)
		out = append(out, page.Items...)
	}
	slices.SortFunc(out, bytes.Compare)
	return out
}
