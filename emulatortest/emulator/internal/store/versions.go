package store

import (
	"sort"
	"strconv"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// version is one change of one item, as the all-versions feed tells it. Either before or after may be nil, not both.
type version struct {
	lsn, ts       int64
	before, after *item
	expired       bool
	// sequence orders the versions of a container and names the version in the journal.
	sequence uint64
}

// remember keeps versions for as long as the container's policy says, and forgets older ones. It needs p.mu.
func (p *partition) remember(d *Definition, versions []version, now time.Time) (unit []Mutation) {
	kept := p.c.account.opts.Journal != nil
	expired, oldest := 0, now.Add(-d.Retention).Unix()
	for ; expired < len(p.history) && (d.Retention <= 0 || p.history[expired].ts < oldest); expired++ {
		if kept {
			unit = append(unit, Mutation{Key: p.c.versionKey(p.history[expired].sequence)})
		}
	}
	p.history = p.history[expired:]
	if d.Retention <= 0 {
		return unit
	}
	for _, v := range versions {
		v.sequence = p.c.sequence.Add(1)
		p.history = append(p.history, v)
		if kept {
			unit = append(unit, Mutation{Key: p.c.versionKey(v.sequence), Value: encodeVersion(v)})
		}
	}
	return unit
}

func (c *Container) versionKey(sequence uint64) string {
	return orderedKey(keyVersion, c.rid, sequence)
}

func (c *Container) itemKey(ordinal uint64) string { return orderedKey(keyItem, c.rid, ordinal) }

// AllVersions reads the full-fidelity feed: every version and delete, expiries included, for as long as the container's
// changeFeedPolicy keeps them. It starts from now or from a position (400 otherwise; 404/1002, 410/1002).
func (c *Container) AllVersions(r FeedRequest) (FeedPage, error) {
	c.topology.RLock()
	defer c.topology.RUnlock()
	f, session, err := c.openFeed(r)
	if err != nil {
		return FeedPage{}, err
	}
	d := c.definition
	if d.Retention <= 0 {
		return FeedPage{}, badRequest("All Versions and Deletes change feed mode must be enabled: give the container a changeFeedPolicy with a retentionDuration in minutes.")
	}
	if !r.Start.Now && r.Start.AfterLSN <= 0 {
		return FeedPage{}, badRequest("All Versions and Deletes change feed mode starts from now or from a continuation, neither from the beginning nor from a point in time.")
	}
	p := f.p
	p.mu.Lock()
	p.sweep(d, f.visible.now) // an expiry is a change that this feed tells
	lsn, history, wait := p.state.lsn, p.history, p.durable
	p.mu.Unlock()
	page := f.page(lsn)
	if err := p.checkSession(session, lsn); err != nil {
		return page, err
	}
	if err := await(wait); err != nil || r.Start.Now {
		return page, err
	}
	f.readHistory(&page, d, history, r.Start.AfterLSN)
	return page, nil
}

func (f *feed) readHistory(page *FeedPage, d *Definition, history []version, after int64) {
	first := sort.Search(len(history), func(i int) bool { return history[i].lsn > after })
	position, bytes := after, 0
	for _, v := range history[first:] {
		it := v.after
		if it == nil {
			it = v.before
		}
		if !f.area.holds(it) {
			continue
		}
		if v.lsn != position && (len(page.Documents) >= f.maxItem || bytes >= f.maxByte) {
			page.ETag = feedETag(position)
			break
		}
		position = v.lsn
		text := d.renderVersion(v)
		bytes += len(text)
		page.Documents = append(page.Documents, text)
	}
	page.Charge = chargeFeed(bytes)
}

// renderVersion writes a version as the service does.
func (d *Definition) renderVersion(v version) []byte {
	kind, previous := "replace", int64(0)
	switch {
	case v.after == nil:
		kind = "delete"
	case v.before == nil:
		kind = "create"
	}
	if v.before != nil {
		previous = v.before.lsn
	}
	out := []byte(`{"current":`)
	if v.after != nil {
		out = append(out, v.after.raw...)
	} else {
		out = append(out, "{}"...)
	}
	out = append(out, `,"metadata":{"operationType":"`...)
	out = append(out, kind...)
	out = append(out, `","lsn":`...)
	out = strconv.AppendInt(out, v.lsn, 10)
	out = append(out, `,"crts":`...)
	out = strconv.AppendInt(out, v.ts, 10)
	out = append(out, `,"previousImageLSN":`...)
	out = strconv.AppendInt(out, previous, 10)
	out = append(out, `,"timeToLiveExpired":`...)
	out = strconv.AppendBool(out, v.expired)
	if v.after == nil {
		out = append(out, `,"id":`...)
		out = value.AppendString(out, v.before.id)
		out = append(out, `,"partitionKey":`...)
		out = d.appendKey(out, v.before)
		out = append(out, `},"previous":`...)
		out = append(out, v.before.raw...)
		return append(out, '}')
	}
	return append(out, "}}"...)
}

// appendKey writes the partition key of an item as an object with the names that end its paths. A missing field is left
// out.
func (d *Definition) appendKey(dst []byte, it *item) []byte {
	v, err := value.Parse(it.raw)
	if err != nil {
		return append(dst, "{}"...)
	}
	members := make([]value.Member, 0, len(d.keyTokens))
	for _, tokens := range d.keyTokens {
		members = append(members, value.Member{Name: tokens[len(tokens)-1], Value: v.At(tokens...)})
	}
	return value.FromObject(members).AppendJSON(dst)
}
