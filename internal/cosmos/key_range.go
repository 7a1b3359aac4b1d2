package cosmos

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// The headers by which Microsoft's other SDKs address a physical partition, and
// a part of its key space.
const (
	headerRangeID      = "X-Ms-Documentdb-Partitionkeyrangeid"
	headerPartitionKey = "X-Ms-Documentdb-Partitionkey"
	headerCrossQuery   = "X-Ms-Documentdb-Query-Enablecrosspartition"
	headerStartEPK     = "X-Ms-Start-Epk"
	headerEndEPK       = "X-Ms-End-Epk"
	headerReadKeyType  = "X-Ms-Read-Key-Type"
	headerSession      = "X-Ms-Session-Token"
)

// FeedRange is the bounds of a physical partition as effective partition keys,
// MaxExclusive not included.
type FeedRange = azcosmos.FeedRange

// FeedRanges returns the bounds of a container's physical partitions. The SDK
// remembers them, so that there may be no request.
func FeedRanges(ctx context.Context, c *Container) ([]FeedRange, error) {
	return c.ReadFeedRanges(ctx, nil)
}

// RangeID asks for the id of the physical partition that has these bounds. The
// SDK keeps ids to itself, so the change feed is asked for one document, and
// its request tells where it went. It is "" where no partition has these
// bounds any more.
func RangeID(ctx context.Context, c *Container, bounds FeedRange) (id string, answer Answer, err error) {
	r, err := c.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &bounds, MaxItemCount: 1})
	answer = answerOf(r.Response)
	if err != nil || r.FeedRange == nil || *r.FeedRange != bounds {
		return "", answer, err
	}
	id, known := rangeIDOf(r.RawResponse)
	if !known {
		return "", answer, errNoRequest
	}
	return id, answer, nil
}

var errNoRequest = errors.New("the client's transport does not say which request a response belongs to")

// rangeIDOf is the physical partition that a request was sent to.
func rangeIDOf(r *http.Response) (id string, known bool) {
	if r == nil || r.Request == nil {
		return "", false
	}
	return r.Request.Header.Get(headerRangeID), true
}

// Range addresses a physical partition, or a part of its key space.
type Range struct {
	// ID is the service's; "" addresses none.
	ID string
	// Min and Max bound the part; both are empty for all of it.
	Min, Max string
}

func (r Range) queryHeader() http.Header {
	h := http.Header{headerRangeID: {r.ID}, headerCrossQuery: {"True"}}
	if r.Min != "" || r.Max != "" {
		setBounds(h, r.Min, r.Max)
	}
	return h
}

// setBounds restricts a request to a part of the physical partition it goes to.
func setBounds(h http.Header, minInclusive, maxExclusive string) {
	h[headerStartEPK] = []string{epk.LowerBound(minInclusive)}
	h[headerEndEPK] = []string{maxExclusive}
	h[headerReadKeyType] = []string{"EffectivePartitionKeyRange"}
}
