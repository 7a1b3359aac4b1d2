package parented_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// What the requests are of the calls below, to stop them before one.
const (
	createWrites, createLooksAgain       = 3, 4 // it reads its parent and its own place first
	deleteRemovesChildren, deleteRemoves = 5, 7 // reading and hiding the root, a query, and a look; then the last query
	lateDeleteHides                      = 4    // reading the root, a query, and a look
	restoreUnhidesChildren               = 4    // reading the root, writing its phase, and a query
)

// dying is a process that gets no answer after its nth request.
func dying(ctx context.Context, n int32) (context.Context, *diesAfter) {
	life, die := context.WithCancel(ctx)
	return life, &diesAfter{n: n, die: die}
}

// The delete of a parent looks for children once more after it has removed some: what it wrote there lets it see all that was
// committed before. A child goes with its parent, though the replica that was asked first was behind, and the replica that
// its creator asked whether the parent is there still.
func TestADeleteFindsWhatItsFirstReplicaLacked(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds replicas back")
	for name, policy := range map[string]parented.Policy{"for good": {}, "softly": {Retain: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			first, note := plantApart(t, e.Client(nil))

			look := pauseAt(createLooksAgain)
			creator := openApartWith(t, clientOf(e, look), policy)
			var created error
			creating := look.until(func() { created = creator.comments.Under(note).Create(ctx, &Comment{Body: "new"}) })

			query := e.Fault(emulator.Behind(1).On(emulator.QueryItems).Container("comments"))
			must(t, openApartWith(t, e.Client(nil), policy).notes.In("acme").Delete(ctx, note.ID, nil))
			read := e.Fault(emulator.Behind(2).On(emulator.ReadItem).Container("notes"))
			close(look.goOn)
			<-creating
			if created != nil || query.Fired() != 1 || read.Fired() != 1 {
				t.Fatalf("the create returned %v; %d queries and %d reads were behind", created, query.Fired(), read.Fired())
			}
			if child := first.only(t, "new"); child.ID != "" && child.DeletedAt == "" {
				t.Error("the child is there without its parent")
			}
		})
	}
}

// So it is with a child that was created after the first query, by a process that died before it looked at the parent again.
func TestADeleteFindsTheChildOfACreatorThatDied(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	for name, policy := range map[string]parented.Policy{"for good": {}, "softly": {Retain: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			first, note := plantApart(t, e.Client(nil))

			creating := dyingCreate(t, e, note)
			remove := pauseAt(deleteRemovesChildren)
			deleter := openApartWith(t, clientOf(e, remove), policy)
			var deleted error
			deleting := remove.until(func() { deleted = deleter.notes.In("acme").Delete(ctx, note.ID, nil) })
			creating()
			if first.only(t, "new").ID == "" {
				t.Fatal("the child was not created")
			}
			close(remove.goOn)
			<-deleting
			must(t, deleted)
			if child := first.only(t, "new"); child.ID != "" && child.DeletedAt == "" {
				t.Error("the child is there without its parent")
			}
		})
	}
}

// dyingCreate begins a create that has seen its parent; what is returned lets it write, and die.
func dyingCreate(t *testing.T, e *emulatortest.Emulator, note *Note) (goOn func()) {
	t.Helper()
	write := pauseAt(createWrites)
	ctx, life := dying(t.Context(), createWrites)
	creator := openApart(t, clientOf(e, write, life))
	creating := write.until(func() { _ = creator.comments.Under(note).Create(ctx, &Comment{Body: "new"}) })
	return func() {
		close(write.goOn)
		<-creating
	}
}

// A restore looks once more too, after it has unhidden what it found: a child that another process of the delete hid meanwhile comes
// back with its parent, though that process has died.
func TestARestoreFindsWhatAProcessHidThatDied(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	first, note := plantApart(t, e.Client(nil))

	creating := dyingCreate(t, e, note)
	end := pauseAt(deleteRemoves)
	fast := openApart(t, clientOf(e, end))
	var deleted error
	deleting := end.until(func() { deleted = fast.notes.In("acme").Delete(ctx, note.ID, nil) })
	creating() // the faster delete has made its last query

	hide := pauseAt(lateDeleteHides)
	mortal, life := dying(ctx, lateDeleteHides)
	late := openApart(t, clientOf(e, hide, life))
	lingering := hide.until(func() { _ = late.notes.In("acme").Delete(mortal, note.ID, nil) })
	close(end.goOn)
	<-deleting
	must(t, deleted)

	unhide := pauseAt(restoreUnhidesChildren)
	restorer := openApart(t, clientOf(e, unhide))
	var restored error
	restoring := unhide.until(func() { restored = restorer.notes.In("acme").Restore(ctx, note.ID) })
	close(hide.goOn)
	<-lingering
	if first.only(t, "new").DeletedAt == "" {
		t.Fatal("the late process did not hide the child")
	}
	close(unhide.goOn)
	<-restoring
	must(t, restored)
	if n := first.count(t); n != 3 {
		t.Errorf("%d comments are there, want 3", n)
	}
}
