package parented_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// numbered is a note with three lines in buckets of two.
func numbered() (entries *parented.Entries[Line, Note], ids []string, done func()) {
	g, done := exampleGrove()
	ctx := context.Background()
	cfg := parented.BucketConfig{Capacity: 2}
	cfg.EntityType, cfg.Rule = "LineBucket", parented.Cascade
	lines, err := parented.NewBuckets[Line](g.forest, g.notes, g.notes.Container(), cfg)
	check(err)
	note := &Note{}
	check(g.notes.In("acme").Create(ctx, note))
	entries = lines.Under(note)
	for n := range 3 {
		entry, err := entries.Append(ctx, Line{Number: n})
		check(err)
		ids = append(ids, entry.ID)
	}
	return entries, ids, done
}

func ExampleEntries_Append() {
	lines, _, done := numbered()
	defer done()
	entry, err := lines.Append(context.Background(), Line{Number: 3})
	fmt.Println(entry.Value.Number, err)
	// Output: 3 <nil>
}

func ExampleEntries_Get() {
	lines, ids, done := numbered()
	defer done()
	entry, err := lines.Get(context.Background(), ids[2])
	fmt.Println(entry.Value.Number, err)
	// Output: 2 <nil>
}

func ExampleEntries_Edit() {
	lines, ids, done := numbered()
	defer done()
	entry, err := lines.Edit(context.Background(), ids[1], func(l *Line) error {
		l.Number = 42
		return nil
	})
	fmt.Println(entry.Value.Number, err)
	// Output: 42 <nil>
}

func ExampleEntries_Delete() {
	lines, ids, done := numbered()
	defer done()
	ctx := context.Background()
	check(lines.Delete(ctx, ids[0]))
	fmt.Println("again:", errors.Is(lines.Delete(ctx, ids[0]), repository.ErrNotFound))
	// Output: again: true
}

func ExampleEntries_OldestFirst() {
	lines, _, done := numbered()
	defer done()
	for line, err := range lines.OldestFirst(context.Background()) {
		check(err)
		fmt.Print(line.Value.Number, " ")
	}
	// Output: 0 1 2
}

func ExampleEntries_NewestFirst() {
	lines, _, done := numbered()
	defer done()
	for line, err := range lines.NewestFirst(context.Background()) {
		check(err)
		fmt.Print(line.Value.Number, " ")
	}
	// Output: 2 1 0
}

func ExampleEntries_Count() {
	lines, _, done := numbered()
	defer done()
	n, err := lines.Count(context.Background())
	fmt.Println(n, err)
	// Output: 3 <nil>
}

// The buckets themselves are documents of the type Bucket.
func ExampleBucket() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	cfg := parented.BucketConfig{Capacity: 2}
	cfg.EntityType, cfg.Rule = "LineBucket", parented.Cascade
	lines, err := parented.NewBuckets[Line](g.forest, g.notes, g.notes.Container(), cfg)
	check(err)
	note := &Note{}
	check(g.notes.In("acme").Create(ctx, note))
	for n := range 3 {
		_, err := lines.UnderID("acme", note.Ref()).Append(ctx, Line{Number: n})
		check(err)
	}
	for bucket, err := range lines.Documents().Under(note).Query(ctx, repository.All().OrderBy("seq")) {
		check(err)
		fmt.Println("bucket", bucket.Seq, "holds", bucket.Live)
	}
	// Output:
	// bucket 0 holds 2
	// bucket 1 holds 1
}
