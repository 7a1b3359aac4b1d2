package changefeed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
)

// maxQuarantinedBytes leaves room in a document of 2 MB for what the service adds.
const maxQuarantinedBytes = 1_900_000

// maxReason bounds the text of an error, which may quote what it was about.
const maxReason = 4_000

// Quarantined is a change that the handler kept refusing (a dead letter), as it is
// stored in the lease container. [Processor.Replay] (replay.go) hands it over again.
type Quarantined struct {
	// ID is the quarantine document's own id.
	ID string `json:"id"`
	// Processor is the Name of the processor that put it there, and Container
	// the resource id of the container whose change it is.
	Processor string `json:"processor"`
	Container string `json:"container,omitempty"`
	// DocumentID is the id of the changed document, and PartitionKey its
	// partition key, a JSON array.
	DocumentID   string          `json:"documentId,omitempty"`
	PartitionKey json.RawMessage `json:"partitionKey,omitempty"`
	// Range is where the change was read.
	Range string `json:"range"`
	// Attempts is how often the handler was called with it alone.
	Attempts int `json:"attempts"`
	// Reason is the text of the handler's last error, without what the service
	// answered: its first 4,000 bytes, less a character that they would cut.
	Reason string `json:"reason"`
	// At is the time of the quarantine.
	At time.Time `json:"at"`
	// Document is the document as it was read; empty when it was too large to
	// be stored again (over 1.9 MB with the rest of this), or too deeply nested.
	Document json.RawMessage `json:"document,omitempty"`
}

// quarantineMark begins the ids of all that is in quarantine.
const quarantineMark = "quarantine."

// quarantinePrefix begins the ids of what this processor has put into
// quarantine; other containers' processors may have its name.
func (n leaseNames) quarantinePrefix() string { return quarantineMark + n.base + ".." }

// formerQuarantinePrefix began them once, for all containers alike.
func (n leaseNames) formerQuarantinePrefix() string { return quarantineMark + n.processor + ".." }

// handleAlone calls the handler with one change until it accepts it, or the
// attempts are used up and the change is quarantined. An error that may pass does not
// count (outage.go).
func (w *worker) handleAlone(ctx context.Context, one []Change) error {
	for attempt := 1; ; attempt++ {
		if err := w.p.pause(ctx, backoff(w.p.cfg.Backoff, attempt-1)); err != nil {
			return err
		}
		refusal, err := w.deliver(ctx, one)
		switch {
		case err != nil || refusal == nil:
			return err
		case attempt >= w.p.cfg.MaxAttempts:
			return w.p.quarantine(ctx, w.keys, one[0], attempt, refusal)
		}
	}
}

// quarantine stores a change in the lease container, which is when its range may go on behind it.
func (p *Processor) quarantine(ctx context.Context, keys keyRange, c Change, attempts int, reason error) error {
	// The same version of the same document has one place in quarantine,
	// however often it is read again.
	sum := sha256.Sum256([]byte(c.rid + c.ID + c.ETag))
	names := p.store.names
	q := Quarantined{
		ID: names.quarantinePrefix() + hex.EncodeToString(sum[:12]), Processor: p.cfg.Name, Container: names.container, DocumentID: c.ID,
		PartitionKey: p.reader.keyText(c.Document),
		Range:        keys.String(), Attempts: attempts, Reason: cutText(redact.Error(reason).Error(), maxReason), At: time.Now().UTC(),
		Document: c.Document,
	}
	if err := p.storeQuarantined(ctx, &q); err != nil {
		return fmt.Errorf("quarantining a change: %w", err)
	}
	p.metrics.quarantined.Add(ctx, 1)
	p.cfg.Logger.ErrorContext(ctx, "change quarantined", "processor", p.cfg.Name, "quarantine", q.ID, "document", c.ID, "attempts", attempts, "error", q.Reason)
	return nil
}

// storeQuarantined leaves the document out where there is no room for it, or the
// service does not take it: one that is nested as deeply as it may be is one level
// too deep within another. A range must not stand still for that.
func (p *Processor) storeQuarantined(ctx context.Context, q *Quarantined) error {
	for {
		body, err := q.encode()
		if err != nil {
			return err
		}
		if len(body) <= maxQuarantinedBytes || q.Document == nil {
			err = p.persist(ctx, func() error {
				_, err := p.leaseContainer.write(ctx, cosmos.Operation{Kind: cosmos.OpUpsert, ID: q.ID, Body: body})
				return err
			})
			if status := statusOf(err); q.Document == nil || status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
				return err
			}
		}
		q.Document = nil
	}
}

// encode leaves the document as it is written: escaped for HTML, it could grow to six times its size.
func (q *Quarantined) encode() ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(q)
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}

// cutText returns the beginning of a text, whole characters, of at most n bytes.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Quarantined returns the changes of this processor's container in quarantine,
// in no particular order. Iteration stops at the first error, which is yielded.
func (p *Processor) Quarantined(ctx context.Context) iter.Seq2[Quarantined, error] {
	return func(yield func(Quarantined, error) bool) {
		fail := func(err error) {
			yield(Quarantined{}, fmt.Errorf("changefeed: reading the quarantine: %w", redact.Error(err)))
		}
		if err := p.open(ctx); err != nil {
			fail(err)
			return
		}
		names := p.store.names
		query := `SELECT * FROM c WHERE STARTSWITH(c["id"], @prefix) OR STARTSWITH(c["id"], @former)`
		prefix := cosmos.QueryParameter{Name: "@prefix", Value: names.quarantinePrefix()}
		former := cosmos.QueryParameter{Name: "@former", Value: names.formerQuarantinePrefix()}
		for item, err := range p.leaseContainer.query(ctx, query, prefix, former) {
			if err != nil {
				fail(err)
				return
			}
			var q Quarantined
			if err := json.Unmarshal(item, &q); err != nil {
				fail(errors.New("a document of it is not readable"))
				return
			}
			if p.isOwn(&q) && !yield(q, nil) {
				return
			}
		}
	}
}

// isOwn reports whether a change is of this processor and its container, and fills
// in what an earlier version did not store. An id alone does not tell the processor:
// what "a" stored once begins as what "a." stores. Such a one tells its container by
// the document's resource id; without the document nothing does.
func (p *Processor) isOwn(q *Quarantined) bool {
	if q.Processor != p.cfg.Name {
		return false
	}
	if q.Container != "" {
		return q.Container == p.store.names.container
	}
	if len(q.Document) == 0 {
		return true
	}
	c := parseChange(q.Document)
	if containerRID(c.rid) != p.store.names.container {
		return false
	}
	q.Container, q.DocumentID, q.PartitionKey = p.store.names.container, c.ID, p.reader.keyText(q.Document)
	return true
}

// containerRID is the first eight bytes of a document's resource id.
func containerRID(documentRID string) string {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(documentRID, "-", "/"))
	if err != nil || len(raw) < 8 {
		return ""
	}
	return idPart(base64.StdEncoding.EncodeToString(raw[:8]))
}
