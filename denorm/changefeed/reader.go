package changefeed

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// reader reads pages of one container's feed, range by range.
type reader struct {
	container *azcosmos.ContainerClient
	keyPaths  [][]string // of the partition key, each split into names
	scheme    epk.Scheme
	maxItems  int32
}

// composite is the SDK's continuation (azcosmos,
// cosmos_change_feed_composite_continuation_token.go): a queue of ranges. The
// reader gives it one range and takes what the SDK made of it: after a split,
// the children.
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

// page is what one request brought.
type page struct {
	changes []Change
	// empty says that the feed had nothing new; a page without changes may
	// have had some of other ranges.
	empty bool
	// next is where to go on: one range, or several after a split.
	next []position
	// head is the newest position of the physical partition; 0 when the answer
	// did not say.
	head int64
}

// read reads the page after a position. start is sent while there is no
// continuation: the SDK does not keep it in its token. It sends a date in a
// form that the service is not known to take, and a service that doesn't take
// it starts at the beginning without a word; so what is older is left out here.
func (r *reader) read(ctx context.Context, at position, start *time.Time, maxItems int32) (page, error) {
	queue := composite{Version: 1, Continuation: []compositeRange{{MinInclusive: at.keys.Min, MaxExclusive: at.keys.Max}}}
	options := &azcosmos.ChangeFeedOptions{MaxItemCount: maxItems}
	if at.continuation != "" {
		queue.Continuation[0].ContinuationToken = (*azcore.ETag)(&at.continuation)
	} else {
		options.StartFrom = start
	}
	token, err := json.Marshal(queue)
	if err != nil {
		return page{}, err
	}
	text := string(token)
	options.Continuation = &text

	before, err := r.layOf(ctx, at.keys)
	if err != nil {
		return page{}, err
	}
	if before.beyond && before.within {
		// The SDK names only the physical partition. Others send the bounds
		// too, and so does this.
		ctx = policy.WithHTTPHeader(ctx, http.Header{
			"X-Ms-Start-Epk":     {epk.LowerBound(at.keys.Min)},
			"X-Ms-End-Epk":       {at.keys.Max},
			"X-Ms-Read-Key-Type": {"EffectivePartitionKeyRange"},
		})
	}
	resp, err := r.container.ReadChangeFeed(ctx, options)
	if err != nil {
		return page{}, err
	}
	// The SDK may have learned of a merge or a split during the call, and have
	// read the whole of another partition than the one that the bounds were for.
	after, err := r.layOf(ctx, at.keys)
	if err != nil {
		return page{}, err
	}
	out := page{head: headOf(resp.Response), empty: len(resp.Items) == 0}
	if out.next, err = positions(resp.ContinuationToken, at); err != nil {
		return page{}, err
	}
	session := sessionOf(resp.Response)
	for _, raw := range resp.Items {
		if (before.beyond || after.beyond) && !r.within(at.keys, raw) {
			continue
		}
		c, err := parseChange(raw)
		if err != nil {
			return page{}, err
		}
		if start != nil && c.Timestamp < start.Unix() {
			continue
		}
		c.Session = session
		out.changes = append(out.changes, c)
	}
	return out, nil
}

// now returns the position behind the last change of a range, by the service's
// own reckoning: no clock is asked. A range that was split has several.
func (r *reader) now(ctx context.Context, keys keyRange) ([]position, error) {
	const fromNow = "*"
	var out []position
	for queue := []position{{keys, fromNow}}; len(queue) > 0; queue = queue[1:] {
		pg, err := r.read(ctx, queue[0], nil, 1)
		if err != nil {
			return nil, err
		}
		for _, next := range pg.next {
			if next.continuation == fromNow { // a child that was not read yet
				queue = append(queue, next)
			} else {
				out = append(out, next)
			}
		}
	}
	return out, nil
}

// positions reads the SDK's queue back, in the order of the ranges and cut to
// the range that was asked for: the SDK widens it to the physical partition.
func positions(token string, at position) ([]position, error) {
	var queue composite
	if err := json.Unmarshal([]byte(token), &queue); err != nil || len(queue.Continuation) == 0 {
		return nil, errors.New("the feed's continuation has another form than azcosmos v1.5 gives it")
	}
	var out []position
	for _, c := range queue.Continuation {
		p := position{keys: keyRange{max(c.MinInclusive, at.keys.Min), min(c.MaxExclusive, at.keys.Max)}}
		if c.ContinuationToken != nil {
			p.continuation = string(*c.ContinuationToken)
		}
		if p.keys.Min < p.keys.Max {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b position) int { return strings.Compare(a.keys.Min, b.keys.Min) })
	return out, nil
}

// lay is how a range lies to the physical partitions. After a merge it is
// within one that goes beyond it; after another split at another bound it may
// overlap several that do.
type lay struct{ beyond, within bool }

func (r *reader) layOf(ctx context.Context, keys keyRange) (lay, error) {
	ranges, err := r.container.ReadFeedRanges(ctx, nil)
	if err != nil {
		return lay{}, err
	}
	var out lay
	for _, physical := range ranges {
		if physical.MaxExclusive <= keys.Min || keys.Max <= physical.MinInclusive {
			continue
		}
		out.beyond = out.beyond || physical.MinInclusive < keys.Min || keys.Max < physical.MaxExclusive
		out.within = physical.MinInclusive <= keys.Min && keys.Max <= physical.MaxExclusive
	}
	return out, nil
}

// within reports whether a document's partition key lies in a range.
func (r *reader) within(keys keyRange, raw []byte) bool {
	var document any
	if err := json.Unmarshal(raw, &document); err != nil {
		return true // let the caller say what is wrong with it
	}
	components := make([]epk.Component, len(r.keyPaths))
	for i, path := range r.keyPaths {
		components[i] = componentAt(document, path)
	}
	hash := epk.Hash(r.scheme, components...)
	return epk.Compare(keys.Min, hash) <= 0 && epk.Compare(hash, keys.Max) < 0
}

func componentAt(v any, path []string) epk.Component {
	for _, name := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return epk.Undefined()
		}
		if v, ok = object[name]; !ok {
			return epk.Undefined()
		}
	}
	switch v := v.(type) {
	case nil:
		return epk.Null()
	case bool:
		return epk.Bool(v)
	case float64:
		return epk.Number(v)
	case string:
		return epk.String(v)
	}
	return epk.Undefined()
}

// headOf reads the newest LSN from a session token, "range:version#lsn..." or
// "range:lsn".
func headOf(resp azcosmos.Response) int64 {
	_, token, _ := strings.Cut(sessionOf(resp), ":")
	if _, rest, ok := strings.Cut(token, "#"); ok {
		token, _, _ = strings.Cut(rest, "#")
	}
	lsn, _ := strconv.ParseInt(token, 10, 64)
	return lsn
}

func sessionOf(resp azcosmos.Response) string {
	if resp.RawResponse == nil {
		return ""
	}
	return resp.RawResponse.Header.Get("x-ms-session-token")
}
