package changefeed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// ReplayOption changes what [Processor.Replay] gives to the handler.
type ReplayOption func(*replay)

// AsItWas replays every quarantined version as it was read, those of a
// document in their order, for handlers that append. Newer versions of the
// document may have been handled before, which such a handler must be made for.
// When one version fails again, later ones of its document are left.
func AsItWas() ReplayOption { return func(r *replay) { r.asItWas = true } }

// replay is one call of Replay.
type replay struct {
	p       *Processor
	asItWas bool
}

// quarantinedVersion is what a replay keeps of a quarantined change.
type quarantinedVersion struct {
	id             string
	timestamp, lsn int64
	stored         bool // with its document
}

// quarantinedDocument is a document of which changes are in quarantine.
type quarantinedDocument struct {
	id, key  string
	versions []quarantinedVersion
}

// Replay calls the handler once for every document of which changes are in
// quarantine, with the document as it is now, and removes the changes that it
// accepts: an older version is never handled after a newer one. Those of a
// document that was deleted meanwhile are removed without a call. It returns
// how many changes were removed, and the errors of the others, joined.
//
// A document may change while it is replayed. In this process the change waits
// until the handler is done; another process may handle it at the same time,
// and then the handler is called again, so that the newest version has the last
// word. With [AsItWas] versions are replayed as they were.
func (p *Processor) Replay(ctx context.Context, options ...ReplayOption) (accepted int, err error) {
	r := &replay{p: p}
	for _, option := range options {
		option(r)
	}
	documents, err := r.documents(ctx)
	if err != nil {
		return 0, err
	}
	var failures []error
	for _, d := range documents {
		n, err := r.document(ctx, d)
		accepted += n
		if err != nil {
			failures = append(failures, fmt.Errorf("changefeed: replaying document %q: %w", d.id, redact.Error(err)))
		}
	}
	return accepted, errors.Join(failures...)
}

// documents reads which documents have changes in quarantine.
func (r *replay) documents(ctx context.Context) ([]*quarantinedDocument, error) {
	var out []*quarantinedDocument
	byKey := map[string]*quarantinedDocument{}
	for q, err := range r.p.Quarantined(ctx) {
		if err != nil {
			return nil, err
		}
		c := parseChange(q.Document)
		v := quarantinedVersion{id: q.ID, timestamp: c.Timestamp, lsn: c.LSN, stored: len(q.Document) > 0}
		key := textOfKey(parseKey(string(q.PartitionKey))) // the database has written it in its own way
		name := key + "\x00" + q.DocumentID
		if q.DocumentID == "" {
			name = q.ID // of an earlier version, and too large
		}
		d := byKey[name]
		if d == nil {
			d = &quarantinedDocument{id: q.DocumentID, key: key}
			byKey[name] = d
			out = append(out, d)
		}
		d.versions = append(d.versions, v)
	}
	for _, d := range out {
		slices.SortFunc(d.versions, func(a, b quarantinedVersion) int {
			return cmp.Or(cmp.Compare(a.timestamp, b.timestamp), cmp.Compare(a.lsn, b.lsn))
		})
	}
	return out, nil
}

func (r *replay) document(ctx context.Context, d *quarantinedDocument) (accepted int, err error) {
	if d.id == "" {
		return 0, fmt.Errorf("%s does not tell which document it was: it was too large; remove it by hand", d.versions[0].id)
	}
	if !r.asItWas {
		if err := r.asItIs(ctx, d); err != nil {
			return 0, err
		}
	}
	for _, v := range d.versions {
		if r.asItWas {
			if err := r.version(ctx, v); err != nil {
				return accepted, err
			}
		}
		if err := r.forget(ctx, v.id); err != nil {
			return accepted, err
		}
		accepted++
	}
	return accepted, nil
}

// asItIs gives the handler the document as it is now, until it did not change
// meanwhile.
func (r *replay) asItIs(ctx context.Context, d *quarantinedDocument) error {
	for handled := ""; ; {
		etag, err := r.once(ctx, d, handled)
		if err != nil || etag == handled {
			return err
		}
		handled = etag
	}
}

// once handles the document unless it has the etag that was handled, and
// returns its etag: empty when it is gone. The range's own worker waits.
func (r *replay) once(ctx context.Context, d *quarantinedDocument, handled string) (etag string, err error) {
	done, err := r.p.holdUp(ctx, d.key)
	if err != nil {
		return "", err
	}
	defer done()
	c, err := r.p.readDocument(ctx, d.id, d.key)
	if isMissing(err) {
		return handled, nil
	}
	if err != nil || c.ETag == handled {
		return handled, err
	}
	return c.ETag, r.p.call(ctx, []Change{c})
}

