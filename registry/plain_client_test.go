package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

// What goes around the verbs of a scope is refused too, where the client's SDK may send a write twice: trees, transactions of several batches, imports and
// erasures.
func TestAClientWithoutTheOptionsChangesNothing(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it makes a client of its own")
	e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	open := func(client *azcosmos.Client) (*registry.Database, *repository.Repository[Note], *parented.Repository[Comment, Note]) {
		plan, err := registry.NewPlan(registry.Config{Database: "db", Provision: true}, []registry.Declaration{
			registry.EntityOf[Note](registry.SoftDelete(time.Hour)), registry.ChildOf[Comment, Note](parented.Cascade),
		})
		must(t, err)
		_, err = registry.Provision(t.Context(), client, plan)
		must(t, err)
		db, err := registry.Open(client, plan)
		must(t, err)
		notes, err := registry.RepositoryOf[Note](db)
		must(t, err)
		comments, err := registry.ChildrenOf[Comment, Note](db)
		must(t, err)
		return db, notes, comments
	}
	_, notes, comments := open(e.Client(nil))
	ctx := t.Context()
	n, other, gone := &Note{}, &Note{}, &Note{}
	for _, note := range []*Note{n, other, gone} {
		must(t, notes.In("acme").Create(ctx, note))
	}
	c := &Comment{}
	must(t, comments.Under(n).Create(ctx, c))
	must(t, notes.In("acme").Delete(ctx, gone.ID, nil))
	before := e.Requests().Mark()

	db, plain, children := open(e.Client(&azcosmos.ClientOptions{}))
	acme := plain.In("acme")
	_, imported := db.Tenants().Import(ctx, "acme", strings.NewReader(`{"id":"x","tenantId":"acme","entityType":"Note"}`), nil)
	_, erased := db.Tenants().Erase(ctx, "acme", nil)
	for name, err := range map[string]error{
		"a delete of a tree": acme.Delete(ctx, n.ID, nil), "a restore": acme.Restore(ctx, gone.ID), "a purge": acme.Purge(ctx, gone.ID),
		"a child": children.Under(n).Create(ctx, &Comment{}), "a move": children.Move(ctx, "acme", c.ID, other.Ref()),
		"a transaction": partition.Commit(ctx, acme.Batch().Create(&Note{}), acme.Batch().Patch(other.ID, repository.Set("/title", "x"))),
		"an import":     imported, "an erasure": erased,
	} {
		if !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "repository.ClientOptions") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, x := range e.Requests().Since(before) {
		if op := string(x.Operation); strings.HasSuffix(op, "Item") && !strings.HasPrefix(op, "Read") || strings.Contains(op, "Batch") {
			t.Errorf("a write was sent: %s", op)
		}
	}
}
