package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Telemetry says where a repository reports what it does: one span and one
// point in each histogram for every verb, under the names of OpenTelemetry's
// conventions for database clients, and events to a logger. The zero value
// reports to OpenTelemetry's global providers, which do nothing until the
// application sets them, and logs nothing.
//
// The histograms are db.client.operation.duration (seconds) and
// azure.cosmosdb.client.operation.request_charge (RU). Attributes name the
// container, the operation, the entity type and how it failed; never an id, a
// value or a statement.
type Telemetry struct {
	// TracerProvider makes the spans. Defaults to otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider makes the histograms. Defaults to otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// Logger hears of reads across partitions, throttling, repeated requests
	// and costly queries. Defaults to none.
	Logger *slog.Logger
	// Tenant adds the tenant as the attribute grove.tenant.id to spans, points
	// and events. Many tenants make many time series. Defaults to false.
	Tenant bool
	// CostlyQuery is the charge, in RU, from which on a query is reported to
	// Logger. Defaults to 100.
	CostlyQuery float64
}

// scopeName is what telemetry backends show as the instrumentation's name.
const scopeName = "github.com/cosmosgrove/grove/repository"

const defaultCostlyQuery = 100

// reporter is a Telemetry in use.
type reporter struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
	charge   metric.Float64Histogram
	logger   *slog.Logger
	tenant   bool
	costly   float64
}

func newReporter(t Telemetry) (*reporter, error) {
	if t.TracerProvider == nil {
		t.TracerProvider = otel.GetTracerProvider()
	}
	if t.MeterProvider == nil {
		t.MeterProvider = otel.GetMeterProvider()
	}
	if t.CostlyQuery == 0 {
		t.CostlyQuery = defaultCostlyQuery
	}
	meter := t.MeterProvider.Meter(scopeName, metric.WithSchemaURL(semconv.SchemaURL))
	duration, err := meter.Float64Histogram("db.client.operation.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of database client operations."),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10))
	if err != nil {
		return nil, fmt.Errorf("make the duration histogram: %w", err)
	}
	charge, err := meter.Float64Histogram("azure.cosmosdb.client.operation.request_charge",
		metric.WithUnit("{request_unit}"), metric.WithDescription("Request units consumed by the operation."),
		metric.WithExplicitBucketBoundaries(1, 5, 10, 25, 50, 100, 250, 500, 1000))
	if err != nil {
		return nil, fmt.Errorf("make the request charge histogram: %w", err)
	}
	return &reporter{
		tracer:   t.TracerProvider.Tracer(scopeName, trace.WithSchemaURL(semconv.SchemaURL)),
		duration: duration, charge: charge, logger: t.Logger, tenant: t.Tenant, costly: t.CostlyQuery,
	}, nil
}

// watch observes one verb.
type watch struct {
	context  context.Context // the verb's own, for what is reported at its end
	span     trace.Span
	began    time.Time
	tally    *Tally
	throttle atomic.Int64
	repeat   atomic.Int64
}

// Begin starts to observe a verb, where telemetry is on. The returned
// context is for everything that the verb does.
func (k *Call) Begin(ctx context.Context) context.Context {
	r := k.Collection.reporter
	under, span := r.tracer.Start(ctx, k.Op+" "+cosmos.ContainerID(k.Collection.Container), trace.WithSpanKind(trace.SpanKindClient))
	if !span.IsRecording() && r.logger == nil && !r.duration.Enabled(ctx) && !r.charge.Enabled(ctx) {
		return ctx
	}
	k.Watch = &watch{span: span, began: time.Now()}
	under, k.Watch.tally = WithTally(under)
	k.Watch.context = under
	return under
}

// End closes what begin started and returns the verb's error as fail does.
func (k *Call) End(err error) error {
	err = k.Fail(err)
	if k.Watch == nil {
		return err
	}
	r, w := k.Collection.reporter, k.Watch
	units, requests := w.tally.RequestUnits(), w.tally.Requests()
	attributes := append(k.attributes(), errorAttributes(err)...)
	if w.span.IsRecording() {
		w.span.SetAttributes(attributes...)
		w.span.SetAttributes(
			semconv.AzureCosmosDBOperationRequestCharge(units),
			attribute.Int64("grove.requests", requests),
			attribute.Int64("grove.throttled", w.throttle.Load()),
			attribute.Int64("grove.repeated", w.repeat.Load()),
		)
		if err != nil {
			w.span.SetStatus(codes.Error, errorType(err))
		}
	}
	set := metric.WithAttributeSet(attribute.NewSet(attributes...))
	r.duration.Record(w.context, time.Since(w.began).Seconds(), set)
	r.charge.Record(w.context, units, set)
	if isQuery(k.Op) {
		cost := []slog.Attr{slog.Float64("requestUnits", units), slog.Int64("requests", requests)}
		if !k.At.Full && requests > 0 {
			k.log(slog.LevelInfo, "read across partitions", append(cost, slog.String("scope", k.At.Describe()))...)
		}
		if units >= r.costly {
			k.log(slog.LevelWarn, "costly query", cost...)
		}
	}
	w.span.End()
	return err
}

