package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// EraseOptions change how a tenant is erased; nil is the defaults.
type EraseOptions struct {
	// Where, where set, chooses what is erased, of all that a tenant has: see
	// [Tenants.PlanErase] for the data of one person. It is called with each document, as it
	// is stored, and again for each look. It must not keep the document.
	Where func(ErasedDocument) bool
	// RequestUnitsPerSecond bounds what the erasure spends of the containers'
	// throughput. Defaults to no bound.
	RequestUnitsPerSecond float64
	// Progress, where set, is called after every batch or two.
	Progress func(TenantProgress)
}

// ErasedDocument is a document that may be erased.
type ErasedDocument struct {
	// Container is where it lies; EntityType and ID are empty where it has none
	// that is a text.
	Container, EntityType, ID string
	// Document is the whole, as it is stored; good until the predicate returns.
	Document json.RawMessage

	// form is the document by the names of its entity, and own its id there.
	form json.RawMessage
	own  string
}

// erased is a document of a container as predicates get it.
func (p *Plan) erased(c tenantContainer, raw json.RawMessage) ErasedDocument {
	d := ErasedDocument{Container: c.id, EntityType: c.HeaderOf(raw).EntityType, ID: document.ReadHeader(raw).ID, Document: raw}
	if s := p.named(c.id, d.EntityType); s != nil {
		d.form = s.Collection.FormOf(raw)
	} else {
		d.form = c.FormOf(raw)
	}
	d.own = document.ReadHeader(d.form).ID
	return d
}

// Erasure is the certificate of an erased tenant: what was removed, when, and
// a digest by which it can be told from one that was changed.
type Erasure struct {
	TenantID string
	// Removed counts the documents by entity type, deleted ones and their
	// marks included; "" are those without a type that are of no registered one.
	Removed map[string]int64
	// Quarantined counts the changes of such documents that were in the quarantine of a change feed processor of
	// package denorm, and were removed from there.
	Quarantined int64
	// Requests and RequestUnits are what it cost.
	Requests     int64
	RequestUnits float64
	// Began and Ended are when, in UTC; Took is the time between.
	Began, Ended time.Time
	Took         time.Duration
	// Complete says that a last look found nothing of the tenant, or nothing
	// that was to be erased.
	Complete bool
	// Partial says that a predicate chose what was erased.
	Partial bool
	// Documents is a digest of the container, the key and the id of each
	// removed document, in any order. It holds no content.
	Documents string
	// Digest is the SHA-256 of the fields above, in hexadecimal; see
	// [Erasure.Verify].
	Digest string
}

const (
	// erasePage is how many documents are removed between two calls of Progress.
	erasePage = 500
	// maxEraseLooks bounds the race with writers that don't stop.
	maxEraseLooks = 100
)

// Erase removes every document of a tenant from every container of the plan, and from the
// quarantine of the processors of package denorm, and looks again until there is none. What it costs grows with the tenant's
// documents alone. Stopped, it is taken up by calling it again; the certificate
// counts what this call removed, and is returned with an error too.
//
// Other writers may go on: what they store meanwhile is removed as well, and the last look
// decides. When a hundred looks all found something, it ends with an error that unwraps
// to [tenantitem.ErrInvalid]; stop the writers then.
func (t *Tenants) Erase(ctx context.Context, tenant string, opts *EraseOptions) (*Erasure, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	e := eraser{db: t.db, tenant: tenant, receipt: &Erasure{TenantID: tenant, Removed: map[string]int64{}, Began: time.Now().UTC()}}
	if opts != nil {
		e.opts = *opts
	}
	ctx, err := paced(ctx, e.opts.RequestUnitsPerSecond)
	if err != nil {
		return nil, err
	}
	ctx, tally := repository.WithTally(ctx)
	err = e.all(ctx, t.contents())
	r := e.receipt
	r.Requests, r.RequestUnits = tally.Requests(), tally.RequestUnits()
	r.Ended = time.Now().UTC()
	r.Took = r.Ended.Sub(r.Began)
	r.Complete, r.Partial = err == nil, e.opts.Where != nil
	r.Documents = e.digest.String()
	r.Digest = r.sum()
	return r, err
}

