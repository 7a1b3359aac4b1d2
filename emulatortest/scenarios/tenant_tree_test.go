package scenarios_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// rentedTree is a tenant's trees over two containers, as a process of its own sees them.
type rentedTree struct {
	db       *registry.Database
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	replies  *parented.Repository[Reply, Comment]
	entries  *parented.Buckets[string, Note]
}

func rentedTreeOf(w *emulatortest.World) rentedTree {
	soft := registry.SoftDelete(24 * time.Hour)
	plan, err := registry.NewPlan(registry.Config{
		Database: "rented", Provision: true, Logger: slog.New(slog.DiscardHandler), Upkeep: -1,
		Containers: []registry.Container{{ID: "below", PartitionKey: []string{"/tenantId", "/entityType"}}},
	}, []registry.Declaration{
		registry.EntityOf[Note](soft), registry.ChildOf[Comment, Note](parented.Cascade, registry.In("below"), soft),
		registry.ChildOf[Reply, Comment](parented.Cascade), registry.BucketOf[string, Note](parented.Cascade, registry.Named("Entries")),
	})
	must(w, err)
	r := rentedTree{}
	r.db, err = registry.Open(w.Client(repository.ClientOptions(nil)), plan)
	must(w, err)
	r.notes, err = registry.RepositoryOf[Note](r.db)
	must(w, err)
	r.comments, err = registry.ChildrenOf[Comment, Note](r.db)
	must(w, err)
	r.replies, err = registry.ChildrenOf[Reply, Comment](r.db)
	must(w, err)
	r.entries, err = registry.BucketsOf[string, Note](r.db)
	must(w, err)
	return r
}

// tenantTrees is what the processes of a run keep outside of themselves.
type tenantTrees struct {
	exported []byte
	told     error    // by the verb of the tree
	left     []string // when the erasure, and what was under way beside it, had ended
	behind   bool     // sabotage: something is written, or deleted, behind that
}

// setupRentedTrees leaves trees a, b and gone, of which the last is deleted softly, and an export of them.
func setupRentedTrees(w *emulatortest.World) {
	r, ctx := rentedTreeOf(w), w.Context()
	must(w, r.db.Prepare(ctx))
	for _, id := range []string{"a", "b", "gone"} {
		n, c, p := note(id, "x", 0), &Comment{}, &Reply{}
		c.ID, p.ID = "c"+id, "r"+id
		must(w, r.notes.In("acme").Create(ctx, n))
		must(w, r.comments.Under(n).Create(ctx, c))
		must(w, r.replies.Under(c).Create(ctx, p))
		_, err := r.entries.Under(n).Append(ctx, "first")
		must(w, err)
	}
	must(w, r.notes.In("acme").Delete(ctx, "gone", nil))
	var lines bytes.Buffer
	_, err := r.db.Tenants().Export(ctx, "acme", &lines, nil)
	must(w, err)
	emulatortest.State[tenantTrees](w).exported = lines.Bytes()
}

func verbsOfTenantTrees() map[string]func(ctx context.Context, r rentedTree) error {
	return map[string]func(ctx context.Context, r rentedTree) error{
		"Delete":  func(ctx context.Context, r rentedTree) error { return r.notes.In("acme").Delete(ctx, "a", nil) },
		"Restore": func(ctx context.Context, r rentedTree) error { return r.notes.In("acme").Restore(ctx, "gone") },
		"Purge":   func(ctx context.Context, r rentedTree) error { return r.notes.In("acme").Purge(ctx, "gone") },
		"Move":    func(ctx context.Context, r rentedTree) error { return r.comments.Move(ctx, "acme", "ca", "b") },
		"Append": func(ctx context.Context, r rentedTree) error {
			_, err := r.entries.UnderID("acme", "a").Append(ctx, "late")
			return err
		},
	}
}

// mendTenant is what a service does after any crash.
func mendTenant(w *emulatortest.World) {
	for range 2 {
		forest := rentedTreeOf(w).db.Forest()
		_, err := forest.Resume(w.Context(), "acme")
		must(w, err)
		time.Sleep(2 * time.Minute)
		_, err = forest.Sweep(w.Context(), "acme", nil)
		must(w, err)
	}
}

func treeActor(verb func(ctx context.Context, r rentedTree) error) emulatortest.Actor {
	return emulatortest.Actor{Name: "tree", Do: func(w *emulatortest.World) error {
		told := verb(w.Context(), rentedTreeOf(w))
		emulatortest.State[tenantTrees](w).told = told
		return refused(told)
	}}
}

func faultsOfTenantTrees() []emulatortest.FaultKind {
	if inFull() {
		return kindsOf("killed", "suspended", "late-2")
	}
	return kindsOf("killed-after")
}

