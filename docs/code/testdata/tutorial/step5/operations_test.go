package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

func TestOperations(t *testing.T) {
	var (
		handler http.Handler
		log     bytes.Buffer
	)
	emulatortest.FX(t, fx.Options(service(slog.New(slog.NewJSONHandler(&log, nil)), noop.NewTracerProvider()), fx.Populate(&handler)))
	if ready := send(handler, "", "GET", "/ready", "", ""); ready.Code != http.StatusNoContent {
		t.Error("not ready:", ready.Code)
	}
	missing := send(handler, "acme", "GET", "/products/nowhere", "", "")
	if missing.Header().Get("Request-Charge") == "" || !strings.Contains(log.String(), `"status":404`) {
		t.Errorf("%v\n%s", missing.Header(), log.String())
	}
}
