package changefeed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// maxQuarantinedBytes leaves room for the envelope in a document of 2 MB.
const maxQuarantinedBytes = 1_900_000

// Quarantined is a change that the handler kept refusing, as it is stored in
// the lease container.
type Quarantined struct {
	// ID is the quarantine document's own id.
	ID string `json:"id"`
	// Processor is the Name of the processor that put it there.
	Processor string `json:"processor"`
	// Range is where the change was read.
	Range string `json:"range"`
	// Attempts is how often the handler was called with it alone.
	Attempts int `json:"attempts"`
	// Reason is the text of the handler's last error.
	Reason string `json:"reason"`
	// At is the time of the quarantine.
	At time.Time `json:"at"`
	// Document is the document as it was read; empty when it was too large to
	// be stored again (over 1.9 MB), and Replay passes it over then.
	Document json.RawMessage `json:"document,omitempty"`
}

func quarantinePrefix(name string) string { return "quarantine." + name + ".." }

func (p *Processor) quarantine(ctx context.Context, keys keyRange, c Change, attempts int, reason error) error {
	// The same version of the same document has one place in quarantine,
	// however often it is read again.
	var identity struct {
		RID string `json:"_rid"`
	}
	_ = json.Unmarshal(c.Document, &identity) // parseChange has read it before
	sum := sha256.Sum256([]byte(identity.RID + c.ID + c.ETag))
	q := Quarantined{
		ID: quarantinePrefix(p.cfg.Name) + hex.EncodeToString(sum[:12]), Processor: p.cfg.Name, Range: keys.String(),
		Attempts: attempts, Reason: reason.Error(), At: time.Now().UTC(),
	}
	if len(c.Document) <= maxQuarantinedBytes {
		q.Document = c.Document
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	err = p.persist(ctx, func() error {
		_, err := p.cfg.Leases.UpsertItem(ctx, azcosmos.NewPartitionKeyString(q.ID), body, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("quarantining a change: %w", err)
	}
	p.metrics.quarantined.Add(ctx, 1)
	p.cfg.Logger.ErrorContext(ctx, "change quarantined", "processor", p.cfg.Name, "quarantine", q.ID, "document", c.ID, "attempts", attempts, "error", reason)
	return nil
}

// Quarantined returns the changes in quarantine, in no particular order.
// Iteration stops at the first error, which is yielded.
func (p *Processor) Quarantined(ctx context.Context) iter.Seq2[Quarantined, error] {
	return func(yield func(Quarantined, error) bool) {
		pager := p.cfg.Leases.NewQueryItemsPager("SELECT * FROM c WHERE STARTSWITH(c.id, @prefix)", azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
			QueryParameters: []azcosmos.QueryParameter{{Name: "@prefix", Value: quarantinePrefix(p.cfg.Name)}},
		})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				yield(Quarantined{}, fmt.Errorf("changefeed: reading the quarantine: %w", err))
				return
			}
			for _, item := range page.Items {
				var q Quarantined
				if err := json.Unmarshal(item, &q); err != nil {
					yield(Quarantined{}, errors.New("changefeed: a quarantine document is not readable"))
					return
				}
				if !yield(q, nil) {
					return
				}
			}
		}
	}
}

// Replay calls the handler once with every quarantined change and removes
// those that it accepts. It returns how many that were, and the errors of the
// others, joined. A change is replayed as it was read; a handler that is
// sensitive to newer versions should compare etags with the document.
func (p *Processor) Replay(ctx context.Context) (accepted int, err error) {
	var failures []error
	for q, err := range p.Quarantined(ctx) {
		if err != nil {
			return accepted, errors.Join(append(failures, err)...)
		}
		if len(q.Document) == 0 {
			failures = append(failures, fmt.Errorf("changefeed: %s holds no document: it was too large", q.ID))
			continue
		}
		c, err := parseChange(q.Document)
		if err == nil {
			err = p.call(ctx, []Change{c})
		}
		if err == nil {
			_, err = p.cfg.Leases.DeleteItem(ctx, azcosmos.NewPartitionKeyString(q.ID), q.ID, nil)
			if statusOf(err) == http.StatusNotFound {
				err = nil
			}
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("changefeed: replaying %s: %w", q.ID, err))
			continue
		}
		accepted++
	}
	return accepted, errors.Join(failures...)
}
