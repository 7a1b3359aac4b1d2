package registry

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// ExportOptions change how a tenant is exported; nil is the defaults.
type ExportOptions struct {
	// Gzip zips what is written. Import sees that by itself.
	Gzip bool
	// RequestUnitsPerSecond bounds what the export spends of the containers'
	// throughput. Defaults to no bound.
	RequestUnitsPerSecond float64
	// Progress, where set, is called now and then.
	Progress func(TenantProgress)
}

// Exported says what an export wrote.
type Exported struct {
	// Documents counts the lines by entity type; "" are those without a type.
	Documents map[string]int64
	// Bytes is what was written, before zipping.
	Bytes int64
	// Digest is that of the documents, in any order and without the service's
	// members, in hexadecimal: Import and [Tenants.Digest] give the same for the same
	// documents. It finds losses and changes by accident and is no signature.
	Digest string
	// Resumed counts the lines among Documents that an earlier run had written.
	Resumed int64
}

const progressEvery = 500

// Export writes all documents of a tenant, one to a line as JSON, as they are
// stored but for the members that the service adds (_rid, _self, _etag,
// _attachments, _ts). Deleted documents that are still kept are among them, and
// those that something else wrote. Memory is bounded by a page of documents.
// Parents come before their children, and what is not registered last; within
// an entity type the order is not defined. An export to a writer that was
// stopped is begun again; see [Tenants.ExportFile] for one that goes on.
func (t *Tenants) Export(ctx context.Context, tenant string, w io.Writer, opts *ExportOptions) (*Exported, error) {
	ctx, x, err := newExporter(ctx, t, tenant, w, opts)
	if err != nil {
		return nil, err
	}
	err = x.run(ctx)
	return x.done(), err
}

// exporter is an export under way.
type exporter struct {
	tenants    *Tenants
	tenant     string
	containers []tenantContainer
	opts       ExportOptions
	counts     exportCounts
	progress   TenantProgress

	plain  *bufio.Writer
	zipped *gzip.Writer // nil without
	target io.Writer

	// written says how many documents of a place an earlier run wrote; nil for none.
	written map[place]int
	resumed int64
}

// newExporter checks what an export is given, before anything is read.
func newExporter(ctx context.Context, t *Tenants, tenant string, w io.Writer, opts *ExportOptions) (context.Context, *exporter, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, nil, err
	}
	x := &exporter{tenants: t, tenant: tenant, containers: t.contents(), counts: newExportCounts(), target: w}
	if opts != nil {
		x.opts = *opts
	}
	ctx, err := paced(ctx, x.opts.RequestUnitsPerSecond)
	if err != nil {
		return nil, nil, err
	}
	if x.opts.Gzip {
		x.zipped = gzip.NewWriter(w)
		w = x.zipped
	}
	x.plain = bufio.NewWriter(w)
	return ctx, x, nil
}

func (x *exporter) done() *Exported {
	return &Exported{Documents: x.counts.documents, Bytes: x.counts.bytes, Digest: x.counts.digest.String(), Resumed: x.resumed}
}

// run writes the entity types of each depth in all containers, before those of
// the next.
func (x *exporter) run(ctx context.Context) error {
	var err error
	for _, step := range x.tenants.exportOrder() {
		if err = x.write(ctx, step); err != nil {
			break
		}
	}
	// What was read is written whatever happened, for another run to go on from.
	if closing := x.close(); closing != nil {
		err = errors.Join(err, fmt.Errorf("registry: export: %w", closing))
	}
	return err
}

func (x *exporter) close() error {
	if err := x.plain.Flush(); err != nil || x.zipped == nil {
		return err //nolint:wrapcheck // run says where
	}
	return x.zipped.Close() //nolint:wrapcheck // run says where
}

func (x *exporter) write(ctx context.Context, step exportStep) error {
	x.progress.Container = step.container.id
	for raw, err := range step.container.DocumentsWhere(ctx, x.tenant, step.query) {
		if err != nil {
			return err
		}
		if err := x.line(step.container, raw); err != nil {
			return err
		}
		if x.progress.Documents++; x.progress.Documents%progressEvery == 0 {
			if err := x.checkpoint(); err != nil {
				return err
			}
			if x.opts.Progress != nil {
				x.opts.Progress(x.progress)
			}
		}
	}
	return nil
}

// checkpoint ends a part of a zipped file, behind which another run can go on.
func (x *exporter) checkpoint() error {
	if err := x.close(); err != nil {
		return fmt.Errorf("registry: export: %w", err)
	}
	if x.zipped != nil {
		x.zipped.Reset(x.target)
	}
	return nil
}

