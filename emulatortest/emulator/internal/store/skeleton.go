package store

import (
	"iter"
	"net/http"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func unfinished() *Error {
	return refuse(http.StatusServiceUnavailable, 0, "The store is not finished here.")
}

// Options configure an [Account]. The zero value is an account in memory on the wall clock.
type Options struct {
	// Now is the clock: _ts, TTL, the feed's times and the throughput limit follow it. Defaults to time.Now.
	Now func() time.Time
	// Partitions is the number of physical partitions that a new container starts with. Defaults to 1.
	Partitions int
	// LogicalPartitionLimit is the number of bytes that one logical partition may hold. Defaults to 20 GB.
	LogicalPartitionLimit int64
	// EnforceThroughput makes [Container.Admit] hold callers to the provisioned throughput. Defaults to no limit.
	EnforceThroughput bool
	// Journal keeps the account on disk. Defaults to none: the account lives in memory.
	Journal Journal
}

// Journal makes changes durable; package durable implements it.
type Journal interface {
	// Close releases the journal after everything appended is durable.
	Close() error
}

// Account is one emulated account. Its methods may be called from several goroutines.
type Account struct{}

// New returns an empty account in memory; opts.Journal is ignored.
func New(opts Options) *Account { return &Account{} }

// Open returns the account that opts.Journal holds, or an empty one.
func Open(opts Options) (*Account, error) { return nil, unfinished() }

// Close makes everything acknowledged durable and releases the journal.
func (a *Account) Close() error { return nil }

// Resource is a database, container, offer or partition key range as the service describes it.
type Resource struct {
	// ID is the name; for offers and ranges the id field.
	ID string
	// RID is _rid, Self _self, ETag _etag with its quotes, TS _ts in Unix seconds.
	RID, Self, ETag string
	TS              int64
	// Body is the whole resource as JSON. It must not be changed.
	Body []byte
}

// Precondition is what a caller demands of the present state: etags with their quotes, "*", or nothing.
type Precondition struct{ IfMatch, IfNoneMatch string }

// Throughput is what a create request asks for, in request units a second: at most one of the two.
type Throughput struct{ Manual, AutoscaleMax int }

// CreateDatabase adds a database from the request's body (400, 409/3206).
func (a *Account) CreateDatabase(body []byte, t Throughput) (*Database, error) {
	return nil, unfinished()
}

// Database finds a database by name or rid (404).
func (a *Account) Database(ref string) (*Database, error) { return nil, unfinished() }

// Databases lists the databases in the order of their creation.
func (a *Account) Databases() []Resource { return nil }

// Offers lists the offers in the order of their creation.
func (a *Account) Offers() []Resource { return nil }

// Offer finds an offer by its rid (404).
func (a *Account) Offer(rid string) (Resource, error) { return Resource{}, unfinished() }

// ReplaceOffer changes provisioned throughput (400, 404, 412).
func (a *Account) ReplaceOffer(rid string, body []byte, p Precondition) (Resource, error) {
	return Resource{}, unfinished()
}

// SetReplicaLag makes reads of every container, present and future, come from a replica; see [Container.SetReplicaLag].
func (a *Account) SetReplicaLag(d time.Duration) {}

// Database is one database of an account.
type Database struct{}

// Resource describes the database.
func (d *Database) Resource() Resource { return Resource{} }

// Delete removes the database with everything in it (404, 412).
func (d *Database) Delete(p Precondition) error { return unfinished() }

// CreateContainer adds a container from the request's body (400, 404/1003, 409).
func (d *Database) CreateContainer(body []byte, t Throughput) (*Container, error) {
	return nil, unfinished()
}

// Container finds a container by name or rid (404; 404/1003 when the database is gone).
func (d *Database) Container(ref string) (*Container, error) { return nil, unfinished() }

// Containers lists the containers in the order of their creation.
func (d *Database) Containers() []Resource { return nil }

// Container is one container. A handle outlives its container: then every verb is 404/1003.
type Container struct{}

// Definition is what the store understands of a container's properties.
type Definition struct {
	// Paths are the partition key's paths as given, such as "/tenantId".
	Paths []string
	// Scheme is how keys are hashed.
	Scheme epk.Scheme
	// SystemKey reports that the container was made without a key: every item lives under the undefined key.
	SystemKey bool
	// DefaultTTL is nil when TTL is off, -1 when it is on without a default, else seconds.
	DefaultTTL *int64
	// UniqueKeys are the paths of each unique key.
	UniqueKeys [][]string
	// Retention is how long all versions and deletes are kept; zero means that the mode is off.
	Retention time.Duration
	// Properties is the whole resource parsed, for whoever needs more: indexingPolicy, computedProperties and so on.
	Properties value.Value
}

// Resource describes the container.
func (c *Container) Resource() Resource { return Resource{} }

// Definition returns the container's present definition. It must not be changed.
func (c *Container) Definition() *Definition { return nil }

// DatabaseResource describes the database that holds the container.
func (c *Container) DatabaseResource() Resource { return Resource{} }

// Replace changes the container's properties (400, 404, 412).
func (c *Container) Replace(body []byte, p Precondition) (Resource, error) {
	return Resource{}, unfinished()
}

// Delete removes the container (404, 412).
func (c *Container) Delete(p Precondition) error { return unfinished() }

// Usage is what a container holds.
type Usage struct {
	Documents int
	Bytes     int64
}

// Usage counts the container's items, for the quota headers.
func (c *Container) Usage() Usage { return Usage{} }

// Range is one physical partition.
type Range struct {
	Resource
	// Min is inclusive, Max exclusive, both hexadecimal.
	Min, Max string
	// Parents are the ids of the ranges that this one came from, oldest first.
	Parents []string
	// LSN is the number of the last write.
	LSN int64
}

// Ranges returns the live ranges in the order of their bounds, and the etag that changes when they do.
func (c *Container) Ranges() (ranges []Range, etag string) { return nil, "" }

// Split cuts a range in two at the middle of its hashes, or at the bound given (400, 410/1002).
func (c *Container) Split(rangeID string, at ...string) ([]Range, error) { return nil, unfinished() }

// Merge joins two neighbouring ranges (400, 410/1002).
func (c *Container) Merge(rangeA, rangeB string) (Range, error) { return Range{}, unfinished() }

// SetReplicaLag makes reads come from a replica to which a write takes d to get, by the account's clock. A read whose
// session token is ahead of the replica is 404/1002; one without a token sees the old state. Zero switches the lag off
// and a negative d holds the replica where it is until then.
func (c *Container) SetReplicaLag(d time.Duration) {}

// LimitThroughput holds callers of [Container.Admit] to a rate whatever the offers say; zero takes the limit away.
func (c *Container) LimitThroughput(unitsPerSecond float64) {}

// Admit refuses a request (429/3200 with RetryAfter) while more request units are spent than the limit gives.
func (c *Container) Admit() error { return nil }

// Spend books the charge of a request that was admitted.
func (c *Container) Spend(requestUnits float64) {}

// Key is a partition key value, whole or a prefix. Nil means that the request gave none.
type Key []epk.Component

// KeyOf extracts the partition key of a document (400).
func (c *Container) KeyOf(body []byte) (Key, error) { return nil, unfinished() }

// Call is what the requests on items have in common.
type Call struct {
	// Key is the full partition key. Reads and deletes need it; a write without one takes the document's own when
	// KeyFromBody is set and is 400 otherwise.
	Key         Key
	KeyFromBody bool
	// Precondition holds If-Match and If-None-Match.
	Precondition
	// SessionToken is x-ms-session-token.
	SessionToken string
	// RangeID is x-ms-documentdb-partitionkeyrangeid: the request is 410/1002 when that range doesn't own the key.
	RangeID string
	// Unindexed keeps the item that is written out of queries (x-ms-indexing-directive: Exclude).
	Unindexed bool
}

// Result is what a request on an item answers. With an error its fields of position and charge are still set, as far as
// the request got.
type Result struct {
	// Status is 200, 201, 204 or 304; zero beside an error.
	Status int
	// Body is the document after the request; nil after a delete and for 304. It must not be changed.
	Body []byte
	// ETag is the document's etag with its quotes; empty after a delete.
	ETag string
	// Charge is in request units.
	Charge float64
	// LSN is the partition's, ItemLSN that of the item's last write (reads only).
	LSN, ItemLSN int64
	// RangeID is the physical partition that served the request, SessionToken its token.
	RangeID, SessionToken string
}

// CreateItem adds an item (201; 400, 403/1014, 409, 413).
func (c *Container) CreateItem(call Call, body []byte) (Result, error) { return Result{}, unfinished() }

// UpsertItem adds (201) or replaces (200) an item. If-Match counts only when the item exists (412).
func (c *Container) UpsertItem(call Call, body []byte) (Result, error) { return Result{}, unfinished() }

// ReplaceItem replaces the item that has the id; the body may rename it (200; 400/1001, 404, 409, 412, 413).
func (c *Container) ReplaceItem(call Call, id string, body []byte) (Result, error) {
	return Result{}, unfinished()
}

// ReadItem returns an item (200, 304; 404, 404/1002).
func (c *Container) ReadItem(call Call, id string) (Result, error) { return Result{}, unfinished() }

// DeleteItem removes an item (204; 404, 412).
func (c *Container) DeleteItem(call Call, id string) (Result, error) { return Result{}, unfinished() }

// Patch is a parsed patch request.
type Patch struct {
	Operations []PatchOperation
	// ConditionSQL is the text of the condition; empty without one.
	ConditionSQL string
	// Condition decides whether the document meets the condition. The caller compiles ConditionSQL into it; a patch with
	// a text and no function is refused.
	Condition func(document value.Value) (bool, error)
}

// PatchOperation is one step of a patch.
type PatchOperation struct {
	// Kind is add, set, replace, remove, incr or move.
	Kind string
	// Path and From are JSON pointers.
	Path, From string
	// Value is JSON; nil counts as null.
	Value []byte
}

// ParsePatch reads a patch body: an object with operations and an optional condition, or a bare array (400).
func ParsePatch(body []byte) (Patch, error) { return Patch{}, unfinished() }

// PatchItem changes parts of an item (200; 400, 404, 412, 413).
func (c *Container) PatchItem(call Call, id string, p Patch) (Result, error) {
	return Result{}, unfinished()
}

// DeleteKey removes every item of one logical partition (200).
func (c *Container) DeleteKey(call Call) (Result, error) { return Result{}, unfinished() }

// OperationKind says what an [Operation] does.
type OperationKind uint8

// The kinds of operation in a batch.
const (
	OpCreate OperationKind = iota
	OpUpsert
	OpReplace
	OpDelete
	OpRead
	OpPatch
)

// Operation is one step of a batch or bulk request.
type Operation struct {
	Kind OperationKind
	// ID is the item's; Create and Upsert take it from the body.
	ID   string
	Body []byte
	// Patch belongs to OpPatch.
	Patch Patch
	Precondition
	// Key is the operation's own partition key, in bulk requests only.
	Key Key
}

// OperationResult is the answer to one [Operation].
type OperationResult struct {
	Result
	// Err is the operation's own refusal, or 424 for one that failed with the batch. Result.Status is set in any case.
	Err *Error
}

// BatchResult is the answer to a batch or bulk request: position, total charge and one result for each operation.
type BatchResult struct {
	Result
	// Failed reports that at least one operation did not succeed; a status of 304 counts as one.
	Failed  bool
	Results []OperationResult
}

// Batch applies up to 100 operations to one logical partition, all or none. Result.Status is 200 or 207.
func (c *Container) Batch(call Call, ops []Operation) (BatchResult, error) {
	return BatchResult{}, unfinished()
}

// Bulk applies operations that each stand alone. call.RangeID names the range that must own their keys.
func (c *Container) Bulk(call Call, ops []Operation) (BatchResult, error) {
	return BatchResult{}, unfinished()
}

// Scope says which items a query or feed is about; its parts narrow each other. The zero value is the whole container.
type Scope struct {
	// Key is a full key or a prefix of one.
	Key Key
	// RangeID names a physical partition (410/1002 when gone).
	RangeID string
	// MinEPK (inclusive) and MaxEPK (exclusive) bound the hashes; both empty means no bounds.
	MinEPK, MaxEPK string
	// Unindexed includes the items that were kept out of queries.
	Unindexed bool
}

// Document is one item of a snapshot or feed.
type Document struct {
	ID, RID, ETag string
	// TS is _ts in Unix seconds, LSN that of the last write.
	TS, LSN int64
	// Raw is the stored JSON with system properties. It must not be changed.
	Raw []byte
}

// Value is Raw parsed; it is parsed once and kept.
func (d Document) Value() value.Value { return value.Value{} }

// Size is the document's size in bytes.
func (d Document) Size() int { return len(d.Raw) }

// Snapshot is a consistent view of a scope. It needs no closing.
type Snapshot struct {
	// RangeIDs are the physical partitions that it covers; SessionToken joins their tokens.
	RangeIDs     []string
	SessionToken string
	// LSN is the highest LSN of them.
	LSN int64
}

// Snapshot takes the state of a scope as it is now (400, 404/1002, 410/1002).
func (c *Container) Snapshot(s Scope, sessionToken string) (*Snapshot, error) {
	return nil, unfinished()
}

// Items yields the live documents in the order of their rids, beginning after the given one; empty means the first.
func (s *Snapshot) Items(afterRID string) iter.Seq[Document] { return func(func(Document) bool) {} }

// Len is the number of items in the snapshot's physical partitions, an upper bound of what Items yields.
func (s *Snapshot) Len() int { return 0 }

// FeedStart says where a change feed begins: the zero value is the beginning.
type FeedStart struct {
	// Now starts behind the last change. It wins over the others.
	Now bool
	// AfterLSN continues behind a position (If-None-Match).
	AfterLSN int64
	// Since starts with the changes of that second (If-Modified-Since); ignored with AfterLSN.
	Since time.Time
}

// FeedRequest asks for a page of changes. The scope must lie within one physical partition.
type FeedRequest struct {
	Scope        Scope
	Start        FeedStart
	SessionToken string
	// MaxItems and MaxBytes bound the page; zero or less means 100 items and 4 MB. Changes of one batch stay together.
	MaxItems, MaxBytes int
}

// FeedPage is one page of changes. Nothing new is an empty page, for which the service answers 304.
type FeedPage struct {
	Documents [][]byte
	// ETag is the position to continue from, with its quotes.
	ETag string
	// LSN is the partition's.
	LSN                   int64
	Charge                float64
	RangeID, SessionToken string
}

// LatestVersions reads the incremental feed: each item once, in its latest state, in the order of their LSNs, with _lsn
// added (400, 404/1002, 410/1002).
func (c *Container) LatestVersions(r FeedRequest) (FeedPage, error) { return FeedPage{}, unfinished() }

// AllVersions reads the full-fidelity feed: every version and delete. It starts from now or a position (400 otherwise).
func (c *Container) AllVersions(r FeedRequest) (FeedPage, error) { return FeedPage{}, unfinished() }

// RequestChargeQuery is the documented model's charge of a query page.
func RequestChargeQuery(partitions, documents, bytes int) float64 { return 0 }

// RequestChargeMetadata is the charge of a request on databases, containers, offers and ranges.
const RequestChargeMetadata = 2.0
