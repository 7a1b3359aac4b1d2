// Command cosmosemu serves an emulated Azure Cosmos DB account to any client.
//
// It listens on one or more addresses, over HTTP or, with -tls, over HTTPS with a certificate of its own making, whose
// authority -ca-out writes to a file for clients to trust:
//
//	cosmosemu -listen localhost:8081,localhost:8903 -tls -ca-out ca.pem &
//	SSL_CERT_FILE=ca.pem go test ./...
//
// It prints a line that begins with "ready" when it answers requests, then lines for a shell to export. With -init and -seed it
// begins with databases, containers and items, with -v it writes a line for each request. GET /_health answers without a
// signature, and GET /_explorer/emulator.pem gives the certificate authority, as Microsoft's emulator does. It ends on SIGINT and SIGTERM after the requests
// that are being served. Port 8903 has the manners of the service's compute gateway, every other port those of its
// routing gateway, as in Microsoft's emulator.
//
// The commands export, import and health work on an account that runs already.
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
	for _, c := range commands() {
		if len(args) > 0 && args[0] == c.name {
			return c.perform(ctx, args[1:], stdout, stderr)
		}
	}
	c, err := parseArgs(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "cosmosemu:", err)
		return exitUsage
	}
	if err := serve(ctx, c, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "cosmosemu:", err)
		return exitFailure
	}
	return exitOK
}

// The exit statuses.
const (
	exitOK      = 0 // ended by a signal, or the command is done
	exitFailure = 1 // could not serve, or could not do what the command says
	exitUsage   = 2 // the flags are wrong
)
