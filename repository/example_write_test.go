package repository_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// exampleNotes gives a tenant's notes in an account of the example's own.
func exampleNotes() (acme *repository.Scope[Note], done func()) {
	t, done := exampleTest()
	return setupNotes(t).acme, done
}

// exampleKeptNotes are notes that are kept for a while once they are deleted.
func exampleKeptNotes() (acme *repository.Scope[Note], done func()) {
	t, done := exampleTest()
	plan, err := registry.NewPlan(registry.Config{Database: "kept", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{
		registry.EntityOf[Note](registry.SoftDelete(30 * 24 * time.Hour)),
	})
	must(t, err)
	e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	db, err := registry.Open(e.Client(nil), plan)
	must(t, err)
	must(t, db.Prepare(t.Context()))
	notes, err := registry.RepositoryOf[Note](db)
	must(t, err)
	return notes.In("acme"), done
}

func ExampleScope_Create() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()

	note := &Note{Title: "first"}
	err := acme.Create(ctx, note)
	fmt.Println(err, note.ID != "", note.TenantID, note.EntityType, note.ETag != "")

	err = acme.Create(ctx, &Note{TenantItem: note.TenantItem, Title: "again"})
	fmt.Println(errors.Is(err, repository.ErrConflict))
	// Output:
	// <nil> true acme Note true
	// true
}

func ExampleScope_Replace() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)
	stale := *note

	note.Title = "second"
	fmt.Println(acme.Replace(ctx, note))

	stale.Title = "a lost update"
	var conflict *repository.ConflictError[Note]
	if err := acme.Replace(ctx, &stale); errors.As(err, &conflict) {
		fmt.Println("meanwhile it became:", conflict.Current.Title)
	}
	// Output:
	// <nil>
	// meanwhile it became: second
}

func ExampleScope_Save() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()

	note := &Note{Title: "first"}
	_ = acme.Save(ctx, note) // creates: it has no etag
	note.Title = "second"
	_ = acme.Save(ctx, note) // replaces

	_ = acme.Delete(ctx, note.ID, nil)
	err := acme.Save(ctx, note) // does not bring it back
	fmt.Println(errors.Is(err, repository.ErrNotFound))
	// Output: true
}

func ExampleScope_Upsert() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()

	setting := &Note{Title: "dark"}
	setting.ID = "theme"
	fmt.Println(acme.Upsert(ctx, setting)) // creates it
	setting.Title, setting.ETag = "light", "whatever"
	fmt.Println(acme.Upsert(ctx, setting)) // overwrites it without looking
	// Output:
	// <nil>
	// <nil>
}

func ExampleScope_Mutate() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "visits"}
	_ = acme.Create(ctx, note)

	got, err := acme.Mutate(ctx, note.ID, func(n *Note) error {
		n.Count++ // runs again on the newer document if another writer came between
		return nil
	})
	fmt.Println(got.Count, err)
	// Output: 1 <nil>
}

func ExampleScope_Patch() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "draft", Tags: []string{"a"}}
	_ = acme.Create(ctx, note)

	got, err := acme.Patch(ctx, note.ID, repository.Set("/title", "final").Add("/tags/-", "b").Increment("/count", 2).
		If(repository.Eq("title", "draft")))
	fmt.Println(got.Title, got.Tags, got.Count, err)

	_, err = acme.Patch(ctx, note.ID, repository.Set("/titel", "x"))
	fmt.Println(errors.Is(err, repository.ErrInvalid))
	// Output:
	// final [a b] 2 <nil>
	// true
}

func ExampleScope_Delete() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	err := acme.Delete(ctx, note.ID, &repository.DeleteOptions{ETag: `"another"`})
	fmt.Println(errors.Is(err, repository.ErrPreconditionFailed))
	fmt.Println(acme.Delete(ctx, note.ID, nil))
	// Output:
	// true
	// <nil>
}

func ExampleScope_PlanDelete() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	plan, err := acme.PlanDelete(ctx, note.ID)
	fmt.Println(plan.Removed, len(plan.Restricting), err)
	there, err := acme.Exists(ctx, note.ID)
	fmt.Println("still there:", there, err)
	// Output:
	// map[Note:1] 0 <nil>
	// still there: true <nil>
}

func ExampleScope_Restore() {
	acme, done := exampleKeptNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)
	_ = acme.Delete(ctx, note.ID, nil)

	_, err := acme.Get(ctx, note.ID)
	fmt.Println("deleted:", errors.Is(err, repository.ErrNotFound))
	fmt.Println(acme.Restore(ctx, note.ID))
	back, err := acme.Get(ctx, note.ID)
	fmt.Println(back.Title, err)
	// Output:
	// deleted: true
	// <nil>
	// first <nil>
}

func ExampleScope_Purge() {
	acme, done := exampleKeptNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	fmt.Println("not deleted yet:", errors.Is(acme.Purge(ctx, note.ID), repository.ErrConflict))
	_ = acme.Delete(ctx, note.ID, nil)
	fmt.Println(acme.Purge(ctx, note.ID))
	fmt.Println("gone for good:", errors.Is(acme.Restore(ctx, note.ID), repository.ErrNotFound))
	// Output:
	// not deleted yet: true
	// <nil>
	// gone for good: true
}

