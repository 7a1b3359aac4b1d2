package parented_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// onePartition is notes and their comments in one logical partition for each tenant.
type onePartition struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
}

func openOnePartition(t *testing.T, client *azcosmos.Client, rule parented.Rule) onePartition {
	t.Helper()
	ctx := t.Context()
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "one"}, nil)
	if err == nil {
		db, err := client.NewDatabase("one")
		must(t, err)
		forever := int32(-1)
		_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
			ID: "items", DefaultTimeToLive: &forever,
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId"}, Version: 2},
		}, nil)
		must(t, err)
	}
	container, err := client.NewContainer("one", "items")
	must(t, err)
	p := onePartition{forest: parented.NewForest(parented.ForestConfig{})}
	cfg := repository.Config{PartitionKey: []string{"/tenantId"}}
	p.notes, err = repository.New[Note](container, cfg)
	must(t, err)
	must(t, parented.Register(p.forest, p.notes, parented.Policy{Retain: time.Hour}))
	p.comments, err = parented.New[Comment](p.forest, p.notes, container, parented.Config{Config: cfg, Rule: rule})
	must(t, err)
	return p
}

func (p onePartition) note(t *testing.T, id string) *Note {
	t.Helper()
	n := &Note{Title: id}
	n.ID = id
	must(t, p.notes.In("acme").Create(t.Context(), n))
	return n
}

func commentOf(note, id string) *Comment {
	c := &Comment{Body: id}
	c.ID, c.ParentID = id, tenantitem.Ref[Note](note)
	return c
}

// Where parent and children share a logical partition, the look after a write is part of its transaction.
func TestTheTransactionOfAWriteLooksAtTheParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it counts requests")
	p := openOnePartition(t, processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))).Client(nil), parented.Cascade)
	p.note(t, "a")
	p.note(t, "b")
	comments := p.comments.In("acme")
	stored := commentOf("a", "stored")
	must(t, comments.Create(t.Context(), stored))
	must(t, comments.Create(t.Context(), commentOf("a", "patched")))
	many := func(n int, parents ...string) *repository.Batch[Comment] {
		b := comments.Batch()
		for i := range n {
			parent := parents[i%len(parents)]
			b.Create(commentOf(parent, fmt.Sprintf("%d of %d under %v", i, n, parents)))
		}
		return b
	}
	for name, tt := range map[string]struct { //nolint:paralleltest // they write the same documents
		do       func(ctx context.Context) error
		requests int64
	}{
		"Create":                   {func(ctx context.Context) error { return comments.Create(ctx, commentOf("a", "created")) }, 2},
		"Save of a new one":        {func(ctx context.Context) error { return comments.Save(ctx, commentOf("a", "saved")) }, 2},
		"Save of one that is read": {func(ctx context.Context) error { return comments.Save(ctx, stored) }, 2},
		"Upsert, which looks whose document it is": {func(ctx context.Context) error { return comments.Upsert(ctx, commentOf("a", "upserted")) }, 3},
		"a batch under one parent":                 {many(99, "a").Commit, 2},
		"a batch without room":                     {many(100, "a").Commit, 3},
		"a batch under two parents":                {many(4, "a", "b").Commit, 3},
		"a batch with a patch": {func(ctx context.Context) error {
			return comments.Batch().Create(commentOf("a", "with a patch")).Patch("patched", repository.Edits{}.Set("/body", "x")).Commit(ctx)
		}, 2},
		"a bulk": {func(ctx context.Context) error {
			_, err := comments.SaveAll(ctx, func(yield func(*Comment) bool) { yield(commentOf("a", "of a bulk")) }, nil)
			return err
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, tally := repository.WithTally(context.WithoutCancel(t.Context()))
			must(t, tt.do(ctx))
			if n := tally.Requests(); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
		})
	}
}

