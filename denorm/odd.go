package denorm

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// A document that something else wrote may hold members that do not fit its
// struct: a text where its lines should be, a number where a copy should. Such
// a member is left as it is and told of; everything else goes on.

// oddities tells an operator of documents that can't be kept.
type oddities struct {
	logger *slog.Logger
	count  metric.Int64Counter

	mu   sync.Mutex
	told map[string]bool // by document version and member
}

// maxTold bounds the memory of what was told.
const maxTold = 10_000

func newOddities(logger *slog.Logger, meters metric.MeterProvider) (*oddities, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if meters == nil {
		meters = noop.NewMeterProvider()
	}
	count, err := meters.Meter("github.com/cosmosgrove/grove/denorm").Int64Counter("grove.denorm.documents.skipped",
		metric.WithUnit("{document}"), metric.WithDescription("Documents whose copies, counts or links can't be kept, because something else wrote a member that does not fit."))
	return &oddities{logger: logger, count: count, told: map[string]bool{}}, err
}

// skip tells of the odd ones among findings, once for each version of a
// document, and returns the others and the first reason.
func (o *oddities) skip(ctx context.Context, m *member, tenant string, found []finding) (sound []finding, first error) {
	for _, f := range found {
		if f.odd == nil {
			continue
		}
		if first == nil {
			first = f.odd
		}
		if o.isNew(f.doc.ID + "\x00" + f.doc.ETag + "\x00" + f.pointer) {
			o.count.Add(ctx, 1, metric.WithAttributes(attribute.String("grove.entity_type", m.name())))
			o.logger.WarnContext(ctx, "document skipped: a copy in it can't be kept", "entityType", m.name(), "tenant", tenant, "id", f.doc.ID, "field", f.pointer, "error", f.odd)
		}
	}
	if first == nil {
		return found, nil
	}
	return slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return f.odd != nil }), first
}

func (o *oddities) isNew(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told[key] {
		return false
	}
	if len(o.told) >= maxTold {
		clear(o.told)
	}
	o.told[key] = true
	return true
}

// write applies patches. One that the service refuses for what its document
// is, such as one that would grow beyond 2 MB, is returned as odd and stops no
// other; so does one that another writer was faster than, which is neither
// done nor odd.
func (m *member) write(ctx context.Context, patches []engine.DocumentPatch) (done []engine.Stub, odd []finding, err error) {
	if len(patches) == 0 {
		return nil, nil, nil
	}
	done, err = m.docs.PatchDocuments(ctx, patches)
	if err == nil || !isRefusal(err) {
		return done, nil, err
	}
	for _, p := range patches {
		if slices.ContainsFunc(done, func(s engine.Stub) bool { return sameDocument(s.ID, s.Key, p.Document) }) {
			continue
		}
		one, err := m.docs.PatchDocuments(ctx, []engine.DocumentPatch{p})
		switch {
		case err == nil:
			done = append(done, one...)
		case isRefusal(err):
			for _, set := range p.Sets {
				odd = append(odd, finding{doc: p.Document, field: set.Pointer, pointer: set.Pointer, odd: err})
			}
		default:
			return done, odd, err
		}
	}
	return done, odd, nil
}

func sameDocument(id string, key []any, d engine.Document) bool {
	return id == d.ID && slices.Equal(key, d.Key)
}

// isRefusal reports whether an error says that nothing was changed because of
// what was to be written.
func isRefusal(err error) bool {
	if errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
		return false
	}
	var at *repository.BatchError
	if errors.As(err, &at) {
		return at.Status == http.StatusBadRequest || at.Status == http.StatusRequestEntityTooLarge
	}
	return errors.Is(err, repository.ErrInvalid) || errors.Is(err, repository.ErrTooLarge)
}
