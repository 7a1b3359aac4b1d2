package notes

import (
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

// Operations adds what those who run the service ask for: a line in the log and a trace for each request, and
// GET /ready for the load balancer.
var Operations = fx.Options(
	fx.Decorate(func(cfg httpapi.Config, logger *slog.Logger, traces trace.TracerProvider) httpapi.Config {
		cfg.Logger, cfg.TracerProvider, cfg.ChargeHeader = logger, traces, "Request-Charge"
		return cfg
	}),
	fx.Decorate(func(notes http.Handler, db *registry.Database) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/", notes)
		mux.Handle("GET /ready", httpapi.JSON(http.StatusNoContent, func(_ http.ResponseWriter, r *http.Request) (any, error) {
			return nil, db.Health(r.Context())
		}))
		return mux
	}),
)
