package changefeed

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// metrics counts what an operator watches.
type metrics struct {
	handled, failed, quarantined counter
	lag                          metric.Int64ObservableGauge
	stall                        metric.Float64ObservableGauge
	meter                        metric.Meter
}

// counter adds with the processor's name attached.
type counter struct {
	metric.Int64Counter
	attributes metric.MeasurementOption
}

func (c counter) Add(ctx context.Context, n int64) { c.Int64Counter.Add(ctx, n, c.attributes) }

func newMetrics(cfg Config) (*metrics, error) {
	meter := cfg.Meters.Meter("github.com/cosmosgrove/grove/denorm/changefeed")
	attributes := metric.WithAttributes(attribute.String("grove.changefeed.processor", cfg.Name))
	handled, err1 := meter.Int64Counter("grove.changefeed.changes.handled", metric.WithUnit("{change}"), metric.WithDescription("Changes that the handler accepted."))
	failed, err2 := meter.Int64Counter("grove.changefeed.handler.failures", metric.WithUnit("{call}"), metric.WithDescription("Calls of the handler that returned an error."))
	quarantined, err3 := meter.Int64Counter("grove.changefeed.changes.quarantined", metric.WithUnit("{change}"), metric.WithDescription("Changes that were put into quarantine."))
	lag, err4 := meter.Int64ObservableGauge("grove.changefeed.lag", metric.WithUnit("{change}"), metric.WithDescription("Estimated changes of a range that are not handled yet."))
	stall, err5 := meter.Float64ObservableGauge("grove.changefeed.stall", metric.WithUnit("s"), metric.WithDescription("For how long a range has stood still because of an outage."))
	return &metrics{
		handled:     counter{handled, attributes},
		failed:      counter{failed, attributes},
		quarantined: counter{quarantined, attributes},
		lag:         lag, stall: stall, meter: meter,
	}, errors.Join(err1, err2, err3, err4, err5)
}

// watchRanges reports lag and stall of the ranges that run here whenever metrics are
// collected, from what the workers last read; nothing is sent.
func (p *Processor) watchRanges() (stop func(), err error) {
	registration, err := p.metrics.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, w := range p.workers {
			attributes := metric.WithAttributes(
				attribute.String("grove.changefeed.processor", p.cfg.Name),
				attribute.String("grove.changefeed.range", w.keys.String()),
			)
			o.ObserveInt64(p.metrics.lag, w.lag, attributes)
			var stood time.Duration
			if !w.stalledSince.IsZero() {
				stood = time.Since(w.stalledSince)
			}
			o.ObserveFloat64(p.metrics.stall, stood.Seconds(), attributes)
		}
		return nil
	}, p.metrics.lag, p.metrics.stall)
	if err != nil {
		return nil, err
	}
	return func() { _ = registration.Unregister() }, nil // it fails only for a foreign registration
}
