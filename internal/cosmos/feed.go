package cosmos

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// FeedPosition is how far a part of the key space was read in the change feed.
type FeedPosition struct {
	Min, Max string
	// After is the service's token of the last change; "" before the first.
	After string
}

// FeedRead asks for the changes after a position.
type FeedRead struct {
	FeedPosition
	// Part says that the position is less than its physical partition, so that
	// the request has to say which part.
	Part bool
	// Since is where to begin in time, while there is no After; nil is the
	// beginning.
	Since    *time.Time
	MaxItems int32
	// Session is the token of what the replica must have seen; "" for none.
	Session string
}

// FeedPage is what one request brought.
type FeedPage struct {
	// Items are the documents as they are now.
	Items [][]byte
	// Next are the positions to go on from, in no order: several after a
	// split. They are whole physical partitions, whatever was asked for.
	Next []FeedPosition
	// RangeID is the physical partition that answered; "" where it is unknown.
	RangeID string
	// Session is the answer's token, and Date the service's time; empty where
	// it did not say.
	Session string
	Date    time.Time
}

// composite is the SDK's continuation (azcosmos,
// cosmos_change_feed_composite_continuation_token.go): a queue of ranges. It is
// given one range here, and what the SDK made of it is taken back: after a
// split, the children.
type composite struct {
	Version      int              `json:"version"`
	ResourceID   string           `json:"resourceId"`
	Continuation []compositeRange `json:"continuation"`
}

type compositeRange struct {
	MinInclusive      string       `json:"minInclusive"`
	MaxExclusive      string       `json:"maxExclusive"`
	ContinuationToken *azcore.ETag `json:"continuationToken,omitempty"`
}

// ReadFeed reads one page of the change feed.
func ReadFeed(ctx context.Context, c *Container, read FeedRead) (FeedPage, error) {
	queue := composite{Version: 1, Continuation: []compositeRange{{MinInclusive: read.Min, MaxExclusive: read.Max, ContinuationToken: etagOption(read.After)}}}
	body, err := json.Marshal(queue)
	if err != nil {
		return FeedPage{}, err
	}
	continuation := string(body)
	if header := read.header(); len(header) > 0 {
		ctx = withHeader(ctx, header)
	}
	r, err := c.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{MaxItemCount: read.MaxItems, Continuation: &continuation})
	if err != nil {
		return FeedPage{}, err
	}
	page := FeedPage{Items: r.Items}
	if page.Next, err = feedPositions(r.ContinuationToken); err != nil {
		return FeedPage{}, err
	}
	page.RangeID, _ = rangeIDOf(r.RawResponse)
	if r.RawResponse != nil {
		page.Session = r.RawResponse.Header.Get(headerSession)
		page.Date, _ = http.ParseTime(r.RawResponse.Header.Get("Date")) // a missing one is zero
	}
	return page, nil
}

func (r FeedRead) header() http.Header {
	h := http.Header{}
	// A range that is as large as its partition is named by the partition's id alone.
	if r.Part {
		setBounds(h, r.Min, r.Max)
	}
	// The SDK writes its own option in another form, which ends in UTC. What
	// the service does not understand as a time, it takes for none.
	if r.Since != nil && r.After == "" {
		h["If-Modified-Since"] = []string{r.Since.UTC().Format(http.TimeFormat)}
	}
	if r.Session != "" {
		h[headerSession] = []string{r.Session}
	}
	return h
}

// feedPositions reads the SDK's queue back.
func feedPositions(token string) ([]FeedPosition, error) {
	var queue composite
	if err := json.Unmarshal([]byte(token), &queue); err != nil || len(queue.Continuation) == 0 {
		return nil, errors.New("the feed's continuation has another form than azcosmos v1.5 gives it")
	}
	out := make([]FeedPosition, len(queue.Continuation))
	for i, r := range queue.Continuation {
		out[i] = FeedPosition{Min: r.MinInclusive, Max: r.MaxExclusive}
		if r.ContinuationToken != nil {
			out[i].After = string(*r.ContinuationToken)
		}
	}
	return out, nil
}
