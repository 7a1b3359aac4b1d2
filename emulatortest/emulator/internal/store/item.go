package store

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// MaxItemSize is the largest item in bytes of JSON, without system properties.
const MaxItemSize = 2 << 20

const (
	maxIDBytes    = 1023
	maxKeyBytes   = 2048
	maxKeyBytesV1 = 101
)

// item is one version of a document. It never changes.
type item struct {
	id, canon, epk string
	// ordinal makes the rid, version the etag.
	ordinal, version uint64
	lsn, ts          int64
	raw              []byte
	unique           []string
	// ttl is the document's own: zero when it has none, -1 for never.
	ttl int32
	// properties is the number of top-level properties, system properties not counted.
	properties int32
	unindexed  bool
	// parsed is filled when a query looks at the item, and emptied again by parsedItems.
	parsed atomic.Pointer[value.Value]
	// place is for entries of an index that are looked for; no stored item has one.
	place *indexPlace
}

// Document is one item of a snapshot or feed.
type Document struct {
	ID, RID string
	// TS is _ts in Unix seconds, LSN that of the last write.
	TS, LSN int64
	// Raw is the stored JSON with system properties. It must not be changed.
	Raw []byte

	it     *item
	parsed *parsedItems
}

func (c *Container) document(it *item) Document {
	return Document{ID: it.id, RID: c.itemRID(it.ordinal), TS: it.ts, LSN: it.lsn, Raw: it.raw, it: it, parsed: c.account.parsed}
}

// Value is Raw parsed.
func (d Document) Value() value.Value {
	if d.it == nil {
		return value.Value{}
	}
	return d.parsed.value(d.it)
}

// ETag is the document's etag with its quotes.
func (d Document) ETag() string { return d.it.etag() }

// Size is the document's size in bytes.
func (d Document) Size() int { return len(d.Raw) }

// draft is a document on its way in: checked, but without the properties that the system gives.
type draft struct {
	id     string
	key    Key
	canon  string
	epk    string
	ttl    int64
	unique []string
	// text is the user's part of the JSON, up to but without the closing brace.
	text       []byte
	properties int
	unindexed  bool
}

// isSystemProperty reports whether the system sets a top-level property whatever the user sends.
func isSystemProperty(name string) bool {
	switch name {
	case "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn":
		return true
	}
	return false
}

// draft checks a body against the container's rules (400, 413).
func (d *Definition) draft(body []byte) (*draft, error) {
	if len(body) > MaxItemSize {
		return nil, refuse(http.StatusRequestEntityTooLarge, 0, textTooLarge)
	}
	tree, v, err := parseNode(body)
	if err != nil {
		return nil, badRequest("The document body is not valid: %v.", err)
	}
	return d.draftTree(tree, v)
}

func (d *Definition) draftTree(tree *node, v value.Value) (*draft, error) {
	if v.Kind() != value.Object {
		return nil, badRequest("The document body must be an object and must have a string id property.")
	}
	out := &draft{}
	var ok bool
	var err error
	if out.id, ok = v.Get("id").Str(); !ok {
		return nil, badRequest("%s", textMissingID)
	}
	if err := checkID(out.id); err != nil {
		return nil, err
	}
	// A ttl means nothing while the container's TTL is off, so whatever stands there is the user's own business.
	out.ttl, ok = wholeTTL(v.Get("ttl"))
	if !ok && d.DefaultTTL != nil && !v.Get("ttl").IsUndefined() {
		return nil, badRequest("The input ttl is invalid. Ensure to provide a nonzero positive integer less than or equal to '%d', or -1 which means never expire.", maxTTL)
	}
	if out.key, err = d.keyOf(v); err != nil {
		return nil, err
	}
	out.place(d)
	out.unique = d.uniqueValues(v)
	out.text, out.properties = userText(tree)
	if len(out.text) > MaxItemSize {
		return nil, refuse(http.StatusRequestEntityTooLarge, 0, textTooLarge)
	}
	return out, nil
}

