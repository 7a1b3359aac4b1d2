package changefeed

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Leases whose ids have a former form are renamed one by one, by the instance
// that takes them, and by no other: as long as the former document is there,
// it is the lease, and one of the new form with the same range counts for
// nothing. So the position can't be lost wherever an instance is killed, and
// instances of a former version, which know the former ids only, are asked to
// hand over what they own like any other.

// isFormer reports whether a lease's id has another form than it would be
// given now.
func (s *leaseStore) isFormer(l *lease) bool { return !strings.HasPrefix(l.ID, s.names.prefix) }

// withoutCopies leaves out the leases that were made from a former one which
// is still there.
func (s *leaseStore) withoutCopies(leases []*lease) []*lease {
	return slices.DeleteFunc(leases, func(l *lease) bool {
		return !s.isFormer(l) && slices.ContainsFunc(leases, func(other *lease) bool {
			return other != nil && s.isFormer(other) && other.FeedRange.Range.equal(l.FeedRange.Range)
		})
	})
}

// rename gives a former lease, which this instance has just taken, its new id.
// Another instance that took it meanwhile makes it errLost.
func (s *leaseStore) rename(ctx context.Context, former *lease) (*lease, error) {
	renamed := former.clone()
	s.name(renamed)
	made, created, err := s.storeRenamed(ctx, renamed)
	if err != nil {
		return nil, err
	}
	_, err = s.container.write(ctx, cosmos.Operation{Kind: cosmos.OpDelete, ID: former.ID, ETag: string(former.ETag)})
	if err == nil {
		s.logger.InfoContext(ctx, "change feed lease renamed", "lease", made.ID, "from", former.ID)
		return made, nil
	}
	if !wasTaken(err) {
		return nil, err
	}
	switch done, err := s.isRenamed(ctx, former, made); {
	case err != nil:
		return nil, err
	case done:
		return made, nil
	}
	// This instance stood still, and another has gone on. A document that
	// was made after the other one's lease had been replaced is in the way
	// of those that replaced it.
	if created {
		if err := s.remove(ctx, made); err != nil && !wasTaken(err) {
			return nil, err
		}
	}
	return nil, errLost
}

// isRenamed reports whether a delete of the former lease that found nothing is the second copy of one that took effect: a client
// may send a write again whose answer was lost. Another instance would have changed what was made, or
// there would be leases of its ranges.
func (s *leaseStore) isRenamed(ctx context.Context, former, made *lease) (bool, error) {
	_, err := s.read(ctx, former.ID)
	if !isMissing(err) {
		return false, err
	}
	leases, err := s.list(ctx)
	if err != nil {
		return false, err
	}
	unchanged := false
	for _, l := range leases {
		switch {
		case l.ID == made.ID:
			unchanged = l.ETag == made.ETag
		case !l.FeedRange.Range.intersect(made.FeedRange.Range).isEmpty():
			return false, nil
		}
	}
	return unchanged, nil
}

// storeRenamed creates the lease of the new id, or goes on with one that an
// instance has left which did not come to the end.
func (s *leaseStore) storeRenamed(ctx context.Context, renamed *lease) (stored *lease, created bool, err error) {
	for {
		stored, err = s.add(ctx, renamed)
		if statusOf(err) != http.StatusConflict {
			return stored, true, err
		}
		now, err := s.read(ctx, renamed.ID)
		switch {
		case isMissing(err):
			continue
		case err != nil:
			return nil, false, err
		case now.epoch() >= renamed.epoch():
			return nil, false, errLost
		}
		next := renamed.clone()
		next.ETag = now.ETag
		// Both positions are true; the later one repeats less.
		if isBefore(next.continuation(), now.continuation()) {
			next.ContinuationToken = now.ContinuationToken
		}
		stored, err = s.replace(ctx, next)
		if statusOf(err) != http.StatusPreconditionFailed {
			return stored, false, err
		}
	}
}

// raiseEpoch lets a lease begin no earlier epoch than another.
func (l *lease) raiseEpoch(to int64) {
	if to > l.epoch() {
		l.Properties[propertyEpoch] = strconv.FormatInt(to, 10)
	}
}
