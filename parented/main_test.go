package parented_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) {
	if assignment, ok := os.LookupEnv(workerEnv); ok {
		if err := work(assignment); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

type Note struct {
	tenantitem.TenantItem[Note]
	Title string `json:"title"`
}

type Comment struct {
	parented.ParentedItem[Comment, Note]
	Body string `json:"body"`
}

type Reply struct {
	parented.ParentedItem[Reply, Comment]
	Body string `json:"body"`
}

type Reaction struct {
	parented.ParentedItem[Reaction, Reply]
	Sign string `json:"sign"`
}

// Vote restricts: a comment with votes, and the note above it, must stay.
type Vote struct {
	parented.ParentedItem[Vote, Comment]
	Up bool `json:"up"`
}

// Label survives its note.
type Label struct {
	parented.ParentedItem[Label, Note]
	Text string `json:"text"`
}

type grove struct {
	forest    *parented.Forest
	database  *azcosmos.DatabaseClient
	notes     *repository.Repository[Note]
	comments  *parented.Repository[Comment, Note]
	replies   *parented.Repository[Reply, Comment]
	reactions *parented.Repository[Reaction, Reply]
	votes     *parented.Repository[Vote, Comment]
	labels    *parented.Repository[Label, Note]
}

type planting struct {
	client *azcosmos.Client
	config parented.ForestConfig
	note   parented.Policy
	child  parented.Policy // of comments
	label  parented.Policy
	vote   parented.Rule // of votes; Restrict when it is left out
}

func setup(t testing.TB, options ...emulatortest.Option) grove {
	t.Helper()
	return plant(t, planting{client: emulatortest.Client(t, options...)})
}

// processes is an account for tests in which one process looks at what another one wrote, without its session: nothing promises that it sees
// that at once.
func processes(t testing.TB, options ...emulatortest.Option) *emulatortest.Emulator {
	t.Helper()
	return emulatortest.New(t, append(options, emulatortest.Calm())...)
}

func plant(t testing.TB, p planting) grove {
	t.Helper()
	ctx := context.Background()
	id := emulatortest.DatabaseID(t, p.client, "notes")
	_, err := p.client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	database, err := p.client.NewDatabase(id)
	must(t, err)
	forever := int32(-1)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "items",
		DefaultTimeToLive:      &forever,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	return open(t, database, p)
}

func open(t testing.TB, database *azcosmos.DatabaseClient, p planting) grove {
	t.Helper()
	g, err := wire(database, p)
	must(t, err)
	return g
}

// wire makes the repositories over a container that exists.
func wire(database *azcosmos.DatabaseClient, p planting) (grove, error) {
	container, err := database.NewContainer("items")
	if err != nil {
		return grove{}, err
	}
	g := grove{forest: parented.NewForest(p.config), database: database}
	var errs [7]error
	g.notes, errs[0] = repository.New[Note](container, repository.Config{})
	errs[1] = parented.Register(g.forest, g.notes, p.note)
	g.comments, errs[2] = parented.New[Comment](g.forest, g.notes, container, parented.Config{Rule: parented.Cascade, Policy: p.child})
	g.replies, errs[3] = parented.New[Reply](g.forest, g.comments.Items(), container, parented.Config{Rule: parented.Cascade})
	g.votes, errs[4] = parented.New[Vote](g.forest, g.comments.Items(), container, parented.Config{Rule: cmp.Or(p.vote, parented.Restrict)})
	g.reactions, errs[6] = parented.New[Reaction](g.forest, g.replies.Items(), container, parented.Config{Rule: parented.Cascade})
	g.labels, errs[5] = parented.New[Label](g.forest, g.notes, container, parented.Config{Rule: parented.Orphan, Policy: p.label})
	return g, errors.Join(errs[:]...)
}

// tree makes a note with so many comments and so many replies to each.
func (g grove) tree(t testing.TB, tenant string, comments, replies int) *Note {
	t.Helper()
	ctx := context.Background()
	note := &Note{Title: "root"}
	must(t, g.notes.In(tenant).Create(ctx, note))
	for i := range comments {
		c := &Comment{Body: fmt.Sprint("c", i)}
		must(t, g.comments.Under(note).Create(ctx, c))
		for j := range replies {
			must(t, g.replies.Under(c).Create(ctx, &Reply{Body: fmt.Sprint("r", i, ".", j)}))
		}
	}
	return note
}

func (g grove) collections() []*engine.Collection {
	return []*engine.Collection{
		engine.CollectionOf(g.notes), engine.CollectionOf(g.comments.Items()), engine.CollectionOf(g.replies.Items()),
		engine.CollectionOf(g.reactions.Items()), engine.CollectionOf(g.votes.Items()), engine.CollectionOf(g.labels.Items()),
	}
}

// stored counts what is in the database, hidden documents included, by entity type.
func (g grove) stored(t testing.TB, tenant string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, s := range g.collections() {
		n, err := s.Count(context.Background(), tenant, nil, engine.All())
		must(t, err)
		if n > 0 {
			out[s.EntityType()] = n
		}
	}
	return out
}

// seeded is a source of random numbers that the test's log names.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	t.Logf("-seed %d", from)
	return rand.New(rand.NewPCG(from, 0))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBe(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want one that is %v", err, want)
	}
}
