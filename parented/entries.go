package parented

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Entries are the bucketed children of one parent.
type Entries[E, P any] struct {
	buckets *Buckets[E, P]
	scope   *Scope[Bucket[E, P], P]
}

// Append adds a child behind all others and returns its entry: one point read of
// the parent and one patch of the last bucket, and for every full bucket the creation
// of the next. Appends of one goroutine stay in their order; appends of many
// lose nothing. It fails with [repository.ErrDanglingRef] when the parent is
// gone or its delete has begun, and with [repository.ErrAmbiguous] when no answer came and the entry
// is not there to be seen.
func (e *Entries[E, P]) Append(ctx context.Context, value E) (*Entry[E], error) {
	if err := e.scope.check("Append"); err != nil {
		return nil, err
	}
	key := parentKey{e.scope.tenant, e.scope.parent.id}
	done, err := e.buckets.newest.lock(ctx, key)
	if err != nil {
		return nil, e.scope.fail("Append", err)
	}
	defer done()
	var entry *Entry[E]
	a := appending{
		newest: e.buckets.newest, key: key, find: e.newest,
		patch: func(ctx context.Context, seq int) (err error) {
			entry, err = e.appendTo(ctx, seq, value)
			return err
		},
		start: func(ctx context.Context, seq int) (err error) {
			entry, err = e.start(ctx, seq, value)
			return err
		},
		unhide: func(ctx context.Context, seq int) error {
			return e.scope.unhideStray(ctx, bucketID(e.scope.parent.id, seq))
		},
	}
	if err := a.run(ctx, e.scope.children.forest); err != nil {
		return nil, err
	}
	return entry, nil
}

