package main

import (
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

// start runs the service on a fresh account in the test's own process.
func start(t *testing.T, more ...fx.Option) *emulatortest.Emulator {
	return emulatortest.FX(t, fx.Options(service(slog.New(slog.DiscardHandler), noop.NewTracerProvider()), fx.Options(more...)))
}
