package parented_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// diesAfter is a process that is killed with the answer to its nth request.
type diesAfter struct {
	n    int32
	die  context.CancelFunc
	seen atomic.Int32
}

func (d *diesAfter) Do(req *policy.Request) (*http.Response, error) {
	if aboutDocuments(req) && d.seen.Add(1) > d.n {
		d.die()
		return nil, context.Canceled
	}
	return req.Next()
}

// aboutDocuments leaves out what a client reads of the account.
func aboutDocuments(req *policy.Request) bool { return strings.Contains(req.Raw().URL.Path, "/docs") }

// pausing is a process that waits before its nth request until it is released.
type pausing struct {
	n             int32
	seen          atomic.Int32
	reached, goOn chan struct{}
}

func pauseAt(n int32) *pausing {
	return &pausing{n: n, reached: make(chan struct{}), goOn: make(chan struct{})}
}

func (p *pausing) Do(req *policy.Request) (*http.Response, error) {
	if aboutDocuments(req) && p.seen.Add(1) == p.n {
		close(p.reached)
		<-p.goOn
	}
	return req.Next()
}

// until runs something up to the pause, or to its end.
func (p *pausing) until(do func()) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() { defer close(ended); do() }()
	select {
	case <-p.reached:
	case <-ended:
	}
	return ended
}

// A child is made in the middle of a delete that two processes carry out; the faster one has made its last look by then, finishes, and the delete is undone.
// The slower one still hides the child, and lives or dies then. The child comes back: by the process that hid it, or else by a sweep.
func TestWhatALateProcessHidComesBack(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	const fastRequests, lateRequests = 8, 7
	for name, dies := range map[string]bool{"it dies": true, "it lives": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var hidden atomic.Int32
			t.Cleanup(func() {
				if hidden.Load() == 0 {
					t.Error("no schedule let the late process hide the child")
				}
			})
			for n := int32(3); n <= fastRequests; n++ {
				for m := range int32(lateRequests) {
					t.Run(fmt.Sprintf("fast stops at %d, late at %d", n, m+1), func(t *testing.T) {
						t.Parallel()
						hideLate(t, n, m+1, dies, &hidden)
					})
				}
			}
		})
	}
}

func hideLate(t *testing.T, n, m int32, dies bool, hidden *atomic.Int32) {
	t.Helper()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	first, note := plantApart(t, e.Client(nil))

	write, look := pauseAt(3), pauseAt(4) // a create reads its parent and its own place, writes, and reads the parent again
	creator := openApart(t, clientOf(e, write, look))
	var created error
	creating := write.until(func() { created = creator.comments.Under(note).Create(ctx, &Comment{Body: "new"}) })

	faster := pauseAt(n)
	fast := openApart(t, clientOf(e, faster))
	deleting := faster.until(func() { _ = fast.notes.In("acme").Delete(ctx, note.ID, nil) })
	close(write.goOn)
	select {
	case <-look.reached:
	case <-creating:
	}

	later := pauseAt(m)
	mortal, die := context.WithCancel(ctx)
	defer die()
	life := &diesAfter{n: 1000, die: die}
	if dies {
		life.n = m
	}
	late := openApart(t, clientOf(e, later, life))
	lingering := later.until(func() { _ = late.notes.In("acme").Delete(mortal, note.ID, nil) })

	close(faster.goOn)
	<-deleting
	if err := first.notes.In("acme").Restore(ctx, note.ID); err != nil {
		t.Logf("nothing to restore: %v", err)
	}
	close(look.goOn)
	<-creating
	child := first.only(t, "new")
	close(later.goOn)
	<-lingering
	if child.DeletedAt == "" && first.only(t, "new").ETag != child.ETag {
		hidden.Add(1)
	}

	if _, err := first.forest.Resume(ctx, "acme"); err != nil {
		t.Error(err)
	}
	if dies {
		_, err := first.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: -100 * 365 * 24 * time.Hour})
		must(t, err)
	}
	there, err := first.notes.In("acme").Exists(ctx, note.ID)
	must(t, err)
	want := int64(2)
	if created == nil {
		want++
	}
	switch got := first.count(t); {
	case there && (got < want || got > want && !errors.Is(created, repository.ErrAmbiguous)), !there && got != 0:
		t.Errorf("the note is there: %t; of its %d comments %d are (the create returned %v)", there, want, got, created)
	}
}

func (a apart) count(t *testing.T) int64 {
	t.Helper()
	n, err := a.comments.In("acme").Count(t.Context(), repository.All())
	must(t, err)
	return n
}

// only is the outline of the comment with that text, hidden or not.
func (a apart) only(t *testing.T, body string) engine.Document {
	t.Helper()
	for s, err := range engine.CollectionOf(a.comments.Items()).Documents(t.Context(), "acme", nil, engine.Where(engine.Eq("body", body)), engine.Outline()) {
		must(t, err)
		return s
	}
	return engine.Document{}
}
