package scenarios_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

type Comment struct {
	parented.ParentedItem[Comment, Note]
	Body string `json:"body"`
}

// tree is the notes and their comments as a process of its own sees them.
type tree struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
}

func treeOf(w *emulatortest.World) tree {
	container, err := w.Client(repository.ClientOptions(nil)).NewContainer("db", "main")
	must(w, err)
	tr := tree{forest: parented.NewForest(parented.ForestConfig{PageSize: 1})}
	tr.notes, err = repository.New[Note](container, repository.Config{})
	must(w, err)
	must(w, parented.Register(tr.forest, tr.notes, parented.Policy{Retain: 24 * time.Hour}))
	tr.comments, err = parented.New[Comment](tr.forest, tr.notes, container, parented.Config{Rule: parented.Cascade})
	must(w, err)
	return tr
}

const comments = 2

func setupTree(w *emulatortest.World) {
	ctx := w.Context()
	client := w.Client(nil)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "db"}, nil)
	must(w, err)
	db, err := client.NewDatabase("db")
	must(w, err)
	forever := int32(-1)
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                "main",
		DefaultTimeToLive: &forever,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: repository.DefaultPartitionKey(), Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		},
	}, nil)
	must(w, err)
	tr := treeOf(w)
	root := note("root", "root", 0)
	must(w, tr.notes.In("acme").Create(ctx, root))
	for i := range comments {
		must(w, tr.comments.Under(root).Create(ctx, &Comment{Body: fmt.Sprint("c", i)}))
	}
}

// The rule of a tree: a note that is there has all its comments, and one that is not has none.
func wholeOrGone(w *emulatortest.World) error {
	tr := treeOf(w)
	n, err := tr.comments.In("acme").Count(w.Context(), repository.All())
	if err != nil {
		return err
	}
	_, err = tr.notes.In("acme").Get(w.Context(), "root")
	switch {
	case err == nil && n != comments:
		return fmt.Errorf("the note is there, and of its %d comments %d are", comments, n)
	case errors.Is(err, repository.ErrNotFound) && n != 0:
		return fmt.Errorf("the note is gone, and %d of its comments are there", n)
	case err != nil && !errors.Is(err, repository.ErrNotFound):
		return err
	}
	return nil
}

func resume(w *emulatortest.World) {
	for range 3 { // a tree that others hold up is left to the next one
		if _, err := treeOf(w).forest.Resume(w.Context()); err == nil {
			return
		}
	}
}

// TestADeleteBesideARestore: whoever deletes, restores and resumes at the same time, the tree is whole or gone.
func TestADeleteBesideARestore(t *testing.T) {
	t.Parallel()
	known(t)
	explore(t, emulatortest.Scenario{
		Setup: setupTree,
		Actors: []emulatortest.Actor{
			{Name: "deleter", Do: func(w *emulatortest.World) error {
				return refusalIsFine(treeOf(w).notes.In("acme").Delete(w.Context(), "root", nil))
			}},
			{Name: "restorer", Do: func(w *emulatortest.World) error {
				return refusalIsFine(treeOf(w).notes.In("acme").Restore(w.Context(), "root"))
			}},
		},
		Then:  resume,
		Check: wholeOrGone,
	})
}
