package emulator

import (
	"slices"
	"sync"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/restapi"
)

// Exchange is one request and its outcome: the operation, the database, container and item that its link names, the answer's
// status and charge, how many physical partitions it visited, and whether a fault decided about it.
type Exchange = restapi.Exchange

// Log remembers the latest requests of a service, up to a fixed number, and counts all of them. Its methods may be called
// at the same time.
type Log struct {
	mu      sync.Mutex
	entries []Exchange // a ring once it is full
	total   int        // requests since the service began; entries[total%len] is the next to be overwritten
	limit   int
	counts  map[Operation]int
}

// defaultLogLimit is enough for any one test and little memory for a service that runs for days.
const defaultLogLimit = 10_000

func newLog(limit int) *Log {
	if limit <= 0 {
		limit = defaultLogLimit
	}
	return &Log{limit: limit, counts: map[Operation]int{}}
}

func (l *Log) record(e Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) < l.limit {
		l.entries = append(l.entries, e)
	} else {
		l.entries[l.total%l.limit] = e
	}
	l.total++
	l.counts[e.Operation]++
}

// Mark is a place in the log, to be given to [Log.Since].
func (l *Log) Mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Since gives the requests that ended after the mark, oldest first, as far as the log still holds them.
func (l *Log) Since(mark int) []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(max(l.total-mark, 0), len(l.entries))
	if len(l.entries) < l.limit {
		return slices.Clone(l.entries[len(l.entries)-n:])
	}
	recent := make([]Exchange, 0, n)
	for i := l.total - n; i < l.total; i++ {
		recent = append(recent, l.entries[i%l.limit])
	}
	return recent
}

// All gives every request that the log still holds, oldest first.
func (l *Log) All() []Exchange { return l.Since(0) }

// Count is the number of requests of these operations since the service began, or of all requests when none is named.
func (l *Log) Count(operations ...Operation) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(operations) == 0 {
		return l.total
	}
	n := 0
	for _, op := range operations {
		n += l.counts[op]
	}
	return n
}
