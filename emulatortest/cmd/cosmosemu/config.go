package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// config is what the command line asks for.
type config struct {
	addresses []string
	tls       bool
	caOut     string
	options   emulator.Options
}

const usage = `cosmosemu serves an emulated Azure Cosmos DB account (NoSQL API).

Usage:

  cosmosemu [flags]

  cosmosemu                                        plain HTTP on localhost:8081, in memory
  cosmosemu -tls -ca-out ca.pem                    HTTPS; clients trust it with SSL_CERT_FILE=ca.pem
  cosmosemu -listen localhost:8081,localhost:8903  the routing gateway and the compute gateway
  cosmosemu -data ./cosmos                         keeps the account in ./cosmos

Flags:

`

func parseArgs(args []string, stderr io.Writer) (*config, error) {
	c := &config{}
	var listen string
	set := flag.NewFlagSet("cosmosemu", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, usage)
		set.PrintDefaults()
	}
	set.StringVar(&listen, "listen", "localhost:8081", "`addresses` to listen on, separated by commas; port 0 takes a free one")
	set.BoolVar(&c.tls, "tls", false, "speak HTTPS, with a certificate made for this run")
	set.StringVar(&c.caOut, "ca-out", "", "`file` to write the certificate authority to, for clients to trust (needs -tls)")
	set.StringVar(&c.options.DataDir, "data", "", "`folder` that keeps the account; without it the account lives in memory")
	set.IntVar(&c.options.Partitions, "partitions", 1, "physical partitions of a new container")
	set.StringVar(&c.options.Key, "key", emulator.DefaultKey, "account `key`, base64")
	set.BoolVar(&c.options.EnforceThroughput, "throughput", false, "answer 429 above the provisioned request units a second")
	set.StringVar(&c.options.Endpoint, "endpoint", "", "`URL` that the account names as its own; by default the address that a client used")
	// Microsoft's emulators report Strong, and their clients' tests look for it.
	set.StringVar(&c.options.Consistency, "consistency", "Strong", "default consistency `level` that the account reports")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w (cosmosemu -help lists the flags)", err)
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q (cosmosemu takes flags only; see -help)", set.Arg(0))
	}
	return c, c.check(listen)
}

func (c *config) check(listen string) error {
	for address := range strings.SplitSeq(listen, ",") {
		address = strings.TrimSpace(address)
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("-listen has %q, which is no host:port: %w", address, err)
		}
		c.addresses = append(c.addresses, address)
	}
	if c.caOut != "" && !c.tls {
		return errors.New("-ca-out writes the authority of -tls: give both, or neither")
	}
	if c.options.Partitions < 1 {
		return errors.New("-partitions must be at least 1")
	}
	return nil
}
