package changefeed

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// reader reads pages of one container's feed, range by range.
type reader struct {
	container *cosmos.Container
	keyPaths  [][]string // of the partition key, each split into names
	scheme    epk.Scheme
	maxItems  int32
	sessions  sessions
}

// newReader is for a container whose properties were read.
func newReader(container *cosmos.Container, properties *cosmos.ContainerProperties, maxItems int, session func() string) *reader {
	r := &reader{container: container, scheme: schemeOf(properties.PartitionKeyDefinition), maxItems: int32(maxItems), sessions: sessions{outside: session}} //nolint:gosec // it was validated: 1,000 at most
	for _, path := range properties.PartitionKeyDefinition.Paths {
		r.keyPaths = append(r.keyPaths, strings.Split(strings.Trim(path, "/"), "/"))
	}
	return r
}

func schemeOf(d cosmos.PartitionKeyDefinition) epk.Scheme {
	switch {
	case len(d.Paths) > 1:
		return epk.MultiHash
	case d.Version == 1:
		return epk.HashV1
	}
	return epk.HashV2
}

// position is how far one range was read.
type position struct {
	keys         keyRange
	continuation string
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
	// at is the service's time of the answer; zero when it did not say.
	at time.Time
}

// isSplit reports whether the range has to go on as several.
func (p page) isSplit() bool { return len(p.next) > 1 }

// errNoContinuation can't pass: what was stored was not the service's.
var errNoContinuation = errors.New("the stored continuation is none of the service's")

// isHeaderText reports whether a continuation can be sent: it goes out as a header.
func isHeaderText(continuation string) bool {
	return !strings.ContainsFunc(continuation, func(r rune) bool { return r < ' ' || r > '~' })
}

// fromNow is the position behind the last change, before the service has told
// which that is.
const fromNow = "*"

// read reads the page after a position. start is used while there is no
// continuation. A range that lies in several physical partitions is not read:
// its page says only how to go on.
func (r *reader) read(ctx context.Context, at position, start *time.Time, maxItems int32) (page, error) {
	if !isHeaderText(at.continuation) {
		return page{}, errNoContinuation
	}
	physical, err := r.partitions(ctx, at.keys)
	if err != nil {
		return page{}, err
	}
	if len(physical) > 1 {
		return page{next: cut(at, physical)}, nil
	}
	partition := physical[0]
	token := r.sessions.token(partition)
	answer, now, err := r.send(ctx, at, start, maxItems, partition, token)
	// The id of a partition is known by its first answer, and only then, which
	// session is its own.
	if err == nil && token == "" && r.sessions.behind(partition, answer.Session) {
		answer, now, err = r.send(ctx, at, start, maxItems, partition, r.sessions.token(partition))
	}
	if err != nil {
		// The SDK gives up a range that has become more parts than it goes through in one call.
		if now, unknown := r.partitions(ctx, at.keys); unknown == nil && statusOf(err) == 0 && ctx.Err() == nil && len(now) > 1 {
			return page{next: cut(at, now)}, nil
		}
		return page{}, err
	}
	// The SDK may have learned of a merge or a split during the call, and have
	// read the whole of another partition than the one that was asked for.
	filter := partition.covers(at.keys) || !isOnly(now, partition)
	return r.pageOf(at, answer, filter), nil
}

func isOnly(ranges []keyRange, r keyRange) bool { return len(ranges) == 1 && ranges[0].equal(r) }

