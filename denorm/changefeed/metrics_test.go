package changefeed_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	b.fill(10)
	b.put("poison", "p", 1)
	reader := sdkmetric.NewManualReader()
	cfg := b.config("measured")
	cfg.Meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	cfg.MaxAttempts = 2
	p := b.processor(cfg, func(_ context.Context, changes []changefeed.Change) error {
		for _, c := range changes {
			if c.ID == "p" {
				return errors.New("poison")
			}
		}
		return nil
	})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := collect(t, reader)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The poisoned change failed with its page, and twice alone.
	want := map[string]int64{
		"grove.changefeed.changes.handled":     10,
		"grove.changefeed.changes.quarantined": 1,
		"grove.changefeed.handler.failures":    3,
		"grove.changefeed.lag":                 0,
		"grove.changefeed.stall":               0,
		"ranges with a lag":                    2,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if after := collect(t, reader); after["ranges with a lag"] != 0 {
		t.Errorf("a stopped processor reports the lag of %d ranges", after["ranges with a lag"])
	}
}

// collect adds up what the meters hold, by name.
func collect(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &metrics); err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					sums[m.Name] += point.Value
				}
			case metricdata.Gauge[float64]:
				for _, point := range data.DataPoints {
					sums[m.Name] += int64(point.Value)
				}
			case metricdata.Gauge[int64]:
				for _, point := range data.DataPoints {
					sums[m.Name] += point.Value
					sums["ranges with a lag"]++
				}
			}
		}
	}
	return sums
}

func logger(to *logged) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }
