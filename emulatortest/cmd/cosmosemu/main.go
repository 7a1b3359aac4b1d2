// Command cosmosemu serves an emulated Azure Cosmos DB account to any client.
//
// It listens on one or more addresses, over HTTP or, with -tls, over HTTPS with a certificate of its own making, whose
// authority -ca-out writes to a file for clients to trust:
//
//	cosmosemu -listen localhost:8081,localhost:8903 -tls -ca-out ca.pem &
//	SSL_CERT_FILE=ca.pem go test ./...
//
// It prints a line that begins with "ready" when it answers requests, and ends on SIGINT and SIGTERM after the requests
// that are being served. Port 8903 has the manners of the service's compute gateway, every other port those of its
// routing gateway, as in Microsoft's emulator.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is main with its surroundings handed in; it gives the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parseArgs(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "cosmosemu:", err)
		return 2
	}
	if err := serve(ctx, c, stdout); err != nil {
		fmt.Fprintln(stderr, "cosmosemu:", err)
		return 1
	}
	return 0
}
