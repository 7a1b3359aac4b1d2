package engine

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"golang.org/x/sync/errgroup"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// physicalPartition is what is known of one: its id in the service, and its bounds as
// effective partition keys.
type physicalPartition struct {
	id       string
	min, max string
}

// partitionCache remembers a container's physical partitions. They change when the
// service divides or joins some; the answer to a request that names a gone one
// is 410, which is when to ask again.
type partitionCache struct {
	// turn holds one value while no request to the service is under way.
	turn  chan struct{}
	known []physicalPartition
}

func newPartitionCache() partitionCache {
	p := partitionCache{turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
}

// errRangesMove is for a container that is divided faster than it can be read.
var errRangesMove = errors.New("the container's physical partitions kept changing; try again")

const maxRangeReads = 16

// physicalPartitions returns the container's physical partitions in the order of their
// bounds. A caller that found one to be gone names it, else gone is "".
func (k *Call) physicalPartitions(ctx context.Context, gone string) ([]physicalPartition, error) {
	p := &k.Collection.physicalPartitions
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { p.turn <- struct{}{} }()
	isGone := func(r physicalPartition) bool { return r.id == gone }
	if p.known != nil && !slices.ContainsFunc(p.known, isGone) {
		return p.known, nil
	}
	known := slices.DeleteFunc(slices.Clone(p.known), isGone)
	cause := errRangesMove
	for read := range maxRangeReads {
		if read > 1 && !Sleep(ctx, backoff(read)) {
			break
		}
		bounds, err := k.readBounds(ctx)
		if err != nil {
			return nil, err
		}
		fresh, moved, err := k.readIDs(ctx, bounds, known)
		if err != nil {
			return nil, err
		}
		cause = cmp.Or(moved, cause)
		// The reading of an id is what tells the SDK that its list is old.
		after, err := k.readBounds(ctx)
		if err != nil {
			return nil, err
		}
		known = slices.DeleteFunc(fresh, func(r physicalPartition) bool { return r.id == "" })
		if slices.Equal(bounds, after) && len(known) == len(bounds) {
			p.known = known
			return known, nil
		}
	}
	return nil, cause
}

// readBounds asks the SDK, which remembers the answer.
func (k *Call) readBounds(ctx context.Context) ([]cosmos.FeedRange, error) {
	var bounds []cosmos.FeedRange
	x := &exchange{}
	err := k.read(ctx, x, func(ctx context.Context) (_ cosmos.Answer, err error) {
		bounds, err = cosmos.FeedRanges(ctx, k.Collection.Container)
		// Without an error there may have been no request at all.
		x.counted = err == nil
		return cosmos.Answer{}, err
	})
	slices.SortFunc(bounds, func(a, b cosmos.FeedRange) int { return epk.Compare(a.MinInclusive, b.MinInclusive) })
	return bounds, err
}

// readIDs finds the ids that belong to bounds. One that is not there any more
// is left empty, and moved is what the service said of it.
func (k *Call) readIDs(ctx context.Context, bounds []cosmos.FeedRange, known []physicalPartition) (out []physicalPartition, moved, err error) {
	out = make([]physicalPartition, len(bounds))
	answers := make([]error, len(bounds))
	group, under := errgroup.WithContext(ctx)
	group.SetLimit(merge.Parallel)
	for i, b := range bounds {
		out[i] = physicalPartition{min: b.MinInclusive, max: b.MaxExclusive}
		same := func(r physicalPartition) bool { return r.min == b.MinInclusive && r.max == b.MaxExclusive }
		if at := slices.IndexFunc(known, same); at >= 0 {
			out[i] = known[at]
			continue
		}
		group.Go(func() error {
			id, err := k.readID(under, b)
			if isGone(err) {
				answers[i], err = err, nil
			}
			out[i].id = id
			return err
		})
	}
	err = group.Wait()
	return out, cmp.Or(answers...), err
}

// readID learns a physical partition's id; "" where it is not there any more.
func (k *Call) readID(ctx context.Context, bounds cosmos.FeedRange) (id string, err error) {
	err = k.read(ctx, &exchange{}, func(ctx context.Context) (answer cosmos.Answer, err error) {
		id, answer, err = cosmos.RangeID(ctx, k.Collection.Container, bounds)
		return answer, err
	})
	return id, err
}

// isGone reports that a physical partition was divided, joined or moved.
func isGone(err error) bool {
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != http.StatusGone {
		return false
	}
	switch cosmos.SubstatusOf(response) {
	case 1002, 1007, 1008:
		return true
	}
	return false
}
