package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// command is what works on an endpoint that runs already, this emulator or any other account.
type command struct {
	name, argument, summary string
	run                     func(ctx context.Context, a *account, database, argument string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"export", "FOLDER", "writes databases into a folder: a container's properties, items and scripts as JSON lines",
			func(ctx context.Context, a *account, database, dir string, out io.Writer) error {
				n, err := a.export(ctx, database, dir)
				if err == nil {
					fmt.Fprintln(out, "exported", n)
				}
				return err
			}},
		{"import", "FOLDER", "reads such a folder: what is missing is made, items and scripts that exist are replaced",
			func(ctx context.Context, a *account, _, dir string, out io.Writer) error {
				n, err := a.load(ctx, dir)
				if err == nil {
					fmt.Fprintln(out, "imported", n)
				}
				return err
			}},
		{"health", "", "exits with 0 when an emulator answers, as container images ask for",
			func(ctx context.Context, a *account, _, _ string, out io.Writer) error { return a.health(ctx) }},
	}
}

// health asks whether an emulator answers.
func (a *account) health(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.endpoint+healthPath[1:], nil)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	response, err := a.send(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the emulator answers %d", response.StatusCode)
	}
	return nil
}

// perform runs a command; it gives the exit status.
func (c command) perform(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("cosmosemu "+c.name, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintf(stderr, "cosmosemu %s [flags] %s\n\n%s.\n\n", c.name, c.argument, c.summary)
		set.PrintDefaults()
	}
	endpoint := set.String("endpoint", "http://localhost:8081/", "`URL` of the account")
	key := set.String("key", emulator.DefaultKey, "account `key`, base64")
	authority := set.String("ca", "", "`file` with the certificate authority to trust")
	database := set.String("database", "", "the one `database` to export; without it all are")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitUsage
	}
	wanted := 0
	if c.argument != "" {
		wanted = 1
	}
	if set.NArg() != wanted {
		fmt.Fprintf(stderr, "cosmosemu %s takes %d argument(s) %s, not %d\n", c.name, wanted, c.argument, set.NArg())
		return exitUsage
	}
	client, err := trusting(*authority)
	if err == nil {
		defer client.CloseIdleConnections()
		var a *account
		if a, err = newAccount(*endpoint, *key, client.Do); err == nil {
			err = c.run(ctx, a, *database, set.Arg(0), stdout)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "cosmosemu %s: %v\n", c.name, err)
		return exitFailure
	}
	return exitOK
}

// trusting makes a client that trusts an authority besides those that the system does.
func trusting(authority string) (*http.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	if authority == "" {
		return client, nil
	}
	text, err := os.ReadFile(authority) //nolint:gosec // the file that the user named
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", authority)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return client, nil
}
