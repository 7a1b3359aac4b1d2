package denorm_test

import (
	"bytes"
	"testing"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// An import that overwrites a counted document with an older version takes its reference back: who counts it by either version is right
// once the feed was followed.
func TestAnImportOverAMovedReferenceIsCountedAgain(t *testing.T) {
	t.Parallel()
	for name, followed := range map[string]bool{"followed before": true, "not followed before": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada := b.person("Ada")
			task := b.task("p1", ada)
			b.catchUp()
			var export bytes.Buffer
			_, err := b.db.Tenants().Export(b.ctx, acme, &export, nil)
			b.must(err)
			bob := b.person("Bob") // who is not in the export
			_, err = b.tasks.In(acme, "p1").Mutate(b.ctx, task.ID, func(t *Task) error {
				t.AssigneeID, t.WatcherIDs = bob.Ref(), []tenantitem.Ref[Person]{bob.Ref()}
				return nil
			})
			b.must(err)
			if followed {
				b.catchUp()
				b.taskCount(bob, 1)
			}
			for _, again := range []bool{false, true} {
				imported, err := b.db.Tenants().Import(b.ctx, acme, bytes.NewReader(export.Bytes()), &registry.ImportOptions{Overwrite: true})
				b.must(err)
				if again && imported.Overwritten > 0 {
					t.Errorf("a second import: %+v", imported)
				}
			}
			b.catchUp()
			b.taskCount(ada, 1)
			b.taskCount(bob, 0)
			b.noDrift()
		})
	}
}

// So it is where the import brings back what was deleted meanwhile, or writes over it.
func TestAnImportOverADeletedDocumentIsCountedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada, bob := b.person("Ada"), b.person("Bob")
	task := b.task("p1", ada)
	b.catchUp()
	var export bytes.Buffer
	_, err := b.db.Tenants().Export(b.ctx, acme, &export, nil)
	b.must(err)
	_, err = b.tasks.In(acme, "p1").Mutate(b.ctx, task.ID, func(t *Task) error { t.AssigneeID = bob.Ref(); return nil })
	b.must(err)
	b.catchUp()
	b.must(b.tasks.In(acme, "p1").Delete(b.ctx, task.ID, nil))
	lines := bytes.SplitAfter(export.Bytes(), []byte("\n"))
	for _, line := range lines {
		if bytes.Contains(line, []byte(`"Task"`)) {
			_, err = b.db.Tenants().Import(b.ctx, acme, bytes.NewReader(line), &registry.ImportOptions{Overwrite: true})
			b.must(err)
		}
	}
	b.catchUp()
	b.taskCount(ada, 1)
	b.taskCount(bob, 0)
	b.noDrift()
}

// The feed has nothing of an erasure: a Repair takes what was erased out of counts, lists, links and references that are cleared.
func TestRepairAfterAnErasure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.task("p1", ada)
	label := &Label{Tasks: []tenantitem.Ref[Task]{task.Ref()}}
	b.must(b.labels.In(acme).Create(b.ctx, label))
	b.catchUp()
	_, err := b.db.Tenants().Erase(b.ctx, acme, &registry.EraseOptions{Where: func(d registry.ErasedDocument) bool { return d.ID == task.ID }})
	b.must(err)
	b.catchUp()
	_, err = b.keeper.Repair(b.ctx, acme, nil)
	b.must(err)
	b.taskCount(ada, 0)
	got, err := b.labels.In(acme).Get(b.ctx, label.ID)
	b.must(err)
	if len(got.Tasks) > 0 {
		t.Errorf("the label lists %v", got.Tasks)
	}
	b.noDrift()
}