// appendTo puts an entry into a bucket that has room. It looks at the parent: a delete of it that has
// begun will take the buckets, also those that it has not come to yet.
func (e *Entries[E, P]) appendTo(ctx context.Context, seq int, value E) (*Entry[E], error) {
	entry, err := newEntry(seq, value)
	if err != nil {
		return nil, err
	}
	if err := e.scope.children.alive(ctx, e.scope.tenant, e.scope.parent); err != nil {
		return nil, e.scope.fail("Append", err)
	}
	_, err = e.scope.in().Patch(ctx, bucketID(e.scope.parent.id, seq), repository.Edits{}.Add("/entries/-", entry).Increment("/taken", 1).Increment("/live", 1).
		If(repository.And(repository.Lt("taken", e.buckets.capacity), repository.Eq(parentField, e.scope.parent.id))))
	if errors.Is(err, repository.ErrAmbiguous) {
		// Another append may have covered the mark by which a lost answer is
		// recognised; the entry itself can't be covered.
		if _, lookErr := e.Get(ctx, entry.ID); lookErr == nil {
			return entry, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return entry, nil
}

// start makes a bucket with its first entry.
func (e *Entries[E, P]) start(ctx context.Context, seq int, value E) (*Entry[E], error) {
	entry, err := newEntry(seq, value)
	if err != nil {
		return nil, err
	}
	bucket := &Bucket[E, P]{Seq: seq, Taken: 1, Live: 1, Entries: []Entry[E]{*entry}}
	bucket.ID = bucketID(e.scope.parent.id, seq)
	if err := e.scope.Create(ctx, bucket); err != nil {
		return nil, err
	}
	return entry, nil
}

func newEntry[E any](seq int, value E) (*Entry[E], error) {
	id, err := tenantitem.NewID()
	if err != nil {
		return nil, err
	}
	return &Entry[E]{ID: strconv.Itoa(seq) + "." + id, Value: value}, nil
}

// seqOf reads the bucket from an entry's id; -1 when it is not one.
func seqOf(entryID string) int {
	text, _, ok := strings.Cut(entryID, ".")
	seq, err := strconv.Atoi(text)
	if !ok || err != nil || seq < 0 || text != strconv.Itoa(seq) {
		return -1
	}
	return seq
}

// Get reads one entry: a point read of its bucket.
func (e *Entries[E, P]) Get(ctx context.Context, id string) (*Entry[E], error) {
	bucketID, err := e.place("Get", id)
	if err != nil {
		return nil, err
	}
	bucket, err := e.scope.Get(ctx, bucketID)
	if err != nil {
		return nil, err
	}
	i := bucket.find(id)
	if i < 0 {
		return nil, e.missing("Get", id)
	}
	return &bucket.Entries[i], nil
}

// Edit changes one entry, under the rules of [repository.ScopeOf.Mutate].
func (e *Entries[E, P]) Edit(ctx context.Context, id string, change func(*E) error) (*Entry[E], error) {
	var edited Entry[E]
	err := e.mutate(ctx, "Edit", id, func(b *Bucket[E, P], i int) error {
		if err := change(&b.Entries[i].Value); err != nil {
			return err
		}
		edited = b.Entries[i]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &edited, nil
}

// Delete removes one entry. Its place in the bucket stays used.
func (e *Entries[E, P]) Delete(ctx context.Context, id string) error {
	return e.mutate(ctx, "Delete", id, func(b *Bucket[E, P], i int) error {
		b.Entries = slices.Delete(b.Entries, i, i+1)
		b.Live = len(b.Entries)
		return nil
	})
}

func (e *Entries[E, P]) mutate(ctx context.Context, op, id string, change func(*Bucket[E, P], int) error) error {
	bucketID, err := e.place(op, id)
	if err != nil {
		return err
	}
	_, err = e.scope.in().Mutate(ctx, bucketID, func(b *Bucket[E, P]) error {
		i := b.find(id)
		if i < 0 || string(b.ParentID) != e.scope.parent.id {
			return e.missing(op, id)
		}
		return change(b, i)
	})
	return err
}

func (b *Bucket[E, P]) find(id string) int {
	return slices.IndexFunc(b.Entries, func(entry Entry[E]) bool { return entry.ID == id })
}

// place returns the id of the bucket that an entry is in.
func (e *Entries[E, P]) place(op, id string) (string, error) {
	if err := e.scope.check(op); err != nil {
		return "", err
	}
	seq := seqOf(id)
	if seq < 0 {
		return "", e.scope.fail(op, &tenantitem.InvalidError{What: "entry id", Reason: "it names no bucket", Hint: "use the ID that Append returned"})
	}
	return bucketID(e.scope.parent.id, seq), nil
}

func (e *Entries[E, P]) missing(op, id string) error {
	return e.scope.fail(op, fmt.Errorf("%w: no entry %q", repository.ErrNotFound, id))
}

// OldestFirst returns all entries in the order in which they were appended,
// one bucket at a time, under the rules of [repository.ScopeOf.Query].
func (e *Entries[E, P]) OldestFirst(ctx context.Context) iter.Seq2[*Entry[E], error] {
	return e.each(ctx, repository.All().OrderBy("seq"), false)
}

// NewestFirst returns all entries, the last one first. Leaving the loop early
// leaves the older buckets unread.
func (e *Entries[E, P]) NewestFirst(ctx context.Context) iter.Seq2[*Entry[E], error] {
	return e.each(ctx, repository.All().OrderByDesc("seq"), true)
}

func (e *Entries[E, P]) each(ctx context.Context, q repository.Query, backwards bool) iter.Seq2[*Entry[E], error] {
	return func(yield func(*Entry[E], error) bool) {
		for bucket, err := range e.scope.Query(ctx, q) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range bucket.Entries {
				if backwards {
					i = len(bucket.Entries) - 1 - i
				}
				if !yield(&bucket.Entries[i], nil) {
					return
				}
			}
		}
	}
}

// fill is what Count reads of a bucket.
type fill struct {
	Live int `json:"live"`
}

// Count returns the number of entries.
func (e *Entries[E, P]) Count(ctx context.Context) (int64, error) {
	if err := e.scope.check("Count"); err != nil {
		return 0, err
	}
	var total int64
	for f, err := range repository.Project[fill](ctx, &e.scope.in().Reader, e.scope.only(repository.All())) {
		if err != nil {
			return 0, err
		}
		total += int64(f.Live)
	}
	return total, nil
}
