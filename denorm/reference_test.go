package denorm_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Shift refers to a person and copies nothing.
type Shift struct {
	tenantitem.TenantItem[Shift]
	PersonID tenantitem.Ref[Person] `json:"personId,omitempty"`
}

// Restrict holds for a plain reference too, in an object, in an array of objects and in an array of references.
func TestRestrictWithoutACopy(t *testing.T) {
	t.Parallel()
	b := setupWith(t, denorm.OnDeleteOf[Person, Team]("teamId", denorm.Restrict), denorm.OnDeleteOf[Task, Person]("watcherIds", denorm.Restrict), denorm.OnDeleteOf[Shift, Person]("personId", denorm.Restrict))
	ada, bob, eve := b.person("Ada"), b.person("Bob"), b.person("Eve")
	task := &Task{WatcherIDs: []tenantitem.Ref[Person]{bob.Ref()}}
	b.must(b.tasks.In(acme, "p1").Create(b.ctx, task))
	shifts := repo[Shift](t, b.db)
	shift := &Shift{PersonID: eve.Ref()}
	b.must(shifts.In(acme).Create(b.ctx, shift))
	for _, p := range []*Person{bob, eve} {
		if err := b.persons.In(acme).Delete(b.ctx, p.ID, nil); !errors.Is(err, denorm.ErrReferenced) {
			t.Errorf("the delete of %s: %v", p.Name, err)
		}
	}
	b.must(b.persons.In(acme).Delete(b.ctx, ada.ID, nil))
	// A plain reference may be patched: nothing is copied through it.
	_, err := shifts.In(acme).Patch(b.ctx, shift.ID, repository.Set("/personId", bob.ID))
	b.must(err)
	b.must(b.persons.In(acme).Delete(b.ctx, eve.ID, nil))
}

// Pin refers to tasks and copies nothing.
type Pin struct {
	tenantitem.TenantItem[Pin]
	TaskID tenantitem.Ref[Task]   `json:"taskId,omitempty"`
	Others []tenantitem.Ref[Task] `json:"others,omitempty"`
}

// It holds by every verb that deletes, alone, in batches and in bulks, and before anything that would go with the document is touched.
func TestRestrictHoldsByEveryVerb(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.db, b.keeper = openLayout(t, b.client, "pins", layout(), append(entities(), registry.EntityOf[Pin]()),
		append(declarations(), denorm.OnDeleteOf[Pin, Task]("taskId", denorm.Restrict), denorm.OnDeleteOf[Pin, Task]("others", denorm.Restrict)))
	b.must(b.db.Prepare(b.ctx))
	b.persons, b.tasks = repo[Person](t, b.db), repo[Task](t, b.db)
	comments, err := registry.ChildrenOf[Comment, Task](b.db)
	b.must(err)
	pins := repo[Pin](t, b.db)
	ada := b.person("Ada")
	task, other, free := b.task("p1", ada), b.task("p1", ada), b.task("p1", ada)
	comment := &Comment{Body: "x"}
	b.must(comments.Under(task).Create(b.ctx, comment))
	b.must(pins.In(acme).Create(b.ctx, &Pin{TaskID: task.Ref(), Others: []tenantitem.Ref[Task]{"nothing", other.Ref()}}))
	in := b.tasks.In(acme, "p1")
	for _, id := range []string{task.ID, other.ID} {
		for verb, remove := range map[string]func() error{
			"Delete": func() error { return in.Delete(b.ctx, id, nil) },
			"Batch":  func() error { return in.Batch().Delete(id, "").Commit(b.ctx) },
			"Commit": func() error { return partition.Commit(b.ctx, in.Batch().Delete(id, "")) },
			"DeleteAll": func() error {
				_, err := in.DeleteAll(b.ctx, slices.Values([]string{id}), nil)
				return err
			},
		} {
			if err := remove(); !errors.Is(err, denorm.ErrReferenced) {
				t.Errorf("%s: %v", verb, err)
			}
		}
	}
	receipt, err := in.DeleteAll(b.ctx, slices.Values([]string{task.ID, free.ID}), nil)
	if err == nil || receipt.Failed != 1 || receipt.Succeeded != 1 {
		t.Errorf("a bulk of both: %+v, %v", receipt, err)
	}
	_, err = comments.Under(task).Get(b.ctx, comment.ID)
	b.must(err)
}

// Node may refer to itself.
type Node struct {
	tenantitem.TenantItem[Node]
	Next  tenantitem.Ref[Node]   `json:"next,omitempty"`
	Edges []tenantitem.Ref[Node] `json:"edges,omitempty"`
}

