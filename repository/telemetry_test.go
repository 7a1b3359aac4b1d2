package repository_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

func TestSpansAndPointsOfVerbs(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	spans := tracetest.NewSpanRecorder()
	reader := sdkmetric.NewManualReader()
	notes := newRepository(t, b.container, repository.Config{Telemetry: repository.Telemetry{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	}})
	acme, ctx := notes.In("acme"), t.Context()
	n := &Note{Title: "secret title"}
	must(t, acme.Create(ctx, n))
	_, err := acme.Get(ctx, n.ID)
	must(t, err)
	if _, err := acme.Get(ctx, "missing"); !errors.Is(err, repository.ErrNotFound) {
		t.Fatal(err)
	}
	for _, err := range acme.Query(ctx, repository.Where(repository.Eq("title", "secret title"))) {
		must(t, err)
	}
	_, err = acme.SaveAll(ctx, slices.Values(notesFrom(3)), nil)
	must(t, err)
	_, err = acme.PlanDelete(ctx, n.ID)
	must(t, err)

	want := []struct {
		name, operation string
		failed          string
	}{
		{"Create main", "create_item", ""},
		{"Get main", "read_item", ""},
		{"Get main", "read_item", "not found"},
		{"Query main", "query_items", ""},
		{"SaveAll main", "execute_bulk", ""},
		{"PlanDelete main", "plan_delete", ""},
	}
	ended := spans.Ended()
	if len(ended) != len(want) {
		t.Fatalf("%d spans", len(ended))
	}
	for i, span := range ended {
		set := attribute.NewSet(span.Attributes()...)
		text := func(key string) string { v, _ := set.Value(attribute.Key(key)); return v.AsString() }
		if span.Name() != want[i].name || text("db.operation.name") != want[i].operation || text("error.type") != want[i].failed ||
			text("db.system.name") != "azure.cosmosdb" || text("db.collection.name") != "main" || text("grove.entity.type") != "Note" {
			t.Errorf("span %d: %s %v", i, span.Name(), span.Attributes())
		}
		if charge, _ := set.Value("azure.cosmosdb.operation.request_charge"); charge.AsFloat64() <= 0 {
			t.Errorf("span %d has no charge", i)
		}
		if (span.Status().Code == codes.Error) != (want[i].failed != "") {
			t.Errorf("span %d: status %v", i, span.Status())
		}
		if dump := fmt.Sprint(span.Attributes()); strings.Contains(dump, "secret") || strings.Contains(dump, "acme") || strings.Contains(dump, n.ID) {
			t.Errorf("span %d tells too much: %s", i, dump)
		}
	}
	points := map[string]uint64{}
	var collected metricdata.ResourceMetrics
	must(t, reader.Collect(ctx, &collected))
	for _, m := range collected.ScopeMetrics[0].Metrics {
		for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
			points[m.Name] += p.Count
		}
	}
	if points["db.client.operation.duration"] != 6 || points["azure.cosmosdb.client.operation.request_charge"] != 6 {
		t.Errorf("points: %v", points)
	}
}

func TestEventsForTheLogger(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	var text bytes.Buffer
	notes := newRepository(t, b.container, repository.Config{Telemetry: repository.Telemetry{
		Logger: slog.New(slog.NewTextHandler(&text, nil)), Tenant: true, CostlyQuery: 5,
	}})
	acme, ctx := notes.In("acme"), t.Context()
	logged := func(want string) {
		t.Helper()
		if !strings.Contains(text.String(), want) {
			t.Errorf("want %q in the log, got %q", want, text.String())
		}
		text.Reset()
	}
	n := &Note{Title: "secret title"}
	must(t, acme.Create(ctx, n))
	_, err := acme.Get(ctx, n.ID)
	must(t, err)
	if text.Len() != 0 {
		t.Errorf("plain work is logged: %s", text.String())
	}
	b.emulator.Fault(emulator.Throttle(0).On(emulator.ReadItem))
	_, err = acme.Get(ctx, n.ID)
	must(t, err)
	logged("msg=throttled operation=Get container=main entityType=Note tenant=acme status=429")
	b.emulator.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadItem))
	_, err = acme.Get(ctx, n.ID)
	must(t, err)
	logged(`msg="no usable answer"`)
	_, err = notes.AllTenants().Count(ctx, repository.All())
	must(t, err)
	logged(`msg="read across partitions" operation=Count`)
	_, err = acme.SaveAll(ctx, slices.Values(notesFrom(1000)), nil)
	must(t, err)
	for _, err := range acme.Query(ctx, repository.Where(repository.Gt("title", "secret"))) {
		must(t, err)
	}
	for _, err := range acme.Query(ctx, repository.All()) {
		must(t, err)
	}
	if strings.Contains(text.String(), "secret") {
		t.Errorf("a value is logged: %s", text.String())
	}
	logged(`msg="costly query"`)
}

func TestBudgetStopsAQuery(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	input := notesFrom(4000)
	for _, n := range input {
		n.Tags = []string{strings.Repeat("x", 2000)}
	}
	_, err := b.acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	ctx, whole := repository.WithTally(t.Context())
	for _, err := range b.acme.Query(ctx, repository.All()) {
		must(t, err)
	}
	ctx, tally := repository.WithBudget(t.Context(), 50)
	var last error
	for _, err := range b.acme.Query(ctx, repository.All()) {
		last = err
	}
	if !errors.Is(last, repository.ErrBudget) {
		t.Fatalf("the query ended with %v after %s", last, tally)
	}
	if tally.RequestUnits() < 50 || tally.RequestUnits() > 75 {
		t.Errorf("a budget of 50 RU stopped a query of %.0f RU at %s", whole.RequestUnits(), tally)
	}
	if err := b.acme.Create(ctx, &Note{Title: "y"}); !errors.Is(err, repository.ErrBudget) {
		t.Errorf("a write without a budget left: %v", err)
	}
}