func (dr *draft) place(d *Definition) {
	dr.canon, dr.epk = canonical(dr.key), epk.Hash(d.Scheme, dr.key...)
}

// checkID refuses ids that the service refuses. It takes any character: those that clients and the portal warn of, slashes among
// them, are found out when the item is to be addressed, and by which gateway.
func checkID(id string) error {
	switch {
	case id == "":
		return badRequest("%s", textMissingID)
	case len(id) > maxIDBytes:
		return badRequest("The id of an item can't be longer than %d bytes.", maxIDBytes)
	}
	return nil
}

// userText renders the properties that are the user's and leaves the object open.
func userText(tree *node) (text []byte, properties int) {
	tree.open()
	text = make([]byte, 1, len(tree.raw)+systemPropertiesLength)
	text[0] = '{'
	for _, m := range tree.members {
		if isSystemProperty(m.name) {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, m.rawName...)
		text = append(text, ':')
		text = m.value.appendTo(text)
		properties++
	}
	return text, properties
}

// systemPropertiesLength is about what seal adds.
const systemPropertiesLength = 240

// seal makes an item of a draft. version makes the etag and must never have been used in the container.
func (dr *draft) seal(c *Container, ordinal, version uint64, lsn int64, now time.Time) *item {
	it := &item{
		canon: dr.canon, epk: dr.epk, ordinal: ordinal, version: version, lsn: lsn, ts: now.Unix(),
		ttl: int32(dr.ttl), unique: dr.unique, unindexed: dr.unindexed, properties: int32(dr.properties),
	}
	etag := it.etag()
	rid := c.itemRID(ordinal)
	raw := dr.text
	raw = append(raw, `,"_rid":"`...)
	raw = append(raw, rid...)
	raw = append(raw, `","_self":"`...)
	raw = append(raw, c.self...)
	raw = append(raw, "docs/"...)
	raw = append(raw, rid...)
	raw = append(raw, `/","_etag":"\"`...)
	raw = append(raw, etag[1:len(etag)-1]...)
	raw = append(raw, `\"","_attachments":"attachments/","_ts":`...)
	raw = strconv.AppendInt(raw, it.ts, 10)
	raw = append(raw, '}')
	it.raw = raw
	if spare := cap(raw) - len(raw); spare > len(raw)/16 {
		it.raw = slices.Clone(raw)
	}
	it.id = it.sharedID(dr.id)
	return it
}

func (it *item) etag() string { return makeETag(it.version, it.ts) }

// sharedID finds the id in the item's text, so that it need not be kept twice.
func (it *item) sharedID(id string) string {
	quoted := make([]byte, 0, 64)
	quoted = append(append(append(quoted, '"'), id...), '"')
	at := bytes.Index(it.raw, quoted)
	if at < 0 {
		return strings.Clone(id) // written with an escape; the clone does not keep the request's body
	}
	return value.SharedText(it.raw[at+1 : at+1+len(id)])
}

// unseal rebuilds an item from its stored text, which must not change any more.
func (d *Definition) unseal(raw []byte, ordinal uint64, lsn int64, unindexed bool) (*item, error) {
	v, err := value.ParseShared(raw)
	if err != nil {
		return nil, err
	}
	r := describedBy(raw, v)
	it := &item{ordinal: ordinal, lsn: lsn, ts: r.TS, raw: raw, unindexed: unindexed}
	it.id = it.sharedID(r.ID)
	if it.version, err = parseETag(r.ETag, r.TS); err != nil {
		return nil, err
	}
	ttl, _ := wholeTTL(v.Get("ttl"))
	it.ttl = int32(ttl)
	key, err := d.keyOf(v)
	if err != nil {
		return nil, err
	}
	it.canon, it.epk = canonical(key), epk.Hash(d.Scheme, key...)
	it.unique = d.uniqueValues(v)
	members, _ := v.Members()
	for _, m := range members {
		if !isSystemProperty(m.Name) {
			it.properties++
		}
	}
	return it, nil
}
