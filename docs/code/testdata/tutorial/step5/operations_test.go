package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

// lines are those of a log, which is written to while the test reads.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestOperations(t *testing.T) {
	var handler http.Handler
	log := make(lines, 1000)
	emulatortest.FX(t, fx.Options(service(slog.New(slog.NewJSONHandler(log, nil)), noop.NewTracerProvider()), fx.Populate(&handler)))
	if ready := send(handler, "", "GET", "/ready", "", ""); ready.Code != http.StatusNoContent {
		t.Error("not ready:", ready.Code)
	}
	missing := send(handler, "acme", "GET", "/products/nowhere", "", "")
	if missing.Header().Get("Request-Charge") == "" {
		t.Error("the client is not told what it used:", missing.Header())
	}
	logged := false
	for range len(log) {
		logged = strings.Contains(<-log, `"status":404`) || logged
	}
	if !logged {
		t.Error("no line of the log says what became of it")
	}
}
