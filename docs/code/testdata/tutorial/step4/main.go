package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
)

// snippet: main

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	fx.New(service(), fx.Provide(client), serve(*listen)).Run() // until it is interrupted
}

// end snippet

// snippet: service

// service is everything but the account and the address.
func service() fx.Option {
	return fx.Options(
		fx.Provide(newHandler, slog.Default),
		registry.Module(registry.Config{Database: "shop", Provision: true}),
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
