package denorm

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// A document that something else wrote may hold members that do not fit its
// struct: a text where its lines should be, a number where a copy should. Such
// a member is left as it is and told of, and everything else is kept up to date: the
// document's other members, and other documents that follow from it. The change of
// the document itself fails after that (correctThemselves in follow.go), so that it
// ends in the feed's quarantine, from which it can be replayed once it was repaired.
// Where it was only looked at for a change of its source, nothing fails. So it is with a document that the
// service refuses for what would be copied into it, such as one that would grow beyond 2 MB, or in a full logical partition (patch in
// patch_documents.go). Any other failure fails the change: handle in keeper.go says which ones pass and are waited out;
// the rest is tried Config.MaxAttempts times and put into quarantine (handleAlone in changefeed/quarantine.go).

// unrepairableReporter tells an operator of documents that can't be kept.
type unrepairableReporter struct {
	logger *slog.Logger
	count  metric.Int64Counter

	mu       sync.Mutex
	reported map[string]bool // by document version and member
}

// maxReported bounds the memory of what was reported.
const maxReported = 10_000

func newUnrepairableReporter(logger *slog.Logger, meters metric.MeterProvider) (*unrepairableReporter, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if meters == nil {
		meters = noop.NewMeterProvider()
	}
	count, err := meters.Meter("github.com/cosmosgrove/grove/denorm").Int64Counter("grove.denorm.documents.skipped",
		metric.WithUnit("{document}"), metric.WithDescription("Documents whose copies, counts or links can't be kept, because something else wrote a member that does not fit, or because there is no room for what they would grow by."))
	return &unrepairableReporter{logger: logger, count: count, reported: map[string]bool{}}, err
}

// skip tells of the unrepairable ones among findings, once for each version of a
// document, and returns the others and the first reason that lies in a document of
// this type.
func (u *unrepairableReporter) skip(ctx context.Context, typ *entityType, tenant string, found []finding) (sound []finding, first error) {
	for _, f := range found {
		if f.unrepairable == nil {
			continue
		}
		of, message := typ, "document skipped: a copy in it can't be kept"
		if f.of != nil {
			of, message = f.of, "document skipped: another one can't show it"
		} else if first == nil {
			first = f.unrepairable
		}
		if u.isNew(f.doc.ID + "\x00" + f.doc.ETag + "\x00" + f.pointer) {
			u.count.Add(ctx, 1, metric.WithAttributes(attribute.String("grove.entity_type", of.name())))
			u.logger.WarnContext(ctx, message, "entityType", of.name(), "tenant", tenant, "id", f.doc.ID, "field", f.pointer, "error", f.unrepairable)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return f.unrepairable != nil }), first
}

func (u *unrepairableReporter) isNew(key string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.reported[key] {
		return false
	}
	if len(u.reported) >= maxReported {
		clear(u.reported)
	}
	u.reported[key] = true
	return true
}