// A reference of a document to itself goes with it, and keeps it from no delete.
func TestRestrictIsAboutOtherDocuments(t *testing.T) {
	t.Parallel()
	db, _ := openOf(t, emulatortest.New(t), []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Node](registry.In("shop"))},
		denorm.OnDeleteOf[Node, Node]("next", denorm.Restrict), denorm.OnDeleteOf[Node, Node]("edges", denorm.Restrict))
	nodes := repo[Node](t, db).In(acme)
	for _, id := range []string{"one", "two"} {
		node := &Node{Next: "one", Edges: []tenantitem.Ref[Node]{tenantitem.Ref[Node](id)}}
		node.ID = id
		noError(t, nodes.Create(t.Context(), node))
	}
	if err := nodes.Delete(t.Context(), "one", nil); !errors.Is(err, denorm.ErrReferenced) {
		t.Errorf("while the other refers to it: %v", err)
	}
	noError(t, nodes.Delete(t.Context(), "two", nil))
	noError(t, nodes.Delete(t.Context(), "one", nil))
}

// Clear empties a plain reference.
func TestClearWithoutACopy(t *testing.T) {
	t.Parallel()
	b := setupWith(t, denorm.OnDeleteOf[Shift, Person]("personId", denorm.Clear))
	ada := b.person("Ada")
	shifts := repo[Shift](t, b.db)
	shift := &Shift{PersonID: ada.Ref()}
	b.must(shifts.In(acme).Create(b.ctx, shift))
	b.must(b.persons.In(acme).Delete(b.ctx, ada.ID, nil))
	b.catchUp()
	got, err := shifts.In(acme).Get(b.ctx, shift.ID)
	b.must(err)
	if got.PersonID != "" {
		t.Errorf("the reference is %q", got.PersonID)
	}
}

// Boss is counted through a reference that is a copy itself.
type Boss struct {
	tenantitem.TenantItem[Boss]
	Jobs int       `json:"jobs"`
	Last []JobCard `json:"last"`
}

type JobCard struct {
	ID tenantitem.Ref[Job] `json:"id"`
}

type Plant struct {
	tenantitem.TenantItem[Plant]
	BossID tenantitem.Ref[Boss] `json:"bossId,omitempty"`
}

type Job struct {
	tenantitem.TenantItem[Job]
	PlantID tenantitem.Ref[Plant] `json:"plantId,omitempty"`
	BossID  tenantitem.Ref[Boss]  `json:"bossId,omitempty" denorm:"sync,ref=plantId,field=bossId"`
}

// What is counted by a reference that follows another document moves with it.
func TestCountsByACopiedReference(t *testing.T) {
	t.Parallel()
	for name, key := range map[string][]string{"one partition": {"/tenantId"}, "by type": {"/tenantId", "/entityType"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db, keeper := openOf(t, emulatortest.New(t), key, []registry.Declaration{registry.EntityOf[Boss](registry.In("shop")), registry.EntityOf[Plant](registry.In("shop")), registry.EntityOf[Job](registry.In("shop"))},
				denorm.CountOf[Boss, Job]("jobs", "bossId"), denorm.RecentOf[Boss, Job]("last", 2, "bossId"))
			bosses, plants, jobs := repo[Boss](t, db).In(acme), repo[Plant](t, db).In(acme), repo[Job](t, db).In(acme)
			a, z := &Boss{}, &Boss{}
			noError(t, bosses.Create(ctx, a))
			noError(t, bosses.Create(ctx, z))
			plant := &Plant{BossID: a.Ref()}
			noError(t, plants.Create(ctx, plant))
			for range 3 {
				noError(t, jobs.Create(ctx, &Job{PlantID: plant.Ref()}))
			}
			count := func(when string, wantA, wantZ int) {
				t.Helper()
				noError(t, keeper.CatchUp(ctx))
				for b, want := range map[*Boss]int{a: wantA, z: wantZ} {
					got, err := bosses.Get(ctx, b.ID)
					noError(t, err)
					if got.Jobs != want || len(got.Last) != min(want, 2) {
						t.Errorf("%s: %d jobs, %d cards, want %d", when, got.Jobs, len(got.Last), want)
					}
				}
				for drift, err := range keeper.Audit(ctx, acme) {
					t.Errorf("%s: %v %v", when, drift, err)
				}
			}
			count("created", 3, 0)
			_, err := plants.Mutate(ctx, plant.ID, func(p *Plant) error { p.BossID = z.Ref(); return nil })
			noError(t, err)
			count("moved", 0, 3)
			noError(t, plants.Delete(ctx, plant.ID, nil))
			count("gone", 0, 3)
		})
	}
}
