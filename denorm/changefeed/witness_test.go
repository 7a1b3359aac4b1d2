package changefeed_test

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// witness hears of every handled change, in the order in which they were
// handled in all processes together, and checks what the package promises.
//
// Every write has a sequence number that grows within its logical partition.
// The feed shows a document in its latest version only, so a version may be
// passed over when a newer one of the same document comes.
//
//   - Order within an ownership: the owner of a range, from taking the lease to
//     losing it (one range, one epoch), sees the numbers of a logical partition
//     grow, and none twice.
//   - Order over all: a version comes for the first time only when no later one
//     of its logical partition was handled before. What a new owner handles
//     again, from the last checkpoint on, is a repetition and no first time.
//     There is one exception. An owner that was suspended while its range was
//     taken over may still finish the batch it holds, so it may come with a
//     version of a document that was overwritten before its successor read it,
//     and that the successor has therefore passed over. Its epoch is smaller
//     than one that the logical partition has seen.
//   - Each change comes from the range that its key is in, and from no other.
//   - At least once: in the end the last version of every document was handled,
//     which for those that were written once is every version.
type witness struct {
	ledger *ledger

	mu          sync.Mutex
	seen        map[place]bool
	newest      map[string]int    // by document: the newest version handled
	high        map[string]int    // by logical partition
	within      map[ownership]int // the newest in one ownership
	newestEpoch map[string]int64  // by logical partition: the newest epoch
	violations  []string
	handled     int
	repeated    int
	late        int // lines of owners that were none any more
	// stale are, of these, the versions that came after later ones of their
	// partition, by document: in the end it must turn out that they were
	// overwritten.
	stale map[string][]int
}

type place struct {
	partition string
	sequence  int
}

type ownership struct {
	keys      string
	epoch     int64
	partition string
}

// line is what a process tells of one change before its handler returns.
type line struct {
	Range  string `json:"range"`
	Epoch  int64  `json:"epoch"`
	Tenant string `json:"tenant"`
	ID     string `json:"id"`
	N      int    `json:"n"`
}

func newWitness(l *ledger) *witness {
	return &witness{ledger: l, seen: map[place]bool{}, newest: map[string]int{}, high: map[string]int{}, within: map[ownership]int{}, newestEpoch: map[string]int64{}, stale: map[string][]int{}}
}

func (w *witness) hear(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handled++
	document := l.Tenant + "/" + l.ID
	own := ownership{l.Range, l.Epoch, l.Tenant}
	if l.N <= w.within[own] {
		w.violated("%s came as %d after %d of its partition, in epoch %d of %s", document, l.N, w.within[own], l.Epoch, l.Range)
	}
	w.within[own] = l.N
	low, high, _ := strings.Cut(l.Range, "-")
	if key := epk.Hash(epk.MultiHash, epk.String(l.Tenant), epk.String("k")); epk.Compare(key, low) < 0 || epk.Compare(key, high) >= 0 {
		w.violated("%s was given to the range %s", document, l.Range)
	}
	superseded := w.ledger.superseded(l.Range, l.Epoch)
	if superseded {
		w.late++
	}
	at := place{l.Tenant, l.N}
	switch {
	case w.seen[at]:
		w.repeated++
	case l.N > w.high[l.Tenant]:
	case superseded && l.Epoch < w.newestEpoch[l.Tenant]:
		w.stale[document] = append(w.stale[document], l.N)
	default:
		w.violated("%s came for the first time as %d after %d of its partition (the document at %d)", document, l.N, w.high[l.Tenant], w.newest[document])
	}
	w.newestEpoch[l.Tenant] = max(w.newestEpoch[l.Tenant], l.Epoch)
	w.seen[at] = true
	w.high[l.Tenant] = max(w.high[l.Tenant], l.N)
	w.newest[document] = max(w.newest[document], l.N)
}

// complete checks, at the end, what was handled against what was written last,
// by document.
func (w *witness) complete(written map[string]int) {
	for document, n := range written {
		if w.newest[document] != n {
			w.violated("%s was written as %d and last handled as %d", document, n, w.newest[document])
		}
	}
	for document, versions := range w.stale {
		for _, n := range versions {
			if n >= written[document] {
				w.violated("%s came late as %d, which nothing has overwritten", document, n)
			}
		}
	}
}

// mostViolations keeps a broken run readable.
const mostViolations = 20

func (w *witness) violated(format string, args ...any) {
	if len(w.violations) < mostViolations {
		w.violations = append(w.violations, fmt.Sprintf(format, args...))
	}
}
