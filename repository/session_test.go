package repository_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

func TestReadingOnesOwnWriteThroughALaggingReplica(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setupNotes(t, emulatortest.WithReplicaLag(2*time.Second))
		ctx := t.Context()
		// Of the container's sessions nothing is known to this one.
		stranger := newRepository(t, b.container, repository.Config{}).In("acme")

		n := &Note{Title: "first"}
		must(t, b.acme.Create(ctx, n))
		if _, err := stranger.Get(ctx, n.ID); !errors.Is(err, repository.ErrNotFound) {
			t.Fatalf("without a token the write was seen, so that this test shows nothing: %v", err)
		}
		handed := repository.WithSession(ctx, b.notes.SessionToken())
		got, err := stranger.Get(handed, n.ID)
		must(t, err)
		if got.Title != "first" {
			t.Errorf("with the token handed over: %q", got.Title)
		}

		n.Title = "second"
		must(t, b.acme.Replace(ctx, n))
		if got, err := b.acme.Get(ctx, n.ID); err != nil || got.Title != "second" {
			t.Errorf("Get after a replace: %+v, %v", got, err)
		}
		n.Title = "third"
		must(t, b.acme.Replace(ctx, n))
		found, err := b.acme.First(ctx, repository.Where(repository.Eq("id", n.ID)))
		if err != nil || found.Title != "third" {
			t.Errorf("a query after a replace: %+v, %v", found, err)
		}
		n.Title = "fourth"
		must(t, b.acme.Replace(ctx, n))
		var read Note
		must(t, b.acme.Batch().Read(n.ID, &read).Commit(ctx))
		if read.Title != "fourth" {
			t.Errorf("a batch's read after a replace: %q", read.Title)
		}
	})
}

func TestRepositoriesShareSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setupNotes(t, emulatortest.WithReplicaLag(time.Second))
		shared := &repository.Sessions{}
		writer := newRepository(t, b.container, repository.Config{Sessions: shared}).In("acme")
		reader := newRepository(t, b.container, repository.Config{Sessions: shared}).In("acme")
		n := &Note{Title: "x"}
		must(t, writer.Create(t.Context(), n))
		_, err := reader.Get(t.Context(), n.ID)
		must(t, err)
	})
}

func TestSessionsOutliveSplits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setupNotes(t, emulatortest.WithReplicaLag(time.Second))
		ctx := t.Context()
		n := &Note{Title: "x"}
		must(t, b.acme.Create(ctx, n))
		token := b.notes.SessionToken()
		for _, r := range b.emulator.Split("db", "main", b.emulator.Ranges("db", "main")[0].ID) {
			b.emulator.Split("db", "main", r.ID)
		}
		_, err := b.acme.Get(ctx, n.ID)
		must(t, err)
		stranger := newRepository(t, b.container, repository.Config{}).In("acme")
		_, err = stranger.Get(repository.WithSession(ctx, token), n.ID)
		must(t, err)
		n.Title = "after the split"
		must(t, b.acme.Replace(ctx, n))
		got, err := b.acme.Get(ctx, n.ID)
		must(t, err)
		if got.Title != "after the split" {
			t.Errorf("got %q", got.Title)
		}
	})
}

func TestAReplicaThatNeverCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Calm, for the halves of a split are up to date: it would end the lag.
		b := setupNotes(t, emulatortest.WithReplicaLag(time.Hour), emulatortest.Calm())
		n := &Note{Title: "x"}
		must(t, b.acme.Create(t.Context(), n))
		_, err := b.acme.Get(t.Context(), n.ID)
		if err == nil || errors.Is(err, repository.ErrNotFound) || !repository.IsRetryable(err) {
			t.Errorf("a document that exists and can't be read yet: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := b.acme.Get(ctx, n.ID); err == nil || time.Since(began) > time.Second {
			t.Errorf("within a deadline: %v after %s", err, time.Since(began))
		}
	})
}

func TestSessionTokensFromOutside(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	n := &Note{Title: "x"}
	must(t, b.acme.Create(t.Context(), n))
	good := b.notes.SessionToken()
	for name, tokens := range map[string][]string{
		"nonsense":           {"nonsense"},
		"one good, one not":  {good, "s1.!!"},
		"without partitions": {"s1.bWFpbg"},
		"too long":           {"s1." + string(slices.Repeat([]byte("A"), 100_000))},
	} {
		mark := b.emulator.Requests().Mark()
		ctx := repository.WithSession(repository.WithSession(t.Context(), tokens...), "")
		if _, err := b.acme.Get(ctx, n.ID); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if len(b.emulator.Requests().Since(mark)) != 0 {
			t.Errorf("%s: a request was sent", name)
		}
	}
	if _, err := b.acme.Get(repository.WithSession(t.Context(), "", good, good), n.ID); err != nil {
		t.Errorf("good tokens: %v", err)
	}
}
