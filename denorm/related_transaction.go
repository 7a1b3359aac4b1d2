package denorm

import (
	"context"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Whether a count or list changes in the transaction of a child's write: shares (transaction.go) says whether
// both may lie in one logical partition, join leaves out a parent that lies elsewhere, and companions
// (transaction.go) what has no room. The feed brings those.

// childrenChange is what a transaction does to the children of one parent.
type childrenChange struct {
	rule   *related
	parent string
	delta  int64
	// after are the children that are shown otherwise than before, as they are
	// going to be; nil for one that is a child no more.
	after map[string]*engine.Document
}

func (r *related) connect() bool {
	if r.samePartition = r.parent.shares(r.child); !r.samePartition {
		return false
	}
	r.child.hasTransactionFollowers = true
	r.child.transactionFields = append(r.child.transactionFields, topOf(r.ref.Path))
	for _, d := range r.derived {
		if needs := d.needs(); len(needs) > 0 {
			r.child.transactionFields = append(append(r.child.transactionFields, "id"), needs...) // lists are in the order of ids
		}
	}
	r.parent.transactionFields = append(r.parent.transactionFields, r.fields()...)
	return true
}

func (r *related) join(tx *transaction) func(context.Context) error {
	changes := r.childrenChanges(tx)
	for _, f := range changes {
		if !f.blindWrite(tx) {
			tx.want(r.parent, f.parent)
		}
	}
	return func(ctx context.Context) error {
		for _, f := range changes {
			key := targetKey{r.parent, f.parent}
			if tx.targets[key] == nil && f.blindWrite(tx) {
				tx.add(r.parent, &target{typ: r.parent, doc: engine.Document{ID: f.parent, Key: tx.tx.Key}})
			}
			t := tx.targets[key]
			if t == nil {
				continue // it lies elsewhere, or is deleted
			}
			for _, d := range r.derived {
				if err := d.change(ctx, tx, f, t); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// childrenChanges finds the parents that the transaction's changes concern.
func (r *related) childrenChanges(tx *transaction) []*childrenChange {
	var changes []*childrenChange
	byParent := map[string]*childrenChange{}
	for _, c := range tx.changes {
		if c.typ != r.child {
			continue
		}
		old, now := refs(c.Before, r.ref), refs(c.After, r.ref)
		shown := r.shownOtherwise(c.Before, c.After)
		for _, id := range distinct(slices.Concat(old, now)) {
			was, is := slices.Contains(old, id), slices.Contains(now, id)
			if was == is && !shown {
				continue
			}
			f := byParent[id]
			if f == nil {
				f = &childrenChange{rule: r, parent: id, after: map[string]*engine.Document{}}
				byParent[id] = f
				changes = append(changes, f)
			}
			switch {
			case is && !was:
				f.delta++
			case was && !is:
				f.delta--
			}
			f.after[c.ID] = nil
			if is {
				f.after[c.ID] = c.After
			}
		}
	}
	return changes
}

// shownOtherwise reports whether something that is shown of the document would
// change.
func (r *related) shownOtherwise(before, after *engine.Document) bool {
	return slices.ContainsFunc(r.derived, func(d derived) bool {
		needs := d.needs()
		return len(needs) > 0 && (!alive(before) || !alive(after) || slices.ContainsFunc(needs, func(name string) bool {
			return !slices.Equal(before.Fields[name], after.Fields[name])
		}))
	})
}

// blindWrite reports whether a parent may be changed without having been read:
// where the reference is a level of the key, the parent can be expected in its
// children's partition.
func (f *childrenChange) blindWrite(tx *transaction) bool {
	r := f.rule
	_, own := tx.changed(r.parent, f.parent)
	return !tx.tx.Again && !own && !slices.ContainsFunc(r.derived, func(d derived) bool { return !d.blindWrite() }) &&
		len(validIDs([]string{f.parent})) == 1 && r.child.isKey(r.ref)
}
