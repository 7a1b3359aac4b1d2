// Command sample shows Grove at work.
//
//	go run ./sample               a tour: verbs, refusals, patterns, and their cost
//	go run ./sample -import DIR   a product catalogue in two models, and queries on it
//	go run ./sample/shop          a service over HTTP
//
// The first two print every step with its operation, its scope, its requests
// and its request units. Without further words they run on an embedded account
// that ends with the program. COSMOS_ENDPOINT (and COSMOS_KEY, or an identity
// that the Azure SDK finds), or COSMOS_CONNECTION_STRING, point them at
// another. The tour works in a database of its own there, which it deletes at
// its end; the catalogue stays in a database called grove-sample.
//
// The catalogue is Microsoft's CosmicWorks data in its normalised form, one
// JSON document a line: product.jsonl, productCategory.jsonl, productTag.jsonl
// and productTags.jsonl. It is stored for two tenants in one container, and in
// the three containers of the WebStore (docs/layouts.md), and both are compared.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/cosmosgrove/grove/sample/internal/account"
	"github.com/cosmosgrove/grove/sample/internal/catalog"
	"github.com/cosmosgrove/grove/sample/internal/report"
	"github.com/cosmosgrove/grove/sample/internal/tour"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, out, usage io.Writer) error {
	flags := flag.NewFlagSet("sample", flag.ContinueOnError)
	flags.SetOutput(usage)
	folder := flags.String("import", "", "import the CosmicWorks files of this `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not an argument (see -help)", flags.Arg(0))
	}
	at, err := account.Open(ctx, getenv)
	if err != nil {
		return err
	}
	defer at.Client.Close()
	r := report.New(out, getenv)
	if *folder != "" {
		return catalog.Run(ctx, at, *folder, r)
	}
	return tour.Run(ctx, at, r)
}
