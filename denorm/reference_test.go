package denorm_test

import (
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/repository"
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
