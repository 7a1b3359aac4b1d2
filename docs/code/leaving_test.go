package code

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// finish brings to its end what Grove has under way.
func finish(ctx context.Context, db *registry.Database, keeper *denorm.Keeper) error {
	// snippet: finish
	if _, err := db.Forest().Resume(ctx); err != nil { // deletes that had begun
		return err
	}
	return keeper.CatchUp(ctx) // copies, counts and lists
	// end snippet
}

// What docs/leaving.md says to whoever leaves: after it, another program finds in the documents all that is there, and tells
// what was deleted by one condition.
func TestLeaving(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it reads a database by its id")
	var (
		client   *azcosmos.Client
		db       *registry.Database
		keeper   *denorm.Keeper
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
		all      *repository.Repository[Task]
		replies  *repository.Repository[Reply]
	)
	emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{Database: "notes", Provision: true}),
		registry.Entity[Note](registry.SoftDelete(24*time.Hour)),
		registry.Child[Comment, Note](parented.Cascade),
		tasks,
		fx.Populate(&client, &db, &keeper, &notes, &comments, &all, &replies),
	), emulatortest.Calm()) // the other program has no session token, and reads one page
	ctx, acme := t.Context(), notes.In("acme")
	kept, gone, task := note(t, acme, "kept", 1), note(t, acme, "gone", 1), &Task{}
	for _, n := range []*Note{kept, gone} {
		if err := comments.Under(n).Create(ctx, &Comment{Body: "first"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.In("acme").Create(ctx, task); err != nil {
		t.Fatal(err)
	}
	if err := replies.In("acme").Create(ctx, &Reply{TaskID: task.Ref(), Text: "done"}); err != nil {
		t.Fatal(err)
	}
	if err := acme.Delete(ctx, gone.ID, nil); err != nil {
		t.Fatal(err)
	}
	if err := finish(ctx, db, keeper); err != nil {
		t.Fatal(err)
	}
	container, err := client.NewContainer("notes", registry.DefaultContainer)
	if err != nil {
		t.Fatal(err)
	}
	for entityType, want := range map[string]string{"Note": `"kept"`, "Comment": `"parentId":"` + kept.ID + `"`, "Task": `"replyCount":1`} {
		pager := container.NewQueryItemsPager("SELECT * FROM c WHERE NOT IS_DEFINED(c.deletedAt)",
			azcosmos.NewPartitionKeyString("acme").AppendString(entityType), nil)
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) != 1 || !json.Valid(page.Items[0]) || !strings.Contains(string(page.Items[0]), want) {
			t.Errorf("another program finds %d of %s: %s", len(page.Items), entityType, page.Items)
		}
	}
}
