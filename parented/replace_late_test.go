package parented_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

// A child is replaced while a delete of its parent goes on, and the second look of the replace finds the parent deleted. Whichever of the two takes the
// child away, it belongs to that delete: a restore of the parent brings it back.
func TestAReplacedChildComesBackWithItsParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	const deleteRequests, replaceRequests = 8, 5
	var overtaken atomic.Int32
	t.Cleanup(func() {
		if overtaken.Load() == 0 {
			t.Error("no replace saw its parent deleted")
		}
	})
	for n := range int32(deleteRequests) {
		for m := range int32(replaceRequests) {
			t.Run(fmt.Sprintf("delete stops at %d, replace at %d", n+1, m+1), func(t *testing.T) {
				t.Parallel()
				replaceLate(t, n+1, m+1, &overtaken)
			})
		}
	}
}

func replaceLate(t *testing.T, n, m int32, overtaken *atomic.Int32) {
	t.Helper()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	first, note := plantApart(t, e.Client(nil))
	comment, err := first.comments.In("acme").Get(ctx, first.only(t, "first").ID)
	must(t, err)

	// The replace of a child reads the parent, writes, and reads the parent again; held up there, it goes on when the delete stands still.
	look := pauseAt(m)
	writer := openApart(t, clientOf(e, look))
	comment.Body = "new"
	var replaced error
	replacing := look.until(func() { replaced = writer.comments.In("acme").Replace(ctx, comment) })

	half := pauseAt(n)
	deleting := half.until(func() { err = openApart(t, clientOf(e, half)).notes.In("acme").Delete(ctx, note.ID, nil) })
	close(look.goOn)
	<-replacing
	if look.seen.Load() > 3 {
		overtaken.Add(1)
	}
	close(half.goOn)
	<-deleting
	if err != nil {
		t.Fatalf("the delete: %v", err)
	}
	if got := first.count(t); got != 0 {
		t.Errorf("%d comments stand without their note", got)
	}
	must(t, first.notes.In("acme").Restore(ctx, note.ID))
	if got := first.count(t); got != 2 {
		t.Errorf("%d of 2 comments came back (the replace returned %v)", got, replaced)
	}
	want := "first"
	if replaced == nil {
		want = "new"
	}
	if got := first.only(t, want); got.ID != comment.ID {
		t.Errorf("the replace returned %v, and no comment has %q", replaced, want)
	}
}

// The answer of a delete is lost after it took effect, and the look for its mark is refused. What the delete finds then is its own work: it doesn't
// tell its caller that there was no such document.
func TestADeleteThatWasLostIsNotSaidToFindNothing(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it makes faults")
	for _, row := range []struct {
		name    string
		comment bool // which has nothing below it, and the note has
		twice   bool // is the look refused
		is      error
	}{
		{name: "leaf", comment: true},
		{name: "tree"},
		{name: "leaf, refused twice", comment: true, twice: true, is: repository.ErrAmbiguous},
		{name: "tree, refused twice", twice: true, is: repository.ErrAmbiguous},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			a, note := plantApart(t, e.Client(nil))
			first := a.only(t, "first")
			refusal := emulator.Answer(http.StatusForbidden, 5300).On(emulator.ReadItem)
			e.Fault(refusal.Nth(2))
			if row.twice {
				e.Fault(refusal.Nth(3))
			}
			e.Fault(emulator.Cut().AfterEffect().On(emulator.TransactionalBatch, emulator.PatchItem).Nth(1))
			var err error
			if row.comment {
				err = a.comments.In("acme").Delete(t.Context(), first.ID, nil)
			} else {
				err = a.notes.In("acme").Delete(t.Context(), note.ID, nil)
			}
			if !errors.Is(err, row.is) {
				t.Errorf("the delete returned %v, want %v", err, row.is)
			}
		})
	}
}