// partitions returns the physical partitions that a range lies in. The SDK
// keeps the list.
func (r *reader) partitions(ctx context.Context, keys keyRange) ([]keyRange, error) {
	ranges, err := cosmos.FeedRanges(ctx, r.container)
	if err != nil {
		return nil, err
	}
	var out []keyRange
	for _, physical := range ranges {
		if p := (keyRange{physical.MinInclusive, physical.MaxExclusive}); !p.intersect(keys).isEmpty() {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, errNoPartition
	}
	return out, nil
}

// partitionOf returns the physical partition that holds a key.
func (r *reader) partitionOf(ctx context.Context, hash string) (keyRange, error) {
	partitions, err := r.partitions(ctx, everything)
	if err != nil {
		return keyRange{}, err
	}
	i := slices.IndexFunc(partitions, func(k keyRange) bool { return k.holds(hash) })
	if i < 0 {
		return keyRange{}, errNoPartition
	}
	return partitions[i], nil
}

// noteItem learns from the answer about one document, whose session names the
// partition that holds it, unless the SDK has found another one meanwhile.
func (r *reader) noteItem(ctx context.Context, partition keyRange, session string) {
	id, _, _ := strings.Cut(session, ":")
	if now, err := r.partitions(ctx, partition); err == nil && isOnly(now, partition) {
		r.sessions.note(partition, id, session)
	}
}

// errNoPartition passes: the list of partitions is read again.
var errNoPartition = errors.New("no physical partition holds the range")

// cut gives each of the parts the position of the whole.
func cut(at position, parts []keyRange) []position {
	out := make([]position, 0, len(parts))
	for _, part := range parts {
		out = append(out, position{part.intersect(at.keys), at.continuation})
	}
	return sorted(out)
}

// send sends one read, and returns with its answer what partitions the range
// lies in by then.
func (r *reader) send(ctx context.Context, at position, start *time.Time, maxItems int32, partition keyRange, token string) (answer cosmos.FeedPage, now []keyRange, err error) {
	answer, err = cosmos.ReadFeed(ctx, r.container, cosmos.FeedRead{
		FeedPosition: cosmos.FeedPosition{Min: at.keys.Min, Max: at.keys.Max, After: at.continuation},
		Part:         partition.covers(at.keys), Since: start, MaxItems: maxItems, Session: token,
	})
	if err != nil {
		return answer, nil, err
	}
	if now, err = r.partitions(ctx, at.keys); err == nil && len(now) == 1 {
		r.sessions.note(now[0], answer.RangeID, answer.Session)
	}
	return answer, now, err
}

// pageOf reads an answer. With filter it may hold changes of other ranges.
func (r *reader) pageOf(at position, answer cosmos.FeedPage, filter bool) page {
	out := page{head: headOf(answer.Session), empty: len(answer.Items) == 0, at: answer.Date, next: positions(answer.Next, at)}
	// A replica that is behind names its own end, which is not where to go on.
	if out.empty && len(out.next) == 1 && isBefore(out.next[0].continuation, at.continuation) {
		out.next[0].continuation = at.continuation
	}
	for _, raw := range answer.Items {
		if filter && !r.within(at.keys, raw) {
			continue
		}
		c := parseChange(raw)
		c.Session = answer.Session
		out.changes = append(out.changes, c)
	}
	return out
}

// now returns the position behind the last change of a range, by the service's
// own reckoning: no clock is asked. A range that was split has several.
func (r *reader) now(ctx context.Context, keys keyRange) ([]position, error) {
	var out []position
	for queue := []position{{keys, fromNow}}; len(queue) > 0; queue = queue[1:] {
		pg, err := r.read(ctx, queue[0], nil, 1)
		if err != nil {
			return nil, err
		}
		for _, next := range pg.next {
			if next.continuation == fromNow { // a part that was not read yet
				queue = append(queue, next)
			} else {
				out = append(out, next)
			}
		}
	}
	return out, nil
}

// positions are where to go on, in the order of the ranges and cut to the range
// that was asked for: the SDK widens it to the physical partition.
func positions(next []cosmos.FeedPosition, at position) []position {
	var out []position
	for _, n := range next {
		p := position{keys: (keyRange{n.Min, n.Max}).intersect(at.keys), continuation: n.After}
		if !p.keys.isEmpty() {
			out = append(out, p)
		}
	}
	if len(out) == 1 {
		out[0].keys = at.keys
	}
	return sorted(out)
}

func sorted(at []position) []position {
	slices.SortFunc(at, func(a, b position) int { return epk.Compare(a.keys.Min, b.keys.Min) })
	return at
}

// isBefore reports whether a continuation is a smaller number than another;
// texts of other forms are not compared.
func isBefore(a, b string) bool {
	x, ok := lsnOf(a)
	y, ok2 := lsnOf(b)
	return ok && ok2 && x < y
}

// lsnOf reads the number in a continuation, which is an etag.
func lsnOf(continuation string) (lsn int64, ok bool) {
	lsn, err := strconv.ParseInt(strings.Trim(continuation, `"`), 10, 64)
	return lsn, err == nil
}

// within reports whether a document's partition key lies in a range.
func (r *reader) within(keys keyRange, raw []byte) bool {
	return keys.holds(epk.Hash(r.scheme, r.keyOf(raw)...))
}

// keyOf is the partition key of a document.
func (r *reader) keyOf(raw []byte) []epk.Component {
	components := make([]epk.Component, len(r.keyPaths))
	for i, path := range r.keyPaths {
		value := raw
		for _, name := range path {
			value = memberOf(value, name)
		}
		components[i] = componentOf(value)
	}
	return components
}

// memberOf is a member of an object; nil where there is none.
func memberOf(raw []byte, name string) (value []byte) {
	codec.Members(raw, func(member string, v []byte) {
		if member == name {
			value = slices.Clone(v)
		}
	})
	return value
}

// componentOf is a JSON value as a part of a partition key; nil is none.
func componentOf(raw []byte) epk.Component {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return epk.Undefined()
	}
	switch v := value.(type) {
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

// headOf reads the newest LSN from the session token of an answer.
func headOf(session string) (lsn int64) {
	for _, part := range parseSession(session) {
		lsn = max(lsn, part.lsn)
	}
	return lsn
}
