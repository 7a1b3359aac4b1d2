package registry

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// ExportOptions change how a tenant is exported; nil is the defaults.
type ExportOptions struct {
	// Progress, where set, is called now and then.
	Progress func(TenantProgress)
}

// Exported says what an export wrote.
type Exported struct {
	// Documents counts the lines by entity type; "" are those without a type.
	Documents map[string]int64
	// Bytes is what was written.
	Bytes int64
}

const progressEvery = 500

// Export writes all documents of a tenant, one to a line as JSON, as they are
// stored but for the members that the service adds (_rid, _self, _etag,
// _attachments, _ts). Deleted documents that are still kept are among them.
// Memory is bounded by a page of documents. The order is that of the
// containers in the plan, and within one not defined. An export that was
// stopped is begun again.
func (t *Tenants) Export(ctx context.Context, tenant string, w io.Writer, opts *ExportOptions) (*Exported, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	out := &Exported{Documents: map[string]int64{}}
	lines := bufio.NewWriter(w)
	var progress TenantProgress
	for _, c := range t.contents() {
		progress.Container = c.id
		for raw, err := range c.Documents(ctx, tenant) {
			if err != nil {
				return out, err
			}
			if err := out.write(lines, raw); err != nil {
				return out, err
			}
			if progress.Documents++; opts != nil && opts.Progress != nil && progress.Documents%progressEvery == 0 {
				opts.Progress(progress)
			}
		}
	}
	if err := lines.Flush(); err != nil {
		return out, fmt.Errorf("registry: export: %w", err)
	}
	return out, nil
}

func (x *Exported) write(w io.Writer, raw json.RawMessage) error {
	stored, err := engine.WithoutSystemMembers(raw)
	if err != nil {
		return err
	}
	name := document.ReadHeader(stored).EntityType
	n, err := w.Write(append(stored, '\n'))
	x.Bytes += int64(n)
	if err != nil {
		return fmt.Errorf("registry: export: %w", err)
	}
	x.Documents[name]++
	return nil
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
