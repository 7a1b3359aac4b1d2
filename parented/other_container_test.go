package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// scattered is a tree whose levels lie in two databases.
type scattered struct {
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	replies  *parented.Repository[Reply, Comment]
}

// openScattered is notes and replies in one database, and comments in another, as a process of its own sees them.
func openScattered(t *testing.T, e *emulatortest.Emulator, containers [3]string) scattered {
	t.Helper()
	client, soft := e.Client(repository.ClientOptions(nil)), parented.Policy{Retain: time.Hour}
	at := func(database, id string) *azcosmos.ContainerClient {
		container, err := client.NewContainer(database, id)
		must(t, err)
		return container
	}
	var s scattered
	var err error
	forest := parented.NewForest(parented.ForestConfig{})
	s.notes, err = repository.New[Note](at("one", containers[0]), repository.Config{})
	must(t, err)
	must(t, parented.Register(forest, s.notes, soft))
	s.comments, err = parented.New[Comment](forest, s.notes, at("two", containers[1]), parented.Config{Rule: parented.Cascade, Policy: soft})
	must(t, err)
	s.replies, err = parented.New[Reply](forest, s.comments.Items(), at("one", containers[2]), parented.Config{Rule: parented.Cascade, Policy: soft})
	must(t, err)
	return s
}

func (s scattered) count(t *testing.T) string {
	t.Helper()
	comments, err := s.comments.In("acme").Count(t.Context(), repository.All())
	must(t, err)
	replies, err := s.replies.In("acme").Count(t.Context(), repository.All())
	must(t, err)
	return fmt.Sprint(comments, replies)
}

// The levels of a tree may lie in two databases, in containers of the same name too, of which one has had more writes than the
// other: each process deletes and restores it whole.
func TestATreeInTwoDatabases(t *testing.T) {
	t.Parallel()
	for _, containers := range [][3]string{{"notes", "comments", "replies"}, {"items", "items", "items"}} {
		for _, busy := range []string{"one", "two"} {
			t.Run(fmt.Sprint(containers, ", more writes in ", busy), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t)
				client := e.Client(nil)
				for _, id := range []string{"one", "two"} {
					_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
					must(t, err)
					database, err := client.NewDatabase(id)
					must(t, err)
					made := map[string]bool{}
					for _, container := range containers {
						if !made[container] {
							containerIn(t, database, container, "/tenantId", "/entityType")
						}
						made[container] = true
					}
				}
				s := openScattered(t, e, containers)
				note, comment := &Note{}, &Comment{}
				must(t, s.notes.In("acme").Create(ctx, note))
				must(t, s.comments.Under(note).Create(ctx, comment))
				must(t, s.replies.Under(comment).Create(ctx, &Reply{}))
				for range 30 {
					if busy == "one" {
						must(t, s.notes.In("acme").Create(ctx, &Note{}))
					} else {
						must(t, s.comments.In("globex").Create(ctx, s.elsewhere(t)))
					}
				}
				must(t, s.notes.In("acme").Delete(ctx, note.ID, nil))
				for range 2 {
					must(t, openScattered(t, e, containers).notes.In("acme").Restore(ctx, note.ID))
					if got := s.count(t); got != "1 1" {
						t.Errorf("after a restore: %s", got)
					}
					must(t, openScattered(t, e, containers).notes.In("acme").Delete(ctx, note.ID, nil))
					if got := s.count(t); got != "0 0" {
						t.Errorf("after a delete: %s", got)
					}
				}
			})
		}
	}
}

// elsewhere is a comment of another tenant.
func (s scattered) elsewhere(t *testing.T) *Comment {
	t.Helper()
	note := &Note{}
	must(t, s.notes.In("globex").Create(t.Context(), note))
	c := &Comment{}
	c.ParentID = note.Ref()
	return c
}

// A tree that is copied to another account as it is stored, with what its last run left in it, is deleted and restored there
// by a process that has seen nothing of the account.
func TestATreeInAnotherAccount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from, to := processes(t), processes(t)
	source, note := plantApart(t, from.Client(repository.ClientOptions(nil)))
	for range 40 { // it has had more writes than the other one will have
		more := &Comment{Body: "more"}
		must(t, source.comments.Under(note).Create(ctx, more))
		must(t, source.comments.In("acme").Delete(ctx, more.ID, nil))
	}
	must(t, source.notes.In("acme").Delete(ctx, note.ID, nil))
	must(t, source.notes.In("acme").Restore(ctx, note.ID))
	_, err := to.Client(nil).CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "before"}, nil) // so that the containers have other resource ids
	must(t, err)
	target, other := plantApart(t, to.Client(repository.ClientOptions(nil)))
	must(t, target.notes.In("acme").Delete(ctx, other.ID, nil))
	must(t, target.notes.In("acme").Purge(ctx, other.ID))
	for _, id := range []string{"notes", "comments"} {
		copyAll(t, from, to, id)
	}
	for range 2 {
		must(t, openApart(t, to.Client(repository.ClientOptions(nil))).notes.In("acme").Delete(ctx, note.ID, nil))
		if n := target.count(t); n != 0 {
			t.Errorf("after the delete there are %d comments", n)
		}
		must(t, openApart(t, to.Client(repository.ClientOptions(nil))).notes.In("acme").Restore(ctx, note.ID))
		if n := target.count(t); n != 2 {
			t.Errorf("after the restore there are %d comments", n)
		}
	}
}

// copyAll copies the documents of a tenant as they are stored.
func copyAll(t *testing.T, from, to *emulatortest.Emulator, id string) {
	t.Helper()
	source, err := from.Client(nil).NewContainer("db", id)
	must(t, err)
	target, err := to.Client(nil).NewContainer("db", id)
	must(t, err)
	key := azcosmos.NewPartitionKeyString("acme").AppendString(map[string]string{"notes": "Note", "comments": "Comment"}[id])
	for pages := source.NewQueryItemsPager("SELECT * FROM c", key, nil); pages.More(); {
		page, err := pages.NextPage(t.Context())
		must(t, err)
		for _, raw := range page.Items {
			_, err := target.CreateItem(t.Context(), key, raw, nil)
			must(t, err)
		}
	}
}
