package changefeed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Start is a position in a feed that has no checkpoint yet.
type Start struct {
	kind startKind
	at   time.Time
}

type startKind int

const (
	startUnset startKind = iota
	startBeginning
	startNow
	startTime
)

// Beginning starts with the oldest change that the container still has.
func Beginning() Start { return Start{kind: startBeginning} }

// Now starts with what changes after the first look at the feed, by the
// service's reckoning: no clock of this machine is involved. That look is
// stored before anything else is done, so that a crash skips nothing.
func Now() Start { return Start{kind: startNow} }

// At starts with what changed at that time or later, to the second, by the
// service's clock. The time that the first instance gave is stored and holds
// for all.
func At(t time.Time) Start { return Start{kind: startTime, at: t} }

// startDocument says where a processor began: what its leases are made from,
// by whichever instance makes them, and what a range goes back to whose lease
// was deleted. It is stored once, whole, before the first lease.
type startDocument struct {
	ID string `json:"id"`
	// LeasePrefix begins the ids of leases. It outlives a change of the host
	// that answers, as when another region takes over.
	LeasePrefix string `json:"leasePrefix"`
	// FormerPrefixes began them before.
	FormerPrefixes []string `json:"formerPrefixes,omitempty"`
	// StartFrom is a time in RFC 3339, where the start was one.
	StartFrom string `json:"startFrom,omitempty"`
	// Positions are the ranges as they were, with the position behind their
	// last change where the start was that.
	Positions []startPosition `json:"positions"`
	// Epochs is the newest that a lease may have begun, see epoch.go; 0 in one
	// that a former version has stored.
	Epochs int64       `json:"epochs,omitempty"`
	ETag   azcore.ETag `json:"_etag,omitempty"`
}

type startPosition struct {
	keyRange
	Continuation string `json:"continuation,omitempty"`
}

// properties are what a lease carries that begins at this start.
func (d *startDocument) properties() map[string]string {
	if d.StartFrom == "" {
		return map[string]string{}
	}
	return map[string]string{propertyStart: d.StartFrom}
}

// within returns the positions of a part of the keys. What the document does
// not know begins at the beginning.
func (d *startDocument) within(keys keyRange) []position {
	var out []position
	var known []keyRange
	for _, p := range d.Positions {
		if part := p.intersect(keys); !part.isEmpty() {
			out = append(out, position{part, p.Continuation})
			known = append(known, part)
		}
	}
	for _, gap := range uncovered(keys, known) {
		out = append(out, position{keys: gap})
	}
	return sorted(out)
}

// openStart reads the start document, or takes the first look and stores it.
func (p *Processor) openStart(ctx context.Context, names leaseNames, complete bool) (*startDocument, error) {
	for {
		doc, err := p.readStart(ctx, names)
		if err != nil {
			return nil, err
		}
		changed := doc == nil
		if changed {
			if doc, err = p.firstLook(ctx, names, complete); err != nil {
				return nil, err
			}
		} else if p.cfg.Endpoint != "" && doc.LeasePrefix != names.prefix {
			doc.FormerPrefixes = append(slices.DeleteFunc(doc.FormerPrefixes, func(f string) bool { return f == names.prefix }), doc.LeasePrefix)
			doc.LeasePrefix, changed = names.prefix, true
		}
		if !changed {
			return doc, nil
		}
		switch err := p.writeStart(ctx, doc); statusOf(err) {
		case http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotFound:
			// Another instance was faster; what it stored holds.
			if err := p.pause(ctx, p.cfg.Backoff); err != nil {
				return nil, err
			}
		default:
			return doc, err
		}
	}
}

// firstLook asks the feed where it is, for every range at one time.
func (p *Processor) firstLook(ctx context.Context, names leaseNames, complete bool) (*startDocument, error) {
	doc := &startDocument{ID: names.start(), LeasePrefix: names.prefix}
	if p.cfg.StartFrom.kind == startTime {
		doc.StartFrom = p.cfg.StartFrom.at.UTC().Format(time.RFC3339)
	}
	// Leases that exist already were made from a look that was not stored.
	if complete {
		return doc, nil
	}
	doc.Epochs = epochBlock
	var ranges []cosmos.FeedRange
	err := p.persist(ctx, func() (err error) {
		ranges, err = cosmos.FeedRanges(ctx, p.cfg.Container)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the container's ranges: %w", err)
	}
	for _, r := range ranges {
		at := []position{{keys: keyRange{r.MinInclusive, r.MaxExclusive}}}
		if p.cfg.StartFrom.kind == startNow {
			err := p.persist(ctx, func() (err error) {
				at, err = p.reader.now(ctx, at[0].keys)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("reading the end of the feed: %w", err)
			}
		}
		for _, one := range at {
			doc.Positions = append(doc.Positions, startPosition{one.keys.canonical(), one.continuation})
		}
	}
	return doc, nil
}

func (p *Processor) readStart(ctx context.Context, names leaseNames) (*startDocument, error) {
	var doc *startDocument
	err := p.persist(ctx, func() error {
		body, err := p.leaseContainer.read(ctx, names.start())
		if isMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		doc = new(startDocument)
		if err := json.Unmarshal(body, doc); err != nil || doc.LeasePrefix == "" {
			return fmt.Errorf("the document %q is not readable", names.start())
		}
		return nil
	})
	return doc, err
}

func (p *Processor) writeStart(ctx context.Context, doc *startDocument) error {
	stored := *doc
	stored.ETag = ""
	body, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	op := cosmos.Operation{Kind: cosmos.OpCreate, ID: doc.ID, Body: body}
	if doc.ETag != "" {
		op.Kind, op.ETag = cosmos.OpReplace, string(doc.ETag)
	}
	return p.persist(ctx, func() error {
		_, err := p.leaseContainer.write(ctx, op)
		return err
	})
}

// createLeases makes the leases that the start document asks for, or what is
// missing of them when an instance was killed while it made them. Instances
// that start together make the same ones; should a split come between them,
// the parent's is found to be replaced: hence the document comes before the
// leases.
func (p *Processor) createLeases(ctx context.Context) error {
	leases, err := p.leases(ctx)
	if err != nil {
		return err
	}
	for _, gap := range uncovered(everything, rangesOf(leases)) {
		for _, at := range p.start.within(gap) {
			if err := p.persist(ctx, func() error { return p.store.create(ctx, at, "", p.start.properties()) }); err != nil {
				return fmt.Errorf("creating a lease: %w", err)
			}
		}
	}
	if err := p.persist(ctx, func() error { return p.store.setComplete(ctx) }); err != nil {
		return fmt.Errorf("noting that the leases exist: %w", err)
	}
	return nil
}
