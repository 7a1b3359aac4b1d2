package repository

import (
	"log/slog"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
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
