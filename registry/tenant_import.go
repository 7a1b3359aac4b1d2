package registry

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// ImportOptions change how a tenant is imported; nil is the defaults.
type ImportOptions struct {
	// From is the tenant that the lines name, where they are to be stored under
	// another: a clone. Ids stay, so that references hold among the copies.
	// Defaults to the tenant that is imported.
	From string
	// Overwrite replaces documents that are there with other content. Without
	// it they stay as they are and are reported.
	Overwrite bool
	// AsStored stores documents whose members do not fit their fields, as
	// other writers may have left them and Export wrote them. Without it they are refused.
	AsStored bool
	// Container is where documents go whose entity type is missing or not
	// registered; their key has to be complete for it. Defaults to none:
	// they are refused.
	Container string
	// Skip passes over so many lines at the beginning, which an earlier run
	// had done with; see [Imported].Lines. Lines that were imported before are
	// recognised without it too, at the price of reading them.
	Skip int64
	// RequestUnitsPerSecond bounds what the import spends of the containers'
	// throughput. Defaults to no bound.
	RequestUnitsPerSecond float64
	// Line, where set, is told what became of each line that is not blank, in
	// their order but for those that are refused before anything is sent,
	// which are told first of every few hundred.
	Line func(ImportedLine)
	// Progress, where set, is called after every few hundred lines; its
	// Documents is a good Skip for another run.
	Progress func(TenantProgress)
}

// LineOutcome says what became of a line of an import.
type LineOutcome string

// The outcomes of a line. The first three are those of a document that is
// there now as the line has it.
const (
	LineCreated     LineOutcome = "created"     // it was not there
	LineUnchanged   LineOutcome = "unchanged"   // it was there with the same content, or an earlier line had it
	LineOverwritten LineOutcome = "overwritten" // it was there with another
	LineConflict    LineOutcome = "conflict"    // its id is taken, by a document with other content that was left
	LineNotUnique   LineOutcome = "not unique"  // another document of its logical partition has its value of a unique key
	LineRefused     LineOutcome = "refused"     // it can't be stored; Err says why
)

// ImportedLine is one line of an import.
type ImportedLine struct {
	// Line is its number, from 1.
	Line int64
	// ID and EntityType are the document's; empty where they can't be read.
	ID, EntityType string
	Outcome        LineOutcome
	// Err says why the document is not stored as the line has it; nil where it
	// is. It never quotes the line.
	Err error
}

// Imported is the receipt of an import.
type Imported struct {
	// Lines counts the lines that are done with, skipped and blank ones included.
	Lines int64
	// Created were not there. Unchanged were there with the same content.
	// Overwritten were there with another.
	Created, Unchanged, Overwritten int64
	// Conflicts are the ids of documents that were left as they are, by entity
	// type, a hundred of each at most; ConflictCount counts all of them.
	Conflicts     map[string][]string
	ConflictCount int64
	// NotUnique and Refused count the lines with these outcomes.
	NotUnique, Refused int64
	// NotStored are the first hundred lines that are not stored, conflicts included.
	NotStored []ImportedLine
	// Digest is that of the documents that are there now as their lines have
	// them, without skipped ones; it equals [Exported].Digest when all lines of
	// an export are, under the same tenant.
	Digest string
	// Requests and RequestUnits are what it cost.
	Requests     int64
	RequestUnits float64
}

// What becomes of a line decides importer in tenant_import_line.go; whether a document that is there is unchanged,
// overwritten or a conflict, insert in internal/engine/tenant_contents.go; and an id that is taken under
// a former name, refuseTaken in tenant_import_alias.go.

const (
	importPage       = 500
	importPageBytes  = 8 << 20
	maxConflictsKept = 100
	maxImportLine    = 2*tenantitem.MaxDocumentBytes + 64<<10
)

// Import stores documents as Export wrote them, zipped or not. Every line must be a document
// of that tenant (or of From) and of a registered entity type, which says the container; its
// time to live begins anew. Every member must fit its field, as in a write. Delete rules, copies and references are not
// looked at: what was consistent when it was exported is so again.
//
// A line that can't be stored is reported by its number, and the others go on:
// at the end there is an error that unwraps to what is wrong with the first
// lines, such as repository.ErrConflict, with a receipt that counts them all.
// Any other error ends the import where it is.
//
// It can be stopped and repeated: a line whose document is there with the same
// content counts as unchanged. Memory is bounded by a page of lines.
func (t *Tenants) Import(ctx context.Context, tenant string, r io.Reader, opts *ImportOptions) (*Imported, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	im := importer{tenants: t, tenant: tenant, from: tenant, out: &Imported{Conflicts: map[string][]string{}}}
	if opts != nil {
		im.opts = *opts
	}
	if im.opts.From != "" {
		if err := tenantitem.ValidateTenantID(im.opts.From); err != nil {
			return nil, err
		}
		im.from = im.opts.From
	}
	im.ordered, im.containers = t.contents(), map[string]tenantContainer{}
	for _, c := range im.ordered {
		im.containers[c.id] = c
	}
	if _, known := im.containers[im.opts.Container]; im.opts.Container != "" && !known {
		return nil, &tenantitem.InvalidError{What: "ImportOptions.Container", Reason: fmt.Sprintf("no registered entity type lives in %q", im.opts.Container), Hint: "name one of the plan's"}
	}
	ctx, err := paced(ctx, im.opts.RequestUnitsPerSecond)
	if err != nil {
		return nil, err
	}
	ctx, tally := repository.WithTally(ctx)
	err = im.run(ctx, r)
	im.out.Requests, im.out.RequestUnits = tally.Requests(), tally.RequestUnits()
	im.out.Digest = im.digest.String()
	return im.out, err
}

func (im *importer) run(ctx context.Context, r io.Reader) error {
	lines, err := newLineReader(r, maxImportLine)
	if err != nil {
		return fmt.Errorf("registry: import: %w", err)
	}
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			if err := im.flush(ctx); err != nil {
				return err
			}
			return im.verdict()
		case err != nil && !errors.Is(err, errLineTooLong):
			return errors.Join(im.flush(ctx), fmt.Errorf("registry: import: line %d: %w", im.read+1, err))
		}
		if im.read++; im.read <= im.opts.Skip {
			im.out.Lines = im.read
			continue
		}
		if err := im.add(ctx, line, err); err != nil {
			return err
		}
		if len(im.page) >= importPage || im.size >= importPageBytes {
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// verdict is the error at the end: what is wrong with the lines that are not
// stored.
func (im *importer) verdict() error {
	total := im.out.ConflictCount + im.out.NotUnique + im.out.Refused
	if total == 0 {
		return nil
	}
	errs := []error{fmt.Errorf("registry: import: %d of %d lines are not stored", total, im.out.Lines)}
	for _, line := range im.out.NotStored[:min(len(im.out.NotStored), maxLinesNamed)] {
		errs = append(errs, fmt.Errorf("line %d: %w", line.Line, line.Err))
	}
	return errors.Join(errs...)
}

// maxLinesNamed bounds an error's text; the receipt has more.
const maxLinesNamed = 10
