package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

// tenantOf stands for the verification of a token.
func tenantOf(r *http.Request) (string, error) {
	switch r.Header.Get("Authorization") {
	case "":
		return "", nil
	case "expired":
		return "", errors.New("SECRET")
	case "blocked":
		return "", &httpapi.Problem{Status: http.StatusForbidden, Code: "blocked"}
	}
	return r.Header.Get("Authorization"), nil
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := &Note{Title: "SECRET"}
	check(t, b.notes.In("acme").Create(t.Context(), note))
	mux := http.NewServeMux()
	mux.Handle("/notes/{id}", httpapi.JSON(http.StatusOK, func(_ http.ResponseWriter, r *http.Request) (any, error) {
		for range 3 {
			if _, err := b.notes.In("acme").Get(r.Context(), r.PathValue("id")); err != nil {
				return nil, err
			}
		}
		return "read", nil
	}))
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		httpapi.WriteError(w, r, repository.ErrNotFound)
	})
	mux.HandleFunc("GET /flush", func(w http.ResponseWriter, _ *http.Request) { check(t, http.NewResponseController(w).Flush()) })
	mux.HandleFunc("GET /nothing", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, tc := range []struct {
		name, method, path, tenant string
		cfg                        httpapi.Config
		status                     int
		charge, level, errorText   string
	}{
		{"a request of its tenant", "GET", "/notes/" + note.ID, "acme", httpapi.Config{}, 200, "3.00", "INFO", ""},
		{"a request of another tenant", "GET", "/notes/" + note.ID, "globex", httpapi.Config{}, 403, "0.00", "INFO", "tenant mismatch"},
		{"no tenant", "GET", "/notes/" + note.ID, "", httpapi.Config{}, 401, "0.00", "INFO", "names no tenant"},
		{"a proof that does not hold", "GET", "/notes/1", "expired", httpapi.Config{}, 401, "0.00", "INFO", "SECRET"},
		{"an answer of the application's own", "GET", "/notes/1", "blocked", httpapi.Config{}, 403, "0.00", "INFO", "Forbidden"},
		{"a tenant that can't be one", "GET", "/notes/1", "a/b", httpapi.Config{}, 400, "0.00", "INFO", "invalid tenant id"},
		{"over the budget", "GET", "/notes/" + note.ID, "acme", httpapi.Config{Budget: 1.5}, 422, "2.00", "INFO", "budget"},
		{"a change without If-Match", "PUT", "/notes/1", "acme", httpapi.Config{RequireIfMatch: true}, 428, "0.00", "INFO", "If-Match"},
		{"a read without If-Match", "GET", "/notes/" + note.ID, "acme", httpapi.Config{RequireIfMatch: true}, 200, "3.00", "INFO", ""},
		{"an error after the answer began", "GET", "/late", "acme", httpapi.Config{}, 202, "0.00", "INFO", "not found"},
		{"a flushed answer", "GET", "/flush", "acme", httpapi.Config{}, 200, "", "INFO", ""},
		{"an empty answer", "GET", "/nothing", "acme", httpapi.Config{}, 200, "", "INFO", ""},
		{"a panic", "GET", "/panic", "acme", httpapi.Config{}, 200, "", "ERROR", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			tc.cfg.Tenant, tc.cfg.ChargeHeader, tc.cfg.Logger = tenantOf, "Request-Charge", slog.New(slog.NewJSONHandler(&log, nil))
			r := httptest.NewRequest(tc.method, tc.path, nil)
			r.Header.Set("Authorization", tc.tenant)
			w := httptest.NewRecorder()
			func() {
				defer func() { _ = recover() }()
				httpapi.Middleware(tc.cfg)(mux).ServeHTTP(w, r)
			}()
			if w.Code != tc.status || w.Header().Get("Request-Charge") != tc.charge {
				t.Errorf("got %d and a charge of %q: %s", w.Code, w.Header().Get("Request-Charge"), w.Body)
			}
			if tc.status == 202 && w.Body.Len() > 0 {
				t.Errorf("a begun answer was written to: %s", w.Body)
			}
			if (w.Header().Get("WWW-Authenticate") != "") != (tc.status == 401) || strings.Contains(w.Body.String(), "SECRET") {
				t.Errorf("got %v and %s", w.Header(), w.Body)
			}
			var record struct {
				Level, Route, Tenant, Error string
				Status                      int
				RequestUnits                float64
				Panicked                    bool
			}
			check(t, json.Unmarshal(log.Bytes(), &record))
			if record.Level != tc.level || !strings.Contains(record.Error, tc.errorText) || tc.errorText == "" && record.Error != "" {
				t.Errorf("the log says %s", &log)
			}
			if record.Panicked != (tc.path == "/panic") || !record.Panicked && record.Status != tc.status {
				t.Errorf("the log says %s", &log)
			}
			if tc.status == 200 && (record.Route == "" || strings.Contains(log.String(), note.ID)) {
				t.Errorf("the log has no route, or the path: %s", &log)
			}
		})
	}
}

// A handler may go on when its answer was given by another one, as under
// http.TimeoutHandler, while its record is written.
func TestAHandlerThatGoesOn(t *testing.T) {
	t.Parallel()
	goOn, gone := make(chan struct{}), make(chan struct{})
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			defer close(gone)
			<-goOn
			httpapi.WriteError(httptest.NewRecorder(), r, repository.ErrNotFound)
		}()
		close(goOn)
	})
	var log bytes.Buffer
	handler := httpapi.Middleware(httpapi.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})(slow)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	<-gone
	if !strings.Contains(log.String(), `"status":`) {
		t.Errorf("the log says %s", &log)
	}
}

func TestMiddlewareWithoutAnything(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	handler := httpapi.Middleware(httpapi.Config{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, bound := repository.TenantFrom(r.Context()); bound {
			t.Error("the context is bound to a tenant that nobody named")
		}
	}))
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/", nil))
	if w.Code != http.StatusOK {
		t.Errorf("got %d", w.Code)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	mux := http.NewServeMux()
	mux.Handle("GET /notes/{id}", httpapi.JSON(http.StatusOK, func(_ http.ResponseWriter, r *http.Request) (any, error) {
		_, span := provider.Tracer("verbs").Start(r.Context(), "verb")
		span.End()
		return nil, errors.New("SECRET")
	}))
	r := httptest.NewRequest(http.MethodGet, "/notes/7", nil)
	r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	httpapi.Middleware(httpapi.Config{TracerProvider: provider})(mux).ServeHTTP(httptest.NewRecorder(), r)
	ended := spans.Ended()
	if len(ended) != 2 {
		t.Fatalf("%d spans", len(ended))
	}
	verb, request := ended[0], ended[1]
	if request.Name() != "GET /notes/{id}" || request.Status().Code != codes.Error || request.Parent().SpanID().String() != "b7ad6b7169203331" {
		t.Errorf("the span %q below %s, %v", request.Name(), request.Parent().SpanID(), request.Status())
	}
	if verb.Parent().SpanID() != request.SpanContext().SpanID() {
		t.Error("what a handler does is not below its request")
	}
	if text := fmt.Sprint(request.Attributes(), request.Status()); strings.Contains(text, "SECRET") || strings.Contains(text, "notes/7") || !strings.Contains(text, `{"http.route":"/notes/{id}"}`) {
		t.Errorf("the attributes are %s", text)
	}
}