// version gives the handler a version as it was stored.
func (r *replay) version(ctx context.Context, v quarantinedVersion) error {
	if !v.stored {
		return fmt.Errorf("%s holds no document: it was too large", v.id)
	}
	var body []byte
	err := r.p.persist(ctx, func() (err error) {
		body, err = r.p.leaseContainer.read(ctx, v.id)
		return err
	})
	if isMissing(err) {
		return nil // another replay was faster
	}
	if err != nil {
		return err
	}
	var q Quarantined
	if err := json.Unmarshal(body, &q); err != nil {
		return errors.New("a document of the quarantine is not readable")
	}
	return r.p.call(ctx, []Change{parseChange(q.Document)})
}

func (r *replay) forget(ctx context.Context, id string) error {
	return r.p.persist(ctx, func() error {
		_, err := r.p.leaseContainer.write(ctx, cosmos.Operation{Kind: cosmos.OpDelete, ID: id})
		if isMissing(err) {
			return nil
		}
		return err
	})
}

// holdUp keeps the worker that has the range of a key here, if there is one,
// from handling anything until done.
func (p *Processor) holdUp(ctx context.Context, key string) (done func(), err error) {
	hash := epk.Hash(p.reader.scheme, parseKey(key)...)
	var holder *worker
	p.mu.Lock()
	for _, w := range p.workers {
		if w.keys.holds(hash) {
			holder = w
		}
	}
	p.mu.Unlock()
	if holder == nil {
		return func() {}, nil
	}
	select {
	case holder.handling <- struct{}{}:
		return func() { <-holder.handling }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readDocument reads a document as it is now, from a replica that has come as
// far as this process: no read shows an older version than one before it.
func (p *Processor) readDocument(ctx context.Context, id, key string) (Change, error) {
	var c Change
	err := p.persist(ctx, func() error {
		partition, err := p.reader.partitionOf(ctx, epk.Hash(p.reader.scheme, parseKey(key)...))
		if err != nil {
			return err
		}
		token := p.reader.sessions.token(partition)
		item, session, err := p.readUnder(ctx, id, key, token)
		p.reader.noteItem(ctx, partition, session)
		// Which session is a partition's own is known by its first answer.
		if token == "" && p.reader.sessions.behind(partition, session) {
			item, session, err = p.readUnder(ctx, id, key, p.reader.sessions.token(partition))
			p.reader.noteItem(ctx, partition, session)
		}
		if err != nil {
			return err
		}
		c = parseChange(json.RawMessage(item.Body))
		c.Session = session
		return nil
	})
	return c, err
}

// readUnder reads a document, and returns the session of the answer or refusal.
func (p *Processor) readUnder(ctx context.Context, id, key, token string) (item cosmos.Result, session string, err error) {
	var options cosmos.Options
	if token != "" {
		options.Session = &token
	}
	item, answer, err := cosmos.ReadItemUnder(ctx, p.cfg.Container, key, id, options)
	header := answer.Header
	if err != nil {
		header = headerOf(err)
	}
	return item, header.Get(headerSession), err
}

// keyText is the partition key of a document as the service's header has it.
func (r *reader) keyText(raw []byte) json.RawMessage {
	return json.RawMessage(textOfKey(r.keyOf(raw)))
}

// textOfKey is a JSON array in ASCII, with {} for a missing value.
func textOfKey(components []epk.Component) string {
	parts := make([]string, 0, len(components))
	for _, c := range components {
		parts = append(parts, componentText(c))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func componentText(c epk.Component) string {
	if c.IsNull() {
		return "null"
	}
	if b, ok := c.AsBool(); ok {
		return strconv.FormatBool(b)
	}
	if n, ok := c.AsNumber(); ok {
		text, _ := json.Marshal(n) //nolint:errchkjson // it came from JSON
		return string(text)
	}
	if s, ok := c.AsString(); ok {
		return quoteASCII(s)
	}
	return "{}"
}

func quoteASCII(s string) string {
	quoted, _ := json.Marshal(s) //nolint:errchkjson // a string always encodes
	var b strings.Builder
	for _, r := range string(quoted) {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// parseKey reads what keyText wrote.
func parseKey(text string) []epk.Component {
	var values []json.RawMessage
	_ = json.Unmarshal([]byte(text), &values) // keyText wrote it
	out := make([]epk.Component, len(values))
	for i, v := range values {
		out[i] = componentOf(v)
	}
	return out
}
