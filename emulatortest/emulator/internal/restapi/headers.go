package restapi

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// options is what the request's headers ask for, parsed and checked once for every operation.
type options struct {
	partitionKey    []epk.Component
	hasPartitionKey bool
	rangeID         string // physical partition to serve from; "" when not named
	startEPK        string
	endEPK          string
	hasEPK          bool

	sessionToken    string
	behind          int // writes that the replica has not seen; a fault's doing
	ifMatch         string
	ifNoneMatch     string
	ifModifiedSince time.Time

	minimal     bool // Prefer: return=minimal
	upsert      bool
	noIndex     bool // x-ms-indexing-directive: Exclude
	quotaInfo   bool
	batch       bool
	batchAtomic bool

	query             bool
	queryPlan         bool
	supportedFeatures string
	crossPartition    bool
	maxItems          int // 0 when not given; -1 for as many as fit into a page
	continuation      string
	tokenLimitKB      int
	indexMetrics      bool
	indexMetricsV2    bool

	changeFeed   bool
	fullFidelity bool

	preTrigger, postTrigger string // ids of triggers to run with the operation

	throughput    int // manual RU/s; 0 when not given
	autoscaleJSON string
}

// canonical gives a request whose headers have the names by which net/http knows them: servers make them so, but a request of the same
// process has them as its maker wrote them.
func canonical(r *http.Request) *http.Request {
	for name := range r.Header {
		if name != http.CanonicalHeaderKey(name) {
			copied := *r
			copied.Header = make(http.Header, len(r.Header))
			for name, texts := range r.Header {
				copied.Header[http.CanonicalHeaderKey(name)] = append(copied.Header[http.CanonicalHeaderKey(name)], texts...)
			}
			return &copied
		}
	}
	return r
}

// oldestVersion is the REST API version from which requests are taken; the current SDKs send versions of 2018 and later.
const oldestVersion = "2016-07-11"

func parseOptions(h http.Header) (options, *store.Error) {
	o := options{
		rangeID:           h.Get("x-ms-documentdb-partitionkeyrangeid"),
		sessionToken:      h.Get("x-ms-session-token"),
		ifMatch:           h.Get("If-Match"),
		ifNoneMatch:       h.Get("If-None-Match"),
		minimal:           strings.Contains(strings.ToLower(h.Get("Prefer")), "return=minimal"),
		upsert:            isTrue(h, "x-ms-documentdb-is-upsert"),
		quotaInfo:         isTrue(h, "x-ms-documentdb-populatequotainfo"),
		batch:             isTrue(h, "x-ms-cosmos-is-batch-request"),
		batchAtomic:       isTrue(h, "x-ms-cosmos-batch-atomic"),
		queryPlan:         isTrue(h, "x-ms-cosmos-is-query-plan-request"),
		supportedFeatures: h.Get("x-ms-cosmos-supported-query-features"),
		crossPartition:    isTrue(h, "x-ms-documentdb-query-enablecrosspartition"),
		continuation:      h.Get("x-ms-continuation"),
		indexMetrics:      isTrue(h, "x-ms-cosmos-populateindexmetrics"),
		indexMetricsV2:    isTrue(h, "x-ms-cosmos-populateindexmetrics-V2"),
		autoscaleJSON:     h.Get("x-ms-cosmos-offer-autopilot-settings"),
	}
	o.query = isTrue(h, "x-ms-documentdb-query") || isTrue(h, "x-ms-documentdb-isquery") ||
		strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "application/query+json")
	for _, parse := range []func(*options, http.Header) *store.Error{
		parseVersion, parseKey, parseEPK, parseChoices, parseNumbers, parseFeed,
	} {
		if err := parse(&o, h); err != nil {
			return o, err
		}
	}
	return o, nil
}

func isTrue(h http.Header, name string) bool { return strings.EqualFold(h.Get(name), "true") }

func parseVersion(_ *options, h http.Header) *store.Error {
	version := h.Get("x-ms-version")
	if version == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, version); err != nil || version < oldestVersion {
		return badRequest("The x-ms-version header names an unknown API version: send 2018-12-31 or 2020-11-05.")
	}
	return nil
}

func parseKey(o *options, h http.Header) *store.Error {
	header := h.Get("x-ms-documentdb-partitionkey")
	if header == "" {
		return nil
	}
	key, err := parsePartitionKey(header)
	if err != nil {
		return badRequest("Partition key provided in the request header is invalid: " + err.Error() + ".")
	}
	o.partitionKey, o.hasPartitionKey = key, true
	return nil
}

func parseChoices(o *options, h http.Header) *store.Error {
	switch strings.ToLower(h.Get("x-ms-consistency-level")) {
	case "", "strong", "boundedstaleness", "session", "consistentprefix", "eventual":
	default:
		return badRequest("The x-ms-consistency-level header is none of Strong, BoundedStaleness, Session, ConsistentPrefix and Eventual.")
	}
	switch strings.ToLower(h.Get("x-ms-indexing-directive")) {
	case "", "include", "default":
	case "exclude":
		o.noIndex = true
	default:
		return badRequest("The x-ms-indexing-directive header is none of Include, Exclude and Default.")
	}
	o.preTrigger, o.postTrigger = h.Get("x-ms-documentdb-pre-trigger-include"), h.Get("x-ms-documentdb-post-trigger-include")
	return nil
}

func parseNumbers(o *options, h http.Header) *store.Error {
	var err *store.Error
	if o.maxItems, err = intHeader(h, "x-ms-max-item-count", -1); err != nil {
		return err
	}
	if o.tokenLimitKB, err = intHeader(h, "x-ms-documentdb-responsecontinuationtokenlimitinkb", 0); err != nil {
		return err
	}
	o.throughput, err = intHeader(h, "x-ms-offer-throughput", 0)
	return err
}

// intHeader reads an integer of at least lowest; 0 when the header is absent.
func intHeader(h http.Header, name string, lowest int64) (int, *store.Error) {
	text := h.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < lowest || n > math.MaxInt32 {
		return 0, badRequest("The " + name + " header is not an integer in its range.")
	}
	return int(n), nil
}

func parseFeed(o *options, h http.Header) *store.Error {
	switch aim := h.Get("A-IM"); {
	case aim == "":
	case strings.EqualFold(aim, "Incremental Feed"):
		o.changeFeed = true
	case strings.EqualFold(aim, "Full-Fidelity Feed"):
		o.changeFeed, o.fullFidelity = true, true
	default:
		return badRequest("The A-IM header is neither Incremental Feed nor Full-Fidelity Feed.")
	}
	o.ifModifiedSince = modifiedSince(h.Get("If-Modified-Since"))
	return nil
}

// modifiedSince reads an RFC 1123 date that ends in GMT. The service ignores any other text without a word, so that the feed starts at the
// beginning (azure-cosmos-dotnet-v3 #2031). Whether it takes the "UTC" that the Go SDK writes is unknown: a program that copes with the
// whole feed copes with a part of it too, and not the other way round, so that it is ignored as well.
func modifiedSince(text string) time.Time {
	t, err := time.Parse(http.TimeFormat, text)
	if err != nil {
		return time.Time{}
	}
	return t
}
