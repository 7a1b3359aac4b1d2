package registry

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// ImportOptions change how a tenant is imported; nil is the defaults.
type ImportOptions struct {
	// Overwrite replaces documents that are there with other content. Without
	// it they stay as they are and are reported.
	Overwrite bool
	// Skip passes over so many lines at the beginning, which an earlier run
	// had settled; see [Imported].Lines. Lines that were imported before are
	// recognised without it too, at the price of reading them.
	Skip int64
	// Progress, where set, is called after every few hundred lines; its
	// Documents is a good Skip for another run.
	Progress func(TenantProgress)
}

// Imported says what an import did.
type Imported struct {
	// Lines counts the lines that are settled, skipped ones included.
	Lines int64
	// Created were not there. Unchanged were there with the same content.
	// Overwritten were there with another.
	Created, Unchanged, Overwritten int64
	// Conflicts are the ids of documents that were left as they are, by entity
	// type, a hundred of each at most; ConflictCount counts all of them.
	Conflicts     map[string][]string
	ConflictCount int64
}

const (
	importPage       = 500
	importPageBytes  = 8 << 20
	maxConflictsKept = 100
	maxImportLine    = 2*tenantitem.MaxDocumentBytes + 64<<10
)

// Import stores documents as Export wrote them. Every line must be a document
// of that tenant and of a registered species, which says the container; its
// time to live begins anew. Every member must fit its field, as in a write. Delete rules, copies and references are not
// looked at: what was consistent when it was exported is so again.
//
// It can be stopped and repeated: a line whose document is there with the same
// content counts as unchanged. A line that can't be stored ends the import with
// an error that names its number; the lines before it are stored. Conflicts
// are reported, and are repository.ErrConflict at the end.
func (t *Tenants) Import(ctx context.Context, tenant string, r io.Reader, opts *ImportOptions) (*Imported, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	im := importer{tenants: t, tenant: tenant, out: &Imported{Conflicts: map[string][]string{}}}
	if opts != nil {
		im.opts = *opts
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxImportLine)
	read := int64(0)
	for lines.Scan() {
		if read++; read <= im.opts.Skip {
			im.out.Lines = read
			continue
		}
		if err := im.add(lines.Bytes()); err != nil {
			return im.out, errors.Join(im.flush(ctx), fmt.Errorf("registry: import: line %d: %w", read, err))
		}
		if len(im.page) >= importPage || im.size >= importPageBytes {
			if err := im.flush(ctx); err != nil {
				return im.out, err
			}
		}
	}
	if err := im.flush(ctx); err != nil {
		return im.out, err
	}
	if err := lines.Err(); err != nil {
		return im.out, fmt.Errorf("registry: import: line %d: %w", read+1, err)
	}
	if im.out.ConflictCount > 0 {
		return im.out, fmt.Errorf("registry: import: %d documents: %w with other content (pass Overwrite to replace them)", im.out.ConflictCount, repository.ErrConflict)
	}
	return im.out, nil
}

type importer struct {
	tenants *Tenants
	tenant  string
	opts    ImportOptions
	out     *Imported
	page    []importLine
	size    int
}

type importLine struct {
	species *Species
	body    []byte
}

// add checks a line and keeps it for the next flush.
func (im *importer) add(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		im.page = append(im.page, importLine{}) // it counts, and holds nothing
		return nil
	}
	var head struct {
		TenantID   string `json:"tenantId"`
		EntityType string `json:"entityType"`
	}
	if err := engine.DecodeValue(line, &head); err != nil {
		return errors.Join(tenantitem.ErrInvalid, err)
	}
	if head.TenantID != im.tenant {
		return repository.ErrTenantMismatch
	}
	i := slices.IndexFunc(im.tenants.db.plan.species, func(s *Species) bool {
		return s.EntityType == head.EntityType || slices.Contains(s.Aliases, head.EntityType)
	})
	if i < 0 {
		return &tenantitem.InvalidError{What: "document", Reason: fmt.Sprintf("its entityType %q is not registered", head.EntityType), Hint: "register it, as registry.Named's alias if it was renamed"}
	}
	species := im.tenants.db.plan.species[i]
	body, err := engine.WithoutSystemMembers(line)
	if err != nil {
		return errors.Join(tenantitem.ErrInvalid, err)
	}
	if len(body) > tenantitem.MaxDocumentBytes {
		return repository.ErrTooLarge
	}
	if err := codec.CheckStored(species.untyped.Model().Type, body); err != nil {
		return &tenantitem.InvalidError{What: "document", Reason: err.Error(), Hint: "give each member a value that its field can hold"}
	}
	if _, _, err := species.untyped.Contents().KeyOf(body); err != nil {
		return err
	}
	im.page = append(im.page, importLine{species, body})
	im.size += len(body)
	return nil
}

// flush stores the kept lines.
func (im *importer) flush(ctx context.Context) error {
	byName := map[*Species][][]byte{}
	var order []*Species
	for _, line := range im.page {
		if line.species == nil {
			continue
		}
		if byName[line.species] == nil {
			order = append(order, line.species)
		}
		byName[line.species] = append(byName[line.species], line.body)
	}
	progress := TenantProgress{}
	for _, s := range order {
		loaded, err := s.untyped.Contents().Insert(ctx, byName[s], im.opts.Overwrite)
		im.out.count(s, loaded)
		if err != nil {
			return err
		}
		progress.Container = s.Container
	}
	im.out.Lines += int64(len(im.page))
	im.page, im.size = nil, 0
	if progress.Documents = im.out.Lines; im.opts.Progress != nil {
		im.opts.Progress(progress)
	}
	return nil
}

func (i *Imported) count(s *Species, l engine.Loaded) {
	i.Created += int64(l.Created)
	i.Unchanged += int64(l.Unchanged)
	i.Overwritten += int64(l.Overwritten)
	i.ConflictCount += int64(len(l.Conflicts))
	kept := i.Conflicts[s.EntityType]
	if room := maxConflictsKept - len(kept); len(l.Conflicts) > 0 && room > 0 {
		i.Conflicts[s.EntityType] = append(kept, l.Conflicts[:min(room, len(l.Conflicts))]...)
	}
}
