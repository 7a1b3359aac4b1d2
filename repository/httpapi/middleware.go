package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Config is what [Middleware] does for each request. The zero value counts
// the cost of a request and does nothing else.
type Config struct {
	// Tenant returns the tenant of a request, from what the request proves:
	// a verified token or certificate, and never a path or a header that the
	// client may choose. The context is bound to it (repository.WithTenant).
	// An error ends the request with 401, or with the status of a [*Problem];
	// an empty tenant does too. Defaults to none: the context is not bound.
	Tenant func(*http.Request) (string, error)
	// Budget is how many request units one request may use, as in
	// repository.WithBudget. Defaults to any number.
	Budget float64
	// RequireIfMatch answers a PUT, PATCH or DELETE without the header
	// If-Match with 428, before the handler: no client overwrites what it has
	// not read. Defaults to false.
	RequireIfMatch bool
	// ChargeHeader is the name of a header of the answer that holds the request
	// units used until the answer began. Defaults to none.
	ChargeHeader string
	// TracerProvider makes a span for each request, named by its method and
	// route, below the one that the caller names in traceparent; the spans of
	// verbs are below it. Defaults to none, as with otelhttp around this.
	TracerProvider trace.TracerProvider
	// Logger gets one record for each request, of level Error from status 500
	// on: method, route (the mux's pattern, not the path), status, duration,
	// tenant, requests and request units, and the error's text. Defaults to
	// none.
	Logger *slog.Logger
}

// Middleware returns what wraps the handlers of a service: it binds the
// context of every request to its tenant and its budget, and reports what the
// request cost. Put what needs no tenant, such as a readiness probe, outside.
func Middleware(cfg Config) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			ctx, tally := cfg.count(r.Context())
			seen := &exchange{ResponseWriter: w, tally: tally, chargeHeader: cfg.ChargeHeader}
			ctx = context.WithValue(ctx, exchangeKey{}, seen)
			r = r.WithContext(ctx)
			if cfg.Logger != nil {
				defer func() { seen.log(r, cfg.Logger, began) }()
			}
			if cfg.TracerProvider != nil {
				var span trace.Span
				r, span = startSpan(r, cfg.TracerProvider)
				defer func() { seen.endSpan(r, span) }()
			}
			r, err := cfg.admit(r)
			if err != nil {
				WriteError(seen, r, err)
			} else {
				next.ServeHTTP(seen, r)
			}
			seen.returned = true
		})
	}
}

// count counts what is done under a request, within its budget.
func (cfg *Config) count(ctx context.Context) (context.Context, *repository.Tally) {
	if cfg.Budget == 0 {
		return repository.WithTally(ctx)
	}
	return repository.WithBudget(ctx, cfg.Budget)
}

// admit decides whether a request reaches its handler.
func (cfg *Config) admit(r *http.Request) (*http.Request, error) {
	if cfg.Tenant != nil {
		tenant, err := cfg.Tenant(r)
		var problem *Problem
		switch {
		case errors.As(err, &problem):
			return r, err
		case err != nil || tenant == "":
			return r, &Problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "the request names no tenant that it may act for", Err: err}
		}
		if err := tenantitem.ValidateTenantID(tenant); err != nil {
			return r, err
		}
		r = r.WithContext(repository.WithTenant(r.Context(), tenant))
	}
	if cfg.RequireIfMatch && changes(r.Method) && len(r.Header.Values("If-Match")) == 0 {
		return r, &Problem{Status: http.StatusPreconditionRequired, Code: "precondition-required", Detail: "send If-Match with the ETag of what was read"}
	}
	return r, nil
}

// changes reports the methods that change what is there.
func changes(method string) bool {
	return method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete
}

type exchangeKey struct{}

// exchange is a request under way and what is known of its answer.
type exchange struct {
	http.ResponseWriter
	tally        *repository.Tally
	chargeHeader string
	returned     bool // the handler did not panic

	// A handler may go on when the request was answered, as under
	// http.TimeoutHandler.
	mu     sync.Mutex
	status int // 0 until the answer began
	err    error
}

// begin notes the status of the answer, and reports whether it begins with it.
func (x *exchange) begin(status int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status != 0 || status < http.StatusOK {
		return false
	}
	x.status = status
	return true
}

// said is what is known of the answer.
func (x *exchange) said() (status int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status, x.err
}

// Unwrap lets http.ResponseController find the writer below.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader notes the status, and says what was used up so far.
func (x *exchange) WriteHeader(status int) {
	if x.begin(status) && x.chargeHeader != "" {
		x.Header().Set(x.chargeHeader, strconv.FormatFloat(x.tally.RequestUnits(), 'f', 2, 64))
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write begins the answer where WriteHeader was not called.
func (x *exchange) Write(body []byte) (int, error) {
	if status, _ := x.said(); status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	return x.ResponseWriter.Write(body)
}

// note keeps the error of a request for its record in the log, and reports
// whether it is too late to answer with it.
func note(r *http.Request, err error) (begun bool) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = err
	return x.status != 0
}

// answered is the status of the answer, once the handler has returned.
func (x *exchange) answered() int {
	status, _ := x.said()
	switch {
	case !x.returned:
		return http.StatusInternalServerError
	case status == 0:
		return http.StatusOK
	}
	return status
}

func (x *exchange) log(r *http.Request, logger *slog.Logger, began time.Time) {
	status := x.answered()
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", r.Pattern), slog.Int("status", status),
		slog.Duration("duration", time.Since(began)),
		slog.Int64("requests", x.tally.Requests()), slog.Float64("requestUnits", x.tally.RequestUnits()),
	}
	if tenant, bound := repository.TenantFrom(r.Context()); bound {
		attrs = append(attrs, slog.String("tenant", tenant))
	}
	if !x.returned {
		attrs = append(attrs, slog.Bool("panicked", true))
	}
	if _, err := x.said(); err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	logger.LogAttrs(r.Context(), level, "request", attrs...)
}
