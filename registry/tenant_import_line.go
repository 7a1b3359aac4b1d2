package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// importer is an import under way. What becomes of a line: check refuses what is of another tenant,
// type or key; flush stores the rest, by Insert in tenant_contents.go of internal/engine, which reports what is
// there already; refuseTaken (tenant_import_alias.go) finds ids that are taken under a former name.
type importer struct {
	tenants      *Tenants
	tenant, from string
	opts         ImportOptions
	ordered      []tenantContainer // in the order of the plan
	containers   map[string]tenantContainer
	out          *Imported
	digest       setDigest

	read  int64 // lines
	page  []importLine
	taken map[string]bool // the places of the page's documents
	size  int
	lines int64 // read since the last flush
}

type importLine struct {
	ImportedLine
	container string
	body      []byte
	entity    *entity // nil where it is not registered
	key       []any
}

// add checks a line and keeps it for the next flush.
func (im *importer) add(ctx context.Context, line []byte, readErr error) error {
	line = bytes.TrimSpace(line)
	next := importLine{ImportedLine: ImportedLine{Line: im.read}}
	if len(line) == 0 && readErr == nil {
		im.lines++
		return nil // it counts, and holds nothing
	}
	err := readErr
	var place string
	if err == nil {
		place, err = im.check(&next, line)
	}
	if err != nil {
		im.lines++
		next.Outcome, next.Err = LineRefused, err
		im.countLine(next.ImportedLine)
		return nil //nolint:nilerr // the line has its outcome, and the rest goes on
	}
	if im.taken[place] { // two operations of one batch can't be about one document
		if err := im.flush(ctx); err != nil {
			return err
		}
	}
	if im.taken == nil {
		im.taken = map[string]bool{}
	}
	im.taken[place] = true
	im.lines++
	im.page = append(im.page, next)
	im.size += len(next.body)
	return nil
}

// check fills the line in, and returns what no other document has.
func (im *importer) check(line *importLine, raw []byte) (place string, err error) {
	var head struct {
		ID any `json:"id"`
	}
	if err := engine.DecodeValue(raw, &head); err != nil {
		known := document.ReadHeader(raw) // of text that is none, too
		line.ID, line.EntityType = known.ID, known.EntityType
		return "", &tenantitem.InvalidError{What: "document", Reason: err.Error(), Hint: "write one JSON object to a line"}
	}
	line.ID, _ = head.ID.(string)
	entity, header := im.entityOf(raw)
	line.EntityType = header.EntityType
	if header.TenantID != im.from {
		return "", repository.ErrTenantMismatch
	}
	body, err := engine.WithoutSystemMembers(raw)
	if err != nil {
		return "", &tenantitem.InvalidError{What: "document", Reason: err.Error(), Hint: "write one JSON object to a line"}
	}
	if im.from != im.tenant {
		give := im.containers[im.opts.Container].UnderTenant
		if entity != nil {
			give = entity.Collection.UnderTenant
		} else if im.opts.Container == "" {
			return "", notRegistered(header.EntityType)
		}
		if body, err = give(body, im.tenant); err != nil {
			return "", &tenantitem.InvalidError{What: "document", Reason: err.Error(), Hint: "write one JSON object to a line, under the key that its members make"}
		}
	}
	if len(body) > tenantitem.MaxDocumentBytes {
		return "", repository.ErrTooLarge
	}
	if line.container, err = im.containerOf(entity, line.EntityType, body); err != nil {
		return "", err
	}
	id, key, err := im.containers[line.container].KeyOf(body)
	if err != nil {
		return "", err
	}
	line.body, line.entity, line.key = body, entity, key
	if entity != nil {
		key = entity.Collection.UnderPresentName(key)
	}
	return fmt.Sprintf("%s %#v %s", line.container, key, id), nil
}

// entityOf finds the registered entity type of a line, by the names of its
// container, and the line's header by the same names. What says its type comes
// first: a document of one container may look like one without a type in another.
func (im *importer) entityOf(raw []byte) (*entity, document.Header) {
	found := document.ReadHeader(raw)
	for _, says := range []bool{true, false} {
		for _, c := range im.ordered {
			if c.SaysType(raw) != says {
				continue
			}
			header := c.HeaderOf(raw)
			if s := im.tenants.db.plan.named(c.id, header.EntityType); s != nil && header.TenantID != "" && (says || c.canHold(raw)) {
				return s, header
			}
			if header.TenantID == im.from && (found.TenantID != im.from || c.id == im.opts.Container) {
				found = header
			}
		}
	}
	return nil, found
}

// canHold reports whether a document has the key of a container.
func (c tenantContainer) canHold(raw []byte) bool {
	_, _, err := c.KeyOf(raw)
	return err == nil
}

