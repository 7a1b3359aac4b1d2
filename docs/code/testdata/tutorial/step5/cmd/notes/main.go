// Command notes serves notes over HTTP.
package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"

	"example.com/notes"
)

func main() {
	fx.New(
		fx.Provide(client, func() (*slog.Logger, trace.TracerProvider) {
			return slog.New(slog.NewJSONHandler(os.Stderr, nil)), otel.GetTracerProvider()
		}),
		notes.Data,
		notes.Comments,
		notes.HTTP,
		notes.Operations,
		fx.Invoke(serve),
	).Run() // until it is interrupted
}

func client() (*azcosmos.Client, error) {
	return registry.NewClient(context.Background(), registry.ClientConfig{})
}

// serve listens while the application runs. At its end, requests that are under way are answered before the
// database's own work stops.
func serve(lc fx.Lifecycle, handler http.Handler) {
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute}
	lc.Append(fx.StartStopHook(func() error {
		listener, err := net.Listen("tcp", server.Addr)
		if err != nil {
			return err
		}
		go server.Serve(listener)
		return nil
	}, server.Shutdown))
}
