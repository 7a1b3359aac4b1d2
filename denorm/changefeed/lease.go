package changefeed

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// lease is one range's document. Its members and their names are those that
// the change feed processors for .NET and Java store for a range of effective
// partition keys (Azure/azure-cosmos-dotnet-v3, DocumentServiceLeaseCoreEpk),
// so that autoscalers which read those can read these. When an owner counts as
// dead is decided in leaseexpiry.go; balance.go takes its lease over. The owner's
// worker (worker.go) renews it and finds out that it was lost.
type lease struct {
	ID                string            `json:"id"`
	Version           int               `json:"version"`
	LeaseToken        string            `json:"LeaseToken"`
	FeedRange         feedRange         `json:"FeedRange"`
	Owner             *string           `json:"Owner"`
	ContinuationToken *string           `json:"ContinuationToken"`
	Timestamp         time.Time         `json:"timestamp"`
	Properties        map[string]string `json:"properties"`
	Mode              string            `json:"Mode"`
	ETag              azcore.ETag       `json:"_etag,omitempty"`
}

// epkLease is the version of a lease over a range of effective partition keys.
const epkLease = 1

// incrementalFeed is the mode of a lease over the latest versions.
const incrementalFeed = "Incremental Feed"

type feedRange struct {
	Range keyRange `json:"Range"`
}

// MarshalJSON says of the bounds what other readers ask for.
func (r feedRange) MarshalJSON() ([]byte, error) {
	type bounds struct {
		keyRange
		IsMinInclusive bool `json:"isMinInclusive"`
		IsMaxInclusive bool `json:"isMaxInclusive"`
	}
	return json.Marshal(map[string]bounds{"Range": {r.Range, true, false}})
}

// The processor's own notes in a lease.
const (
	// propertyStart is where the range starts while it has no continuation.
	propertyStart = "startFrom"
	// propertyHandover names the instance that the owner should hand the range
	// to after the batch that it is working on.
	propertyHandover = "handoverTo"
	// propertyEpoch counts the times that the range found an owner. Together
	// with the owner it says whose lease it is: an instance that lost a lease
	// and took it again must not store what it began before.
	propertyEpoch = "epoch"
	// propertyUntil is the time, by the service's clock, up to which every
	// change of the range was handled.
	propertyUntil = "handledUntil"
	// propertyStalled is since when the range stands still, by its owner's clock.
	propertyStalled = "stalledSince"
)

func (l *lease) owner() string {
	if l.Owner == nil {
		return ""
	}
	return *l.Owner
}

func (l *lease) setOwner(instance string) {
	l.Owner = nil
	if instance != "" {
		l.Owner = &instance
	}
}

// epoch is zero for a lease that no instance has owned.
func (l *lease) epoch() int64 {
	n, _ := strconv.ParseInt(l.Properties[propertyEpoch], 10, 64)
	return n
}

// acquire makes the lease an instance's, beginning another epoch.
func (l *lease) acquire(instance string) {
	l.setOwner(instance)
	delete(l.Properties, propertyHandover)
	l.Timestamp = time.Now().UTC()
	l.Properties[propertyEpoch] = strconv.FormatInt(l.epoch()+1, 10)
}

func (l *lease) continuation() string {
	if l.ContinuationToken == nil {
		return ""
	}
	return *l.ContinuationToken
}

// startTime is the time to start from without a continuation; nil is the beginning.
func (l *lease) startTime() *time.Time {
	t, err := time.Parse(time.RFC3339, l.Properties[propertyStart])
	if err != nil {
		return nil
	}
	return &t
}

// handledUntil is the time up to which every change was handled.
func (l *lease) handledUntil() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, l.Properties[propertyUntil])
	return t, err == nil
}

// stalledSince is when the owner noted that the range stands still; zero when it goes on.
func (l *lease) stalledSince() time.Time {
	t, _ := time.Parse(time.RFC3339, l.Properties[propertyStalled]) // zero without one
	return t
}

// clone lets a lease be changed while others read it.
func (l *lease) clone() *lease {
	out := *l
	out.Properties = make(map[string]string, len(l.Properties))
	for k, v := range l.Properties {
		out.Properties[k] = v
	}
	return &out
}
