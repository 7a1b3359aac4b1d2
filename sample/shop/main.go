package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// snippet: main

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	fx.New(service(slog.New(slog.NewJSONHandler(os.Stderr, nil)), otel.GetTracerProvider()), fx.Provide(client), serve(*listen)).Run()
}

// end snippet

// snippet: service

// service is everything but the account and the address. Where it has more
// than one process, give Config a CursorKey that they share.
func service(logger *slog.Logger, traces trace.TracerProvider) fx.Option {
	events := &fxevent.SlogLogger{Logger: logger}
	events.UseLogLevel(slog.LevelDebug) // errors are logged all the same
	return fx.Options(
		fx.WithLogger(func() fxevent.Logger { return events }),
		fx.Provide(func() (*slog.Logger, trace.TracerProvider) { return logger, traces }, newHandler),
		registry.Module(registry.Config{Database: "shop", Provision: true, Logger: logger, Telemetry: repository.Telemetry{TracerProvider: traces}}),
		registry.Entity[Product](registry.SoftDelete(30*24*time.Hour)),
		registry.Entity[Order](),
		denorm.Module,
		denorm.OnDelete[Order, Product]("productId", denorm.Restrict),
	)
}

// end snippet

// snippet: serve

// serve listens while the application runs. At its end, requests that are
// under way are answered before the database's own work stops.
func serve(address string) fx.Option {
	return fx.Invoke(func(lc fx.Lifecycle, handler http.Handler, end fx.Shutdowner, logger *slog.Logger) {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute}
		lc.Append(fx.StartStopHook(func(ctx context.Context) error {
			listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
			if err == nil {
				logger.InfoContext(ctx, "listening", "address", listener.Addr().String())
				go func() {
					if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
						logger.ErrorContext(ctx, "listening ended", "error", errors.Join(err, end.Shutdown(fx.ExitCode(1))))
					}
				}()
			}
			return err
		}, server.Shutdown))
	})
}

// end snippet
