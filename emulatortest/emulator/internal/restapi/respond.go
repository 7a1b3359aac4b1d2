package restapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Answer is a finished response, ready for any door. Header and Body belong to the caller.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// result is what an operation gives back. Zero fields send no header.
type result struct {
	status       int
	body         []byte
	etag         string
	charge       float64
	sessionToken string
	rangeID      string
	lsn          int64
	itemLSN      int64
	itemCount    int
	isFeed       bool // sends x-ms-item-count even when it is 0
	continuation string
	containerRID string
	altPath      string
	extra        map[string]string // headers that belong to one operation
	ranges       int               // physical partitions visited, for the request log
	loaded       int               // documents that a query had to load, for the request log
	fanOut       bool              // served for more than one logical partition, for the request log
}

func (r *result) set(name, text string) {
	if r.extra == nil {
		r.extra = map[string]string{}
	}
	r.extra[name] = text
}

const (
	gatewayVersion = "version=2.14.0"
	resourceQuota  = "documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;"
)

// success writes a result with the headers that every answer of the service carries.
func (c *call) success(r *result) *Answer {
	h := c.commonHeaders(r)
	body := r.body
	if c.opts.minimal && c.minimisable() && r.status < http.StatusMultipleChoices {
		body = nil
		h.Set("Preference-Applied", "return=minimal")
	}
	if r.status == http.StatusNoContent || r.status == http.StatusNotModified {
		body = nil
	}
	return &Answer{Status: r.status, Header: h, Body: body}
}

func (c *call) commonHeaders(r *result) http.Header {
	h := make(http.Header, 24)
	set := func(name, text string) {
		if text != "" {
			h[name] = []string{text}
		}
	}
	h.Set("Content-Type", "application/json")
	set("X-Ms-Activity-Id", c.activityID)
	set("X-Ms-Request-Charge", strconv.FormatFloat(r.charge, 'f', 2, 64))
	set("Date", c.h.cfg.Clock().UTC().Format(http.TimeFormat))
	set("X-Ms-Gatewayversion", gatewayVersion)
	set("X-Ms-Serviceversion", gatewayVersion)
	set("X-Ms-Schemaversion", "1.12")
	set("X-Ms-Xp-Role", "1")
	set("X-Ms-Number-Of-Read-Regions", strconv.Itoa(c.h.cfg.Regions.count()-1))
	set("X-Ms-Current-Write-Quorum", "1")
	set("X-Ms-Current-Replica-Set-Size", "1")
	set("X-Ms-Request-Duration-Ms", strconv.FormatFloat(time.Since(c.started).Seconds()*1000, 'f', 3, 64))
	set("Strict-Transport-Security", "max-age=31536000")
	set("Etag", r.etag)
	set("X-Ms-Session-Token", r.sessionToken)
	set("X-Ms-Documentdb-Partitionkeyrangeid", r.rangeID)
	set("X-Ms-Continuation", r.continuation)
	set("X-Ms-Content-Path", r.containerRID)
	set("X-Ms-Alt-Content-Path", r.altPath)
	if r.lsn > 0 {
		lsn := strconv.FormatInt(r.lsn, 10)
		for _, name := range []string{"Lsn", "X-Ms-Cosmos-Llsn", "X-Ms-Global-Committed-Lsn", "X-Ms-Quorum-Acked-Lsn",
			"X-Ms-Cosmos-Quorum-Acked-Llsn"} {
			set(name, lsn)
		}
	}
	if r.itemLSN > 0 {
		set("X-Ms-Item-Lsn", strconv.FormatInt(r.itemLSN, 10))
		set("X-Ms-Cosmos-Item-Llsn", strconv.FormatInt(r.itemLSN, 10))
	}
	if r.isFeed {
		set("X-Ms-Item-Count", strconv.Itoa(r.itemCount))
	}
	if r.containerRID != "" {
		set("X-Ms-Resource-Quota", resourceQuota)
		set("X-Ms-Resource-Usage", "documentSize=0;documentsSize=0;documentsCount=-1;collectionSize=0;")
		set("X-Ms-Cosmos-Is-Partition-Key-Delete-Pending", "false")
	}
	for name, text := range r.extra {
		h.Set(name, text)
	}
	return h
}

// refusal writes an error. What was known of the place at the time of the error still goes out, since clients keep the
// session token of a failed read.
func (c *call) refusal(e *store.Error, r *result) *Answer {
	if r == nil {
		r = &result{charge: c.refusalCharge(e)}
	}
	h := c.commonHeaders(r)
	if e.Substatus != 0 {
		h.Set("x-ms-substatus", strconv.Itoa(e.Substatus))
	}
	if e.RetryAfter > 0 {
		h.Set("x-ms-retry-after-ms", strconv.FormatInt(max(e.RetryAfter.Milliseconds(), 1), 10))
	}
	if e.Status == http.StatusNotModified || e.Status == http.StatusRequestHeaderFieldsTooLarge {
		return &Answer{Status: e.Status, Header: h}
	}
	return &Answer{Status: e.Status, Header: h, Body: encodeError(e, c.activityID)}
}

// refusalCharge is what a refused request costs: nothing when it was throttled or not let in, else about a point read.
func (c *call) refusalCharge(e *store.Error) float64 {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotImplemented:
		return 0
	case http.StatusBadRequest:
		return store.RequestChargeRefused
	}
	return store.RequestChargeMiss
}