type eraser struct {
	db       *Database
	tenant   string
	opts     EraseOptions
	receipt  *Erasure
	progress TenantProgress
	digest   setDigest
	found    bool // in the look under way
}

// all erases until one look at every container found nothing: a writer may
// store in a container that was empty a moment ago. Containers come in the plan's order (contents in tenants.go), and in each
// the documents as the query gives them, parents before or after their children: an erasure goes around delete rules. Each
// page is removed in batches, by logical partition (change in internal/engine/document_change.go).
func (e *eraser) all(ctx context.Context, containers []tenantContainer) error {
	for range maxEraseLooks {
		e.found = false
		for _, c := range containers {
			e.progress.Container = c.id
			err := inPages(e.outlines(ctx, c), erasePage, func(page []engine.Document) error {
				e.found = true
				return e.page(ctx, c, page)
			})
			if err != nil {
				return err
			}
			held, err := e.db.eraseHeld(ctx, c, e.tenant, e.opts.Where)
			e.receipt.Quarantined += held
			if err != nil {
				return err
			}
			e.found = e.found || held > 0
		}
		if !e.found {
			return nil
		}
	}
	return &tenantitem.InvalidError{What: "tenant", Reason: "other writers keep adding documents", Hint: "stop them, and erase the tenant again"}
}

func (e *eraser) page(ctx context.Context, c tenantContainer, page []engine.Document) error {
	removed, err := c.Remove(ctx, page)
	for _, s := range removed {
		e.receipt.Removed[s.EntityType]++
		e.digest.addSum(sha256.Sum256([]byte(c.id + " " + placeOf(s))))
	}
	e.progress.Documents += int64(len(removed))
	if e.opts.Progress != nil {
		e.opts.Progress(e.progress)
	}
	return ignoreAmbiguous(err) // the next look tells
}

// outlines are those of what is to be erased.
func (e *eraser) outlines(ctx context.Context, c tenantContainer) iter.Seq2[engine.Document, error] {
	if e.opts.Where == nil {
		return c.Outlines(ctx, e.tenant)
	}
	return func(yield func(engine.Document, error) bool) {
		chosen := map[string]bool{}
		for raw, err := range c.Documents(ctx, e.tenant) {
			if err != nil {
				yield(engine.Document{}, err)
				return
			}
			head := document.ReadHeader(raw)
			if e.opts.Where(e.db.plan.erased(c, raw)) {
				chosen[head.ID+" "+head.ETag] = true
			}
		}
		if len(chosen) == 0 {
			return
		}
		e.found = true // also if all of them change before they are removed
		// The outline has the etag, so that only the version that was chosen goes.
		for o, err := range c.Outlines(ctx, e.tenant) {
			if (err != nil || chosen[o.ID+" "+o.ETag]) && (!yield(o, err) || err != nil) {
				return
			}
		}
	}
}

// sum is the digest of the certificate.
func (e *Erasure) sum() string {
	text, err := json.Marshal(struct {
		Tenant            string
		Removed           map[string]int64
		Began, Ended      time.Time
		Complete, Partial bool
		Documents         string
		Quarantined       int64 `json:",omitempty"` // certificates of former versions have none
	}{e.TenantID, e.Removed, e.Began, e.Ended, e.Complete, e.Partial, e.Documents, e.Quarantined})
	if err != nil { // texts, numbers and times can always be written
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Verify reports whether the certificate is as Erase made it: what was removed,
// when, and that it was complete. It finds changes by accident; keep the digest elsewhere, or sign it, against others.
func (e *Erasure) Verify() bool { return e.Digest != "" && e.Digest == e.sum() }

// placeOf tells documents apart that share an id.
func placeOf(s engine.Document) string { return fmt.Sprintf("%#v %s", s.Key, s.ID) }
