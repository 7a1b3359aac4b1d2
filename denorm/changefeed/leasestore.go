package changefeed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// errLost means that another instance owns the lease now, or that it is gone.
var errLost = errors.New("the lease was lost")

// leaseStore keeps the leases of one name over one container.
type leaseStore struct {
	container *leaseContainer
	names     leaseNames
	former    []string // prefixes of ids of other forms
	instance  string
	logger    *slog.Logger
	foreign   sync.Map // ids that were told of
}

// name gives a lease the id of its range.
func (s *leaseStore) name(l *lease) {
	l.FeedRange.Range = l.FeedRange.Range.canonical()
	l.LeaseToken = l.FeedRange.Range.String()
	l.ID = s.names.prefix + l.LeaseToken
	l.Version, l.Mode = epkLease, incrementalFeed
}

// list returns all leases.
func (s *leaseStore) list(ctx context.Context) ([]*lease, error) {
	query := `SELECT * FROM c WHERE STARTSWITH(c["id"], @prefix)`
	parameters := []cosmos.QueryParameter{{Name: "@prefix", Value: s.names.prefix}}
	for i, former := range s.former {
		name := fmt.Sprintf("@former%d", i)
		query += ` OR STARTSWITH(c["id"], ` + name + ")"
		parameters = append(parameters, cosmos.QueryParameter{Name: name, Value: former})
	}
	var out []*lease
	for item, err := range s.container.query(ctx, query, parameters...) {
		if err != nil {
			return nil, fmt.Errorf("listing leases: %w", err)
		}
		var l lease
		if err := json.Unmarshal(item, &l); err != nil || l.Version != epkLease || l.FeedRange.Range.isEmpty() {
			s.skipForeign(ctx, item)
			continue
		}
		out = append(out, &l)
	}
	return s.withoutCopies(out), nil
}

// skipForeign notes a document that has a lease's id and is none, or one of another
// version: that is how far a processor of another SDK is. It stops nothing; if it was a lease once, its range is reported as one without a lease.
func (s *leaseStore) skipForeign(ctx context.Context, item []byte) {
	id := parseChange(item).ID // all that is told of it
	if _, told := s.foreign.LoadOrStore(id, true); !told {
		s.logger.WarnContext(ctx, "a document in the lease container is not a lease; use a container of its own", "document", id)
	}
}

// complete reports whether all leases were made once. A document says so: a
// missing lease may mean that an instance was killed while it made them, or
// that a split is under way, and the first must not be taken for the second.
func (s *leaseStore) complete(ctx context.Context) (bool, error) {
	id := s.names.info()
	_, err := s.container.read(ctx, id)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

func (s *leaseStore) setComplete(ctx context.Context) error {
	id := s.names.info()
	body, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return err
	}
	_, err = s.container.write(ctx, cosmos.Operation{Kind: cosmos.OpUpsert, ID: id, Body: body})
	return err
}

func (s *leaseStore) read(ctx context.Context, id string) (*lease, error) {
	body, err := s.container.read(ctx, id)
	if err != nil {
		return nil, err
	}
	var l lease
	if err := json.Unmarshal(body, &l); err != nil {
		return nil, errors.New("the lease is not readable")
	}
	if l.Properties == nil {
		l.Properties = map[string]string{}
	}
	return &l, nil
}

// create stores a new lease; one that exists already keeps its position and owner.
func (s *leaseStore) create(ctx context.Context, at position, owner string, properties map[string]string) error {
	l := &lease{FeedRange: feedRange{at.keys}, Timestamp: time.Now().UTC(), Properties: map[string]string{}}
	s.name(l)
	l.setOwner(owner)
	if at.continuation != "" {
		l.ContinuationToken = &at.continuation
	}
	for k, v := range properties {
		if k != propertyHandover {
			l.Properties[k] = v
		}
	}
	_, err := s.add(ctx, l)
	if statusOf(err) == http.StatusConflict {
		return s.raiseEpoch(ctx, l)
	}
	return err
}

// add stores a lease that is not there yet.
func (s *leaseStore) add(ctx context.Context, l *lease) (*lease, error) {
	stored := *l
	stored.ETag = ""
	body, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	etag, err := s.container.write(ctx, cosmos.Operation{Kind: cosmos.OpCreate, ID: l.ID, Body: body})
	if err != nil {
		return nil, err
	}
	stored.ETag = etag
	return &stored, nil
}

// raiseEpoch lets a lease that exists already begin no earlier epoch than the one
// that was to be made. It was left by a split that did not come to its end,
// and its parent has had other owners since.
func (s *leaseStore) raiseEpoch(ctx context.Context, l *lease) error {
	for l.epoch() > 0 {
		now, err := s.read(ctx, l.ID)
		if isMissing(err) {
			return nil
		}
		if err != nil || now.epoch() >= l.epoch() {
			return err
		}
		now.raiseEpoch(l.epoch())
		if _, err = s.replace(ctx, now); statusOf(err) != http.StatusPreconditionFailed {
			return err
		}
	}
	return nil
}

// remove deletes a lease if it is still the one that was read.
func (s *leaseStore) remove(ctx context.Context, l *lease) error {
	_, err := s.container.write(ctx, cosmos.Operation{Kind: cosmos.OpDelete, ID: l.ID, ETag: string(l.ETag)})
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// replace stores a changed lease if it is still the one that was read.
func (s *leaseStore) replace(ctx context.Context, l *lease) (*lease, error) {
	stored := *l
	stored.ETag = ""
	body, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	etag, err := s.container.write(ctx, cosmos.Operation{Kind: cosmos.OpReplace, ID: l.ID, ETag: string(l.ETag), Body: body})
	if err != nil {
		return nil, err
	}
	l.ETag = etag
	return l, nil
}

// retryWithPause is how long to wait before a request that the service asked for once more.
const retryWithPause = 10 * time.Millisecond

// update changes a lease that this instance owns. Another instance's wish for
// a handover, written in between, is kept. A write whose answer was lost needs
// no care: what comes back belongs to this instance in the same epoch, and
// change is applied to it again.
func (s *leaseStore) update(ctx context.Context, l *lease, change func(*lease)) (*lease, error) {
	for {
		next := l.clone()
		change(next)
		next.Timestamp = time.Now().UTC()
		updated, err := s.replace(ctx, next)
		switch statusOf(err) {
		case http.StatusNotFound:
			return nil, errLost
		case http.StatusPreconditionFailed:
			if l, err = s.readOwned(ctx, l); err != nil {
				return nil, err
			}
		case statusRetryWith:
			// Nothing was applied. A lease that is handed back should not wait for its expiry because of that.
			if !wait(ctx, retryWithPause) {
				return nil, ctx.Err()
			}
		default:
			return updated, err
		}
	}
}

// relinquish removes a lease that this instance owns.
func (s *leaseStore) relinquish(ctx context.Context, l *lease) error {
	for {
		err := s.remove(ctx, l)
		if statusOf(err) != http.StatusPreconditionFailed {
			return err
		}
		if l, err = s.readOwned(ctx, l); err != nil {
			return err
		}
	}
}

// readOwned reads a lease again that changed meanwhile. Another owner, or this
// instance in another epoch, means that it was lost.
func (s *leaseStore) readOwned(ctx context.Context, l *lease) (*lease, error) {
	now, err := s.read(ctx, l.ID)
	switch {
	case isMissing(err):
		return nil, errLost
	case err != nil:
		return nil, err
	case now.owner() != s.instance || now.epoch() != l.epoch():
		return nil, errLost
	}
	return now, nil
}