func ExampleScope_Batch() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	a, b := &Note{Title: "a"}, &Note{Title: "b"}
	fmt.Println(acme.Batch().Create(a).Create(b).Commit(ctx))

	a.Title = "changed"
	err := acme.Batch().Replace(a).Delete(b.ID, `"stale"`).Commit(ctx)
	var failed *repository.BatchError
	if errors.As(err, &failed) {
		fmt.Println(failed.Index, failed.Verb, failed.Status)
	}
	got, _ := acme.Get(ctx, a.ID)
	fmt.Println(got.Title) // nothing was applied
	// Output:
	// <nil>
	// 1 Delete 412
	// a
}

// Documents of two species that share a logical partition change together.
func ExampleCommitTogether() {
	t, done := exampleTest()
	defer done()
	ctx := context.Background()
	paths := []string{"/tenantId", "/lookupType"}
	container := newContainer(t, emulatortest.Client(t), paths...)
	colors, _ := repository.New[Lookup](container, repository.Config{PartitionKey: paths})
	labels, _ := repository.New[Lookup](container, repository.Config{PartitionKey: paths, EntityType: "Label"})

	red := &Lookup{Name: "red"}
	tag := &Lookup{Name: "tag"}
	err := repository.CommitTogether(ctx,
		colors.In("acme", "ui").Batch().Create(red),
		labels.In("acme", "ui").Batch().Create(tag),
	)
	fmt.Println(err, red.EntityType, tag.EntityType)
	// Output: <nil> Lookup Label
}

func ExampleScope_SaveAll() {
	acme, done := exampleNotes()
	defer done()
	taken := &Note{Title: "there before"}
	_ = acme.Create(context.Background(), taken)

	input := []*Note{{Title: "a"}, {Title: "b"}, {Title: "c"}}
	input[1].ID = taken.ID
	ctx, tally := repository.WithTally(context.Background())
	receipt, err := acme.SaveAll(ctx, slices.Values(input), nil)
	fmt.Println(receipt.Succeeded, receipt.Failed, errors.Is(err, repository.ErrConflict), tally.Requests() < 5)
	for _, item := range receipt.Items {
		fmt.Println(item.Index, item.Status)
	}
	// Output:
	// 2 1 true true
	// 0 succeeded
	// 1 failed
	// 2 succeeded
}

// A run that was stopped goes on in another process.
func ExampleScope_SaveAll_resume() {
	acme, done := exampleNotes()
	defer done()
	input := notesFrom(500)

	var saved string // kept where a restart finds it
	ctx, stop := context.WithCancel(context.Background())
	_, err := acme.SaveAll(ctx, slices.Values(input), &repository.BulkOptions{Progress: func(p repository.Receipt) {
		saved = p.Resume
		if p.Succeeded >= 100 {
			stop()
		}
	}})
	fmt.Println("stopped:", err != nil)

	receipt, err := acme.SaveAll(context.Background(), slices.Values(notesFrom(500)), &repository.BulkOptions{Resume: saved})
	n, _ := acme.Count(context.Background(), repository.All())
	fmt.Println(receipt.Skipped+receipt.Succeeded, n, err)
	// Output:
	// stopped: true
	// 500 500 <nil>
}

func ExampleScope_DeleteAll() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_, _ = acme.SaveAll(ctx, slices.Values(notesFrom(30)), nil)

	type onlyID struct {
		ID string `json:"id"`
	}
	old := func(yield func(string) bool) {
		for row, err := range repository.Project[onlyID](ctx, &acme.Reader, repository.Where(repository.Lt("title", "n00010"))) {
			if err != nil || !yield(row.ID) {
				return
			}
		}
	}
	receipt, err := acme.DeleteAll(ctx, old, nil)
	fmt.Println(receipt.Succeeded, err)
	// Output: 10 <nil>
}

func ExampleWithBudget() {
	acme, done := exampleNotes()
	defer done()
	_, _ = acme.SaveAll(context.Background(), slices.Values(notesFrom(2000)), nil)

	ctx, tally := repository.WithBudget(context.Background(), 10)
	for _, err := range acme.Query(ctx, repository.All()) {
		if err != nil {
			fmt.Println(errors.Is(err, repository.ErrBudget), tally.RequestUnits() < 20)
		}
	}
	// Output: true true
}

func ExampleWithTally() {
	acme, done := exampleNotes()
	defer done()
	note := &Note{Title: "first"}
	_ = acme.Create(context.Background(), note)

	ctx, tally := repository.WithTally(context.Background())
	_, _ = acme.Get(ctx, note.ID)
	_, _ = acme.Get(ctx, note.ID)
	fmt.Println(tally)
	// Output: 2 requests, 2.00 RU
}

func ExampleWithTenant() {
	acme, done := exampleNotes()
	defer done()
	ctx := repository.WithTenant(context.Background(), "globex") // what the request was authenticated for
	_, err := acme.Get(ctx, "anything")
	fmt.Println(errors.Is(err, repository.ErrTenantMismatch))
	// Output: true
}

func ExampleWithThroughput() {
	acme, done := exampleNotes()
	defer done()
	ctx := repository.WithThroughput(context.Background(), azcosmos.PriorityLevelLow, 2)
	_, err := acme.SaveAll(ctx, slices.Values(notesFrom(100)), nil) // an import that gives way to users
	fmt.Println(err)
	// Output: <nil>
}