// attributes are what every report about the verb carries.
func (k *Call) attributes() []attribute.KeyValue {
	out := []attribute.KeyValue{
		semconv.DBSystemNameAzureCosmosDB,
		semconv.DBOperationName(operationName(k.Op)),
		semconv.DBCollectionName(cosmos.ContainerID(k.Collection.Container)),
		attribute.String("grove.entity.type", k.Collection.entityType),
	}
	if k.Collection.reporter.tenant && k.At.Tenant != "" {
		out = append(out, attribute.String("grove.tenant.id", k.At.Tenant))
	}
	return out
}

func errorAttributes(err error) []attribute.KeyValue {
	if err == nil {
		return nil
	}
	out := []attribute.KeyValue{semconv.ErrorTypeKey.String(errorType(err))}
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		out = append(out, semconv.DBResponseStatusCode(strconv.Itoa(response.StatusCode)))
		if sub := cosmos.SubstatusOf(response); sub != 0 {
			out = append(out, semconv.AzureCosmosDBResponseSubStatusCode(sub))
		}
	}
	return out
}

// errorType names an error in a few fixed words.
func errorType(err error) string {
	for _, kind := range []error{
		ErrAmbiguous, ErrInvalid, ErrNotFound, ErrConflict, ErrPreconditionFailed, ErrTenantMismatch, ErrEntityMismatch,
		ErrTooLarge, ErrThrottled, ErrBudget, ErrUnsupported, ErrDanglingRef, ErrHasChildren, ErrReferenced, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if status := StatusOf(err); status != 0 {
		return strconv.Itoa(status)
	}
	return "other"
}

// operationName is a verb under the name that the conventions give it, or in
// their manner.
func operationName(op string) string {
	switch op {
	case "Get", "Exists":
		return "read_item"
	case "GetMany":
		return "read_many_items"
	case "Create":
		return "create_item"
	case "Replace":
		return "replace_item"
	case "Save":
		return "save_item"
	case "Upsert":
		return "upsert_item"
	case "Mutate":
		return "mutate_item"
	case "Patch":
		return "patch_item"
	case "Delete":
		return "delete_item"
	case "Batch":
		return "execute_batch"
	case "SaveAll", "DeleteAll":
		return "execute_bulk"
	case "PlanDelete":
		return "plan_delete"
	case "Restore":
		return "restore_item"
	case "Purge":
		return "purge_item"
	}
	return "query_items"
}

func isQuery(op string) bool { return operationName(op) == "query_items" }

// noteThrottled reports a refusal for lack of throughput.
func (k *Call) noteThrottled(err error) {
	if k.throttled != nil && StatusOf(err) != statusSessionBehind {
		k.throttled()
	}
	if k.Watch == nil {
		return
	}
	k.Watch.throttle.Add(1)
	k.log(slog.LevelWarn, "throttled", slog.Int("status", StatusOf(err)), slog.Duration("retryAfter", retryAfter(err)))
}

// noteRepeated reports a request that was not answered.
func (k *Call) noteRepeated(err error) {
	if k.Watch == nil {
		return
	}
	k.Watch.repeat.Add(1)
	k.log(slog.LevelWarn, "no usable answer", slog.Int("status", StatusOf(err)))
}

func (k *Call) log(level slog.Level, message string, attrs ...slog.Attr) {
	logger := k.Collection.reporter.logger
	if logger == nil || !logger.Enabled(k.Watch.context, level) {
		return
	}
	about := []slog.Attr{
		slog.String("operation", k.Op), slog.String("container", cosmos.ContainerID(k.Collection.Container)), slog.String("entityType", k.Collection.entityType),
	}
	if k.Collection.reporter.tenant && k.At.Tenant != "" {
		about = append(about, slog.String("tenant", k.At.Tenant))
	}
	logger.LogAttrs(k.Watch.context, level, message, append(about, attrs...)...)
}
