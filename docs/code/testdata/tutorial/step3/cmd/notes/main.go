// Command notes serves notes over HTTP.
package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"

	"example.com/notes"
)

func main() {
	fx.New(
		fx.Provide(client),
		notes.Data,
		notes.HTTP,
		fx.Invoke(serve),
	).Run() // until it is interrupted
}

func client() (*azcosmos.Client, error) {
	return registry.NewClient(context.Background(), registry.ClientConfig{})
}

func serve(lc fx.Lifecycle, handler http.Handler) {
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	lc.Append(fx.StartStopHook(func() error {
		listener, err := net.Listen("tcp", server.Addr)
		if err != nil {
			return err
		}
		go server.Serve(listener)
		return nil
	}, server.Shutdown))
}