// named is the entity type of a container that has that name; nil for none.
func (p *Plan) named(container, entityType string) *entity {
	i := slices.IndexFunc(p.entities, func(s *entity) bool {
		return s.Container == container && (s.EntityType == entityType || slices.Contains(s.Aliases, entityType))
	})
	if i < 0 {
		return nil
	}
	return p.entities[i]
}

func notRegistered(entityType string) error {
	return &tenantitem.InvalidError{What: "document", Reason: fmt.Sprintf("its entityType %q is not registered", entityType), Hint: "register it, as registry.Named's alias if it was renamed, or set ImportOptions.Container"}
}

// containerOf is where a document goes.
func (im *importer) containerOf(entity *entity, entityType string, body []byte) (string, error) {
	if entity == nil {
		if im.opts.Container == "" {
			return "", notRegistered(entityType)
		}
		return im.opts.Container, nil
	}
	if im.opts.AsStored {
		return entity.Container, nil
	}
	doc, err := entity.Collection.Canonical(body)
	if err == nil {
		err = codec.CheckStored(entity.Collection.Model().Type, doc)
	}
	if err != nil {
		return "", &tenantitem.InvalidError{What: "document", Reason: err.Error(), Hint: "give each member a value that its field can hold, or set ImportOptions.AsStored"}
	}
	return entity.Container, nil
}

// flush stores the kept lines.
func (im *importer) flush(ctx context.Context) error {
	byContainer := map[string][]int{}
	var order []string
	for i, line := range im.page {
		if byContainer[line.container] == nil {
			order = append(order, line.container)
		}
		byContainer[line.container] = append(byContainer[line.container], i)
	}
	var failed error
	progress := TenantProgress{}
	for _, id := range order {
		lines, err := im.refuseTaken(ctx, byContainer[id])
		if failed = err; failed != nil {
			break
		}
		bodies := make([][]byte, 0, len(lines))
		for _, i := range lines {
			bodies = append(bodies, im.page[i].body)
		}
		outcomes, err := im.containers[id].Insert(ctx, bodies, im.opts.Overwrite)
		for n, i := range lines {
			im.page[i].became(outcomes[n])
		}
		progress.Container = id
		if failed = err; failed != nil {
			break
		}
	}
	for _, line := range im.page {
		if line.Outcome == "" {
			continue // not tried
		}
		if line.Err == nil {
			im.digest.add(line.body)
		}
		im.countLine(line.ImportedLine)
	}
	if failed != nil {
		return failed
	}
	im.out.Lines += im.lines
	im.page, im.size, im.lines, im.taken = nil, 0, 0, nil
	if progress.Documents = im.out.Lines; im.opts.Progress != nil {
		im.opts.Progress(progress)
	}
	return nil
}

// became notes what the insert made of the line.
func (l *importLine) became(o engine.InsertOutcome) {
	switch o {
	case engine.InsertCreated:
		l.Outcome = LineCreated
	case engine.InsertUnchanged:
		l.Outcome = LineUnchanged
	case engine.InsertOverwritten:
		l.Outcome = LineOverwritten
	case engine.InsertConflict:
		l.Outcome = LineConflict
		l.Err = fmt.Errorf("%w with other content (pass Overwrite to replace it)", repository.ErrConflict)
	case engine.InsertNotUnique:
		l.Outcome = LineNotUnique
		l.Err = fmt.Errorf("%w: another document of its logical partition has its value of a unique key", repository.ErrConflict)
	case engine.InsertRefused:
		l.Outcome = LineRefused
		l.Err = &tenantitem.InvalidError{What: "document", Reason: "the service refuses it", Hint: "look at its id, its key and its ttl"}
	case engine.InsertUnknown:
	}
}

// countLine counts a line whose outcome is known.
func (im *importer) countLine(line ImportedLine) {
	out := im.out
	switch line.Outcome {
	case LineCreated:
		out.Created++
	case LineUnchanged:
		out.Unchanged++
	case LineOverwritten:
		out.Overwritten++
	case LineConflict:
		out.ConflictCount++
		if kept := out.Conflicts[line.EntityType]; len(kept) < maxConflictsKept {
			out.Conflicts[line.EntityType] = append(kept, line.ID)
		}
	case LineNotUnique:
		out.NotUnique++
	case LineRefused:
		out.Refused++
	}
	if line.Err != nil && len(out.NotStored) < maxConflictsKept {
		out.NotStored = append(out.NotStored, line)
	}
	if im.opts.Line != nil {
		im.opts.Line(line)
	}
}

// String is one line for a log.
func (l ImportedLine) String() string {
	text := "line " + strconv.FormatInt(l.Line, 10) + ": " + string(l.Outcome)
	if l.ID != "" {
		text += fmt.Sprintf(" %s %q", l.EntityType, l.ID)
	}
	if l.Err != nil {
		text += ": " + l.Err.Error()
	}
	return text
}