// The parent goes between the look before and the write: for good, softly, and comes back. Nothing is left of what is refused, and what
// succeeds is there.
func TestAParentThatGoesBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	ways := map[string]func(p onePartition, ctx context.Context) error{
		"Create": func(p onePartition, ctx context.Context) error {
			return p.comments.In("acme").Create(ctx, commentOf("a", "new"))
		},
		"Batch": func(p onePartition, ctx context.Context) error {
			return p.comments.In("acme").Batch().Create(commentOf("a", "new")).Create(commentOf("a", "newer")).Commit(ctx)
		},
	}
	goes := map[string]func(t *testing.T, p onePartition){
		"for good": func(t *testing.T, p onePartition) {
			must(t, p.notes.In("acme").Delete(t.Context(), "a", nil))
			must(t, p.notes.In("acme").Purge(t.Context(), "a"))
		},
		"softly": func(t *testing.T, p onePartition) { must(t, p.notes.In("acme").Delete(t.Context(), "a", nil)) },
	}
	for way, create := range ways {
		for how, remove := range goes {
			for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
				t.Run(way+", "+how+", "+rule.String(), func(t *testing.T) {
					t.Parallel()
					e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					p := openOnePartition(t, e.Client(nil), rule)
					p.note(t, "a")
					slow := pauseAt(2)
					other := openOnePartition(t, clientOf(e, slow), rule)
					var err error
					writing := slow.until(func() { err = create(other, context.WithoutCancel(t.Context())) })
					remove(t, p)
					close(slow.goOn)
					<-writing
					mustBe(t, err, repository.ErrDanglingRef)
					if n, err := p.comments.In("acme").Count(t.Context(), repository.All()); err != nil || n != 0 {
						t.Errorf("%d comments, %v", n, err)
					}
				})
			}
		}
	}
}

// An answer that is lost tells nothing of the parent, so that the look after the write is a request of its own.
func TestALostTransactionLooksAtTheParentLater(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it loses answers")
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := openOnePartition(t, e.Client(nil), parented.Cascade)
	p.note(t, "a")
	e.Fault(emulator.Cut().AfterEffect().On(emulator.TransactionalBatch).Times(1))
	must(t, p.comments.In("acme").Create(t.Context(), commentOf("a", "new")))
	c, err := p.comments.In("acme").Get(t.Context(), "new")
	must(t, err)
	if c.ParentID != "a" {
		t.Errorf("it is under %q", c.ParentID)
	}
	must(t, p.notes.In("acme").Delete(t.Context(), "a", nil))
	if err := p.comments.In("acme").Create(t.Context(), commentOf("a", "late")); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("under a deleted parent: %v", err)
	}
}

// What is refused is refused as it is where parent and child lie apart.
func TestRefusalsOfATransactionThatReadsTheParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := openOnePartition(t, processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))).Client(nil), parented.Cascade)
	p.note(t, "a")
	comments := p.comments.In("acme")
	first := commentOf("a", "first")
	must(t, comments.Create(ctx, first))
	mustBe(t, comments.Create(ctx, commentOf("a", "first")), repository.ErrConflict)
	mustBe(t, comments.Create(ctx, commentOf("a", "a")), repository.ErrConflict) // the note's own id
	stale := *first
	first.Body = "newer"
	must(t, comments.Save(ctx, first))
	err := comments.Replace(ctx, &stale)
	var conflict *repository.ConflictError[Comment]
	if !errors.As(err, &conflict) || conflict.Current == nil || conflict.Current.Body != "newer" {
		t.Errorf("a stale replace: %v", err)
	}
	gone := *first
	must(t, comments.Delete(ctx, "first", nil))
	mustBe(t, comments.Replace(ctx, &gone), repository.ErrNotFound)
	mustBe(t, comments.Create(ctx, commentOf("nosuch", "x")), repository.ErrDanglingRef)
	var failed *repository.BatchError
	err = comments.Batch().Create(commentOf("a", "y")).Create(commentOf("a", "y")).Commit(ctx)
	if !errors.As(err, &failed) || failed.Index != 1 || failed.ID != "y" {
		t.Errorf("a batch: %v", err)
	}
	now, err := comments.Mutate(ctx, "z", func(*Comment) error { return nil })
	if !errors.Is(err, repository.ErrNotFound) {
		t.Errorf("%v, %v", now, err)
	}
}