func (x *exporter) line(container tenantContainer, raw json.RawMessage) error {
	stored, err := engine.WithoutSystemMembers(raw)
	if err != nil {
		return err
	}
	if x.hasWritten(container, stored) {
		return nil
	}
	x.counts.add(container.HeaderOf(stored).EntityType, stored)
	if _, err = x.plain.Write(append(stored, '\n')); err != nil {
		return fmt.Errorf("registry: export: %w", err)
	}
	return nil
}

// exportCounts are what the receipt of an export says of its lines.
type exportCounts struct {
	documents map[string]int64
	bytes     int64
	digest    setDigest
}

func newExportCounts() exportCounts { return exportCounts{documents: map[string]int64{}} }

func (c *exportCounts) add(entityType string, stored []byte) {
	c.bytes += int64(len(stored)) + 1
	c.documents[entityType]++
	c.digest.add(stored)
}

func (c *exportCounts) plus(other exportCounts) {
	c.bytes += other.bytes
	for entityType, n := range other.documents {
		c.documents[entityType] += n
	}
	c.digest.plus(other.digest)
}

// exportStep is some entity types in one container.
type exportStep struct {
	container tenantContainer
	query     engine.Query
}

// exportOrder puts parents before their children. Entity types that are each
// other's parents have no first among them.
func (t *Tenants) exportOrder() []exportStep {
	plan := t.db.plan
	byDepth := map[int][]*entity{}
	deepest := 0
	for _, s := range plan.entities {
		depth := plan.depthOf(s)
		byDepth[depth] = append(byDepth[depth], s)
		deepest = max(deepest, depth)
	}
	var steps []exportStep
	known := map[string][]string{}
	untyped := map[string]layout.Untyped{} // what documents without a type are, by container
	for depth := range deepest + 1 {
		for _, c := range t.contents() {
			var names []string
			all := layout.AlwaysTyped
			for _, s := range byDepth[depth] {
				if s.Container == c.id {
					names = append(append(names, s.EntityType), s.Aliases...)
					all = max(all, s.untyped())
				}
			}
			if len(names) > 0 {
				known[c.id], untyped[c.id] = append(known[c.id], names...), max(untyped[c.id], all)
				steps = append(steps, exportStep{c, ofTypes(names, all)})
			}
		}
	}
	for _, c := range t.contents() {
		if untyped[c.id] != layout.AllUntyped {
			steps = append(steps, exportStep{c, ofOtherTypes(known[c.id], untyped[c.id])})
		}
	}
	return steps
}

// ofTypes finds the documents of some entity types, and those without a type
// where they are of one of these.
func ofTypes(names []string, untyped layout.Untyped) engine.Query {
	condition := `ARRAY_CONTAINS(@grove_types, c["entityType"])`
	switch untyped {
	case layout.AllUntyped:
		return engine.All()
	case layout.SomeUntyped:
		condition += ` OR NOT IS_DEFINED(c["entityType"])`
	}
	return engine.SQL(condition, engine.P("grove_types", names))
}

// ofOtherTypes finds the documents of all other entity types, and of none.
func ofOtherTypes(names []string, untyped layout.Untyped) engine.Query {
	condition := `NOT (IS_STRING(c["entityType"]) AND ARRAY_CONTAINS(@grove_types, c["entityType"]))`
	if untyped == layout.SomeUntyped {
		condition += ` AND IS_DEFINED(c["entityType"])`
	}
	return engine.SQL(condition, engine.P("grove_types", names))
}

// depthOf counts the parents above an entity type, up to one that comes twice.
func (p *Plan) depthOf(s *entity) int {
	seen := []*entity{}
	for s.Parent != nil && !slices.Contains(seen, s) {
		seen = append(seen, s)
		parent, ok := p.entityOf(s.Parent)
		if !ok {
			break
		}
		s = parent
	}
	return len(seen)
}

// Digest reads all documents of a tenant and returns their digest, as Export
// gives it: the same for a tenant and for what was imported from it under the
// same id. It costs what an export does, about 1 RU for each KB.
func (t *Tenants) Digest(ctx context.Context, tenant string) (string, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return "", err
	}
	var d setDigest
	for _, c := range t.contents() {
		for raw, err := range c.Documents(ctx, tenant) {
			if err != nil {
				return "", err
			}
			d.add(raw)
		}
	}
	return d.String(), nil
}

// inPages collects what a sequence gives.
func inPages[T any](seq iter.Seq2[T, error], size int, take func([]T) error) error {
	page := make([]T, 0, size)
	for v, err := range seq {
		if err != nil {
			return err
		}
		if page = append(page, v); len(page) == size {
			if err := take(page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	if len(page) == 0 {
		return nil
	}
	return take(page)
}

func ignoreAmbiguous(err error) error {
	if errors.Is(err, repository.ErrAmbiguous) {
		return nil
	}
	return err
}
