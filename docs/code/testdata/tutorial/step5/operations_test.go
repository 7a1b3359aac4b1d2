package notes

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

func TestOperations(t *testing.T) {
	var (
		handler http.Handler
		log     bytes.Buffer
	)
	emulatortest.FX(t, fx.Options(Data, HTTP, Operations,
		fx.Provide(func() (*slog.Logger, trace.TracerProvider) {
			return slog.New(slog.NewJSONHandler(&log, nil)), noop.NewTracerProvider()
		}),
		fx.Populate(&handler),
	))
	ready := httptest.NewRecorder()
	handler.ServeHTTP(ready, httptest.NewRequest("GET", "/ready", nil))
	if ready.Code != http.StatusNoContent {
		t.Error("not ready:", ready.Code)
	}
	r := httptest.NewRequest("GET", "/notes/nowhere", nil)
	r.Header.Set("Authorization", "Bearer acme-token")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Header().Get("Request-Charge") == "" || !strings.Contains(log.String(), `"status":404`) {
		t.Errorf("%v\n%s", w.Header(), log.String())
	}
}
