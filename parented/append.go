package parented

import (
	"context"
	"errors"

	"github.com/cosmosgrove/grove/repository"
)

// appending is one append, without the entry's Go type.
type appending struct {
	newest *newestBuckets
	key    parentKey
	// find returns the parent's last bucket; -1 is none.
	find func(context.Context) (seq int, err error)
	// patch puts the entry into a bucket that has room, and start makes a bucket with it.
	patch, start func(ctx context.Context, seq int) error
	// unhide brings a bucket back that a delete hides which was broken off.
	unhide func(ctx context.Context, seq int) error
}

// suspicious is after how many attempts that came to nothing the bucket is looked at.
const suspicious = 5

// run finds a place for the entry, and returns the bucket that has it.
func (a *appending) run(ctx context.Context, f *Forest) error {
	seq, known := a.newest.guess(a.key)
	for attempts := 0; ; attempts++ {
		if !known {
			var err error
			if seq, err = a.find(ctx); err != nil {
				return err
			}
			known = true
		}
		at, err := a.put(ctx, seq)
		switch {
		case err == nil:
			a.newest.learn(a.key, at)
			return nil
		case errors.Is(err, repository.ErrPreconditionFailed), errors.Is(err, repository.ErrTooLarge) && seq >= 0:
			seq++ // full; the next one may be there already
			if err = a.start(ctx, seq); err == nil {
				a.newest.learn(a.key, seq)
				return nil
			}
			if !errors.Is(err, repository.ErrConflict) {
				return err
			}
		case errors.Is(err, repository.ErrNotFound):
			known = false // removed since it was learnt
			a.newest.forget(a.key)
		default:
			return err
		}
		if attempts%suspicious == suspicious-1 {
			if err := a.unhide(ctx, max(seq, 0)); err != nil {
				return err
			}
		}
		if err := f.nextAttempt(ctx, attempts%maxAttempts); err != nil {
			return err
		}
	}
}

// put is patch, or start of the first bucket where there is none, and returns which it was.
func (a *appending) put(ctx context.Context, seq int) (int, error) {
	if seq >= 0 {
		return seq, a.patch(ctx, seq)
	}
	err := a.start(ctx, 0)
	if errors.Is(err, repository.ErrConflict) {
		err = a.patch(ctx, 0)
	}
	return 0, err
}