// TestAnErasureDuringAVerbOfATree: what an erasure that is complete has removed does not come back by a delete, a restore or a move that was
// under way, or that is taken up later; nothing of it stays hidden.
func TestAnErasureDuringAVerbOfATree(t *testing.T) {
	t.Parallel()
	for name, verb := range verbsOfTenantTrees() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup: setupRentedTrees,
				Actors: []emulatortest.Actor{{Name: "eraser", Do: func(w *emulatortest.World) error {
					_, err := rentedTreeOf(w).db.Tenants().Erase(w.Context(), "acme", nil)
					return err
				}}, treeActor(verb)},
				Then: func(w *emulatortest.World) {
					run := emulatortest.State[tenantTrees](w)
					mendTenant(w)
					_, err := rentedTreeOf(w).db.Tenants().PlanErase(w.Context(), "acme", func(d registry.ErasedDocument) bool {
						run.left = append(run.left, d.EntityType+" "+d.ID)
						return false
					})
					must(w, err)
					_, err = rentedTreeOf(w).db.Tenants().Erase(w.Context(), "acme", nil)
					must(w, err)
					mendTenant(w)
					if run.behind {
						must(w, rentedTreeOf(w).notes.In("acme").Create(w.Context(), note("behind", "x", 0)))
					}
				},
				Check: func(w *emulatortest.World) error {
					if left := emulatortest.State[tenantTrees](w).left; w.Outcome("eraser") == nil && len(left) > 0 {
						return fmt.Errorf("after a complete erasure beside %s, which returned %w, there are %v", name, w.Outcome("tree"), left)
					}
					stats, err := rentedTreeOf(w).db.Tenants().Stats(w.Context(), "acme", nil)
					if err != nil || stats.Documents != 0 {
						return fmt.Errorf("an erased tenant has %+v, %w", stats, err)
					}
					return nil
				},
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: faultsOfTenantTrees(), Sabotage: map[string]func(w *emulatortest.World){
				"a document is written behind the erasure": func(w *emulatortest.World) { emulatortest.State[tenantTrees](w).behind = true },
			}})
		})
	}
}

// TestAnImportDuringAVerbOfATree: an import that overwrites what is there, beside a verb of a tree, leaves whole trees. Only a delete of
// which the import wrote over the document is like one beside an Upsert: it is ambiguous, and a part of what was below may be gone.
func TestAnImportDuringAVerbOfATree(t *testing.T) {
	t.Parallel()
	for name, verb := range verbsOfTenantTrees() {
		for _, over := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, overwrite: %t", name, over), func(t *testing.T) {
				t.Parallel()
				load := func(w *emulatortest.World) error {
					lines := bytes.NewReader(emulatortest.State[tenantTrees](w).exported)
					_, err := rentedTreeOf(w).db.Tenants().Import(w.Context(), "acme", lines, &registry.ImportOptions{Overwrite: over})
					if !over {
						return nil // what the verb has changed is in its way
					}
					return err
				}
				emulatortest.Explore(t, emulatortest.Scenario{
					Setup:  setupRentedTrees,
					Actors: []emulatortest.Actor{{Name: "importer", Do: load}, treeActor(verb)},
					Then: func(w *emulatortest.World) {
						if w.Outcome("importer") != nil { // who is told of no end imports again
							must(w, load(w))
						}
						mendTenant(w)
						if emulatortest.State[tenantTrees](w).behind {
							must(w, rentedTreeOf(w).notes.In("acme").Delete(w.Context(), "b", nil))
						}
					},
					Check: func(w *emulatortest.World) error {
						ambiguous := errors.Is(emulatortest.State[tenantTrees](w).told, repository.ErrAmbiguous)
						for _, id := range []string{"a", "b", "gone"} {
							r, ctx := rentedTreeOf(w), w.Context()
							n, err := r.notes.In("acme").Exists(ctx, id)
							must(w, err)
							c, err := r.comments.In("acme").Exists(ctx, "c"+id)
							must(w, err)
							p, err := r.replies.In("acme").Exists(ctx, "r"+id)
							must(w, err)
							written := ambiguous && over && name == "Delete" && id == "a"
							if (n != c || c != p) && !written || id == "b" && !n {
								return fmt.Errorf("of tree %s the note is there: %t, its comment: %t, its reply: %t; %s returned %w", id, n, c, p, name, emulatortest.State[tenantTrees](w).told)
							}
						}
						return nil
					},
				}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: faultsOfTenantTrees(), Sabotage: map[string]func(w *emulatortest.World){
					"a tree is lost": func(w *emulatortest.World) { emulatortest.State[tenantTrees](w).behind = true },
				}})
			})
		}
	}
}
