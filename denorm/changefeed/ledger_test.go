package changefeed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
)

// ledger stands before an emulator and follows what is stored in leases. The
// rules that it checks are those on which order rests:
//
//   - a lease's epochs follow each other, and who has lost a lease, or handed
//     it back, stores nothing in it any more;
//   - a position never goes back;
//   - a child's lease finds no owner while its parent's has one or had one. A
//     parent's that a suspended process brings back, when it goes on with a
//     split that others have finished, never finds an owner again.
type ledger struct {
	next http.Handler

	mu         sync.Mutex
	leases     map[string]entry // by id
	epochs     map[string]int64 // by range: the newest, of ranges that are gone too
	violations []string
	takeovers  int // leases that had an owner when another took them
	refused    int // writes of owners that were none any more
	splits     int
}

type entry struct {
	owner    string
	epoch    int64
	position int64
	written  string // by an owner
	keys     bounds
	taken    bool // since it was made
}

type bounds struct {
	Min string `json:"min"`
	Max string `json:"max"`
}

func (b bounds) overlaps(o bounds) bool { return b.Min < o.Max && o.Min < b.Max }

// stored is what the ledger reads of a lease document.
type stored struct {
	Owner             *string           `json:"Owner"`
	ContinuationToken *string           `json:"ContinuationToken"`
	Timestamp         string            `json:"timestamp"`
	Properties        map[string]string `json:"properties"`
	FeedRange         struct {
		Range bounds `json:"Range"`
	} `json:"FeedRange"`
}

func (s stored) entry() entry {
	e := entry{keys: s.FeedRange.Range, written: s.Timestamp}
	if s.Owner != nil {
		e.owner = *s.Owner
	}
	if s.ContinuationToken != nil {
		e.position, _ = strconv.ParseInt(strings.Trim(*s.ContinuationToken, `"`), 10, 64)
	}
	e.epoch, _ = strconv.ParseInt(s.Properties["epoch"], 10, 64)
	return e
}

// raised reports whether a child that was left by half a split was made to begin after the parent's later
// owners. It stays whose it was, and its owner wrote nothing: who takes a lease says when.
func (e entry) raised(was entry) bool {
	return e.epoch > was.epoch && e.owner == was.owner && e.written == was.written
}

func newLedger(next http.Handler) *ledger {
	return &ledger{next: next, leases: map[string]entry{}, epochs: map[string]int64{}}
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.URL.Path, "/colls/leases/docs") || isQuery(r) || r.Method == http.MethodGet {
		l.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	// One at a time, so that they are noted in the order in which they happened.
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := httptest.NewRecorder()
	l.next.ServeHTTP(answer, r)
	id, _ := url.PathUnescape(path.Base(r.URL.EscapedPath()))
	l.note(r.Method, id, body, answer.Code)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a client that was killed does not read it
}

// Do makes the ledger the transport of a client in this process.
func (l *ledger) Do(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody // as a server has it
	}
	l.ServeHTTP(answer, served)
	// Who gave up learns nothing, whatever became of the request.
	if err := r.Context().Err(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	result := answer.Result()
	result.Request = r
	// A client over a network makes names of headers canonical.
	header := http.Header{}
	for name, values := range result.Header {
		canonical := http.CanonicalHeaderKey(name)
		header[canonical] = append(header[canonical], values...) // a server may hold an empty one in the other form
	}
	result.Header = header
	return result, nil
}

func isQuery(r *http.Request) bool { return r.Header.Get("Content-Type") == "application/query+json" }

func (l *ledger) note(method, id string, body []byte, status int) {
	var doc struct {
		ID string `json:"id"`
		stored
	}
	if method != http.MethodDelete {
		if err := json.Unmarshal(body, &doc); err != nil || doc.FeedRange.Range.Max == "" {
			return // no lease
		}
		id = doc.ID
	}
	was, known := l.leases[id]
	is := doc.entry()
	switch {
	case method == http.MethodDelete && status < 300:
		delete(l.leases, id)
		l.splits++
	case method == http.MethodDelete:
	case status == http.StatusPreconditionFailed || status == http.StatusNotFound:
		if l.epochs[is.keys.Min+"-"+is.keys.Max] > is.epoch {
			l.refused++
		}
	case status >= 300:
	case !known:
		l.leases[id] = is
		l.epochs[is.keys.Min+"-"+is.keys.Max] = is.epoch
	default:
		l.check(id, was, is)
		is.taken = was.taken || is.epoch == was.epoch+1 && is.owner != "" && !is.raised(was)
		l.leases[id] = is
		l.epochs[is.keys.Min+"-"+is.keys.Max] = is.epoch
	}
}

func (l *ledger) check(id string, was, is entry) {
	violated := func(format string, args ...any) {
		l.violations = append(l.violations, fmt.Sprintf("lease %s: ", id)+fmt.Sprintf(format, args...))
	}
	switch {
	case is.raised(was) && l.parentOf(id, is) != "":
	case is.epoch == was.epoch+1 && is.owner != "":
		if was.owner != "" && was.owner != is.owner {
			l.takeovers++
		}
		if parent := l.parentOf(id, is); parent != "" && l.leases[parent].taken {
			violated("%s took it while %s is there", is.owner, parent)
		}
	case is.epoch != was.epoch:
		violated("epoch %d after %d", is.epoch, was.epoch)
	case was.owner == "" && is.owner != "":
		violated("%s stored something after it was handed back", is.owner)
	}
	if is.position < was.position {
		violated("the position went back from %d to %d, by %q", was.position, is.position, is.owner)
	}
}

// parentOf names a lease that covers another.
func (l *ledger) parentOf(id string, child entry) string {
	for other, e := range l.leases {
		if other != id && e.keys.Min <= child.keys.Min && child.keys.Max <= e.keys.Max {
			return other
		}
	}
	return ""
}

// superseded reports whether another owner took the range, or a part of it, after
// that epoch began.
func (l *ledger) superseded(keys string, epoch int64) bool {
	low, high, _ := strings.Cut(keys, "-")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epochs[keys] > epoch {
		return true
	}
	for _, e := range l.leases {
		if at := (bounds{low, high}); e.keys != at && e.keys.overlaps(at) && e.epoch > epoch {
			return true
		}
	}
	return false
}
