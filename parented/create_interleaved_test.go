package parented_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// stepper lets a client send its requests when it is told to.
type stepper struct {
	grant, done, free, ended chan struct{}
}

func newStepper() *stepper {
	return &stepper{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})}
}

func (s *stepper) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().URL.Path == "/" {
		return req.Next()
	}
	select {
	case <-s.free:
		return req.Next()
	case <-s.grant:
	}
	resp, err := req.Next()
	s.done <- struct{}{}
	return resp, err
}

// start lets a process do something, held before its first request.
func (s *stepper) start(do func()) {
	go func() {
		defer close(s.ended)
		do()
	}()
}

// step lets n requests through.
func (s *stepper) step(n int) {
	for range n {
		select {
		case s.grant <- struct{}{}:
			<-s.done
		case <-s.ended:
			return
		}
	}
}

func (s *stepper) finish() { close(s.free); <-s.ended }

// The requests of a create and of a delete of its parent are interleaved; in the end the delete is undone. What was written is there, and nothing of what was refused.
func TestACreateInterleavedWithAnUndoneDelete(t *testing.T) {
	t.Parallel()
	for vote, at := range map[parented.Rule][5]int{parented.Cascade: {1, 1, 2, 4, 2}, parented.Restrict: {2, 1, 1, 5, 2}} {
		t.Run(fmt.Sprintf("votes %v", vote), func(t *testing.T) {
			t.Parallel()
			if err := interleave(t, vote, at[0], at[1], at[2], at[3], at[4]); err != nil {
				t.Error(err)
			}
		})
	}
}

func interleave(t *testing.T, vote parented.Rule, w1, d1, w2, d2, w3 int) error {
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	soft := parented.Policy{Retain: 24 * time.Hour}
	p := planting{client: e.Client(nil), note: soft, child: soft, vote: vote}
	g := plant(t, p)
	note := &Note{Title: "n"}
	must(t, g.notes.In("acme").Create(ctx, note))
	process := func(s *stepper) grove {
		p := p
		p.client = clientOf(e, s)
		database, err := p.client.NewDatabase(g.database.ID())
		must(t, err)
		return open(t, database, p)
	}
	writer, deleter := newStepper(), newStepper()
	w, d := process(writer), process(deleter)
	var written, gone error
	writer.start(func() {
		written = w.comments.In("acme").Create(ctx, commentUnder("x", note))
	})
	deleter.start(func() {
		gone = d.notes.In("acme").Delete(ctx, note.ID, nil)
	})
	writer.step(w1)
	deleter.step(d1)
	writer.step(w2)
	deleter.step(d2)
	writer.step(w3)
	deleter.finish()
	writer.finish()
	if _, err := g.forest.Resume(ctx); err != nil {
		return err
	}
	if gone == nil {
		must(t, g.notes.In("acme").Restore(ctx, note.ID))
	}
	there, err := g.comments.In("acme").Exists(ctx, "x")
	must(t, err)
	switch {
	case written == nil && !there:
		return errors.New("the child was written, and is not there")
	case written != nil && !errors.Is(written, repository.ErrAmbiguous) && there:
		return fmt.Errorf("the write was refused, and the child is there: %w", written)
	case written != nil && errors.Is(written, repository.ErrAmbiguous):
		return fmt.Errorf("ambiguous: %w", written)
	}
	return nil
}
