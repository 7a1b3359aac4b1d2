package httpapi

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scopeName is what telemetry backends show as the instrumentation's name.
const scopeName = "github.com/cosmosgrove/grove/repository/httpapi"

func startSpan(r *http.Request, traces trace.TracerProvider) (*http.Request, trace.Span) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := traces.Tracer(scopeName).Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// endSpan names the span by the route, which a mux inside knows afterwards.
func (x *exchange) endSpan(r *http.Request, span trace.Span) {
	status := x.answered()
	span.SetAttributes(semconv.HTTPRequestMethodKey.String(r.Method), semconv.HTTPResponseStatusCode(status),
		attribute.Float64("grove.request_units", x.tally.RequestUnits()))
	if r.Pattern != "" {
		span.SetName(r.Pattern)
		if _, route, ok := strings.Cut(r.Pattern, "/"); ok {
			span.SetAttributes(semconv.HTTPRoute("/" + route))
		}
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
