package main

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// config is what the command line asks for.
type config struct {
	addresses []string
	tls       bool
	caOut     string
	seed      string
	init      string
	verbose   bool
	options   emulator.Options
}

const usage = `cosmosemu serves an emulated Azure Cosmos DB account (NoSQL API).

Usage:

  cosmosemu [flags]
  cosmosemu export|import|health [flags] ...       work on an account that runs; see cosmosemu export -help

  cosmosemu                                        plain HTTP on localhost:8081, in memory
  cosmosemu -tls -ca-out ca.pem                    HTTPS; clients trust it with SSL_CERT_FILE=ca.pem
  cosmosemu -listen localhost:8081,localhost:8903  the routing gateway and the compute gateway
  cosmosemu -data ./cosmos                         keeps the account in ./cosmos
  cosmosemu -init shop.json -seed ./shop -v        with databases, containers and items, and a log of requests

It exits with 0 after SIGINT or SIGTERM, with 1 when it fails and with 2 when the flags are wrong.

Flags:

`

func parseArgs(args []string, stderr io.Writer) (*config, error) {
	c := &config{}
	c.options.LowerCaseHeaders = true // as HTTP/2 has them, and as an SDK looks for them that keeps headers in a plain map
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
	set.StringVar(&c.init, "init", "", "JSON `file` of databases and containers to make when they are missing")
	set.StringVar(&c.seed, "seed", "", "`folder` of items and scripts to load, as cosmosemu export writes it")
	set.BoolVar(&c.verbose, "v", false, "write a line for each request to the standard error")
	set.IntVar(&c.options.Partitions, "partitions", 1, "physical partitions of a new container")
	set.StringVar(&c.options.Key, "key", emulator.DefaultKey, "account `key`, base64")
	set.BoolVar(&c.options.EnforceThroughput, "throughput", false, "answer 429 above the provisioned request units a second")
	set.StringVar(&c.options.Endpoint, "endpoint", "", "`URL` that the account names as its own; by default the address that a client used")
	set.BoolVar(&c.options.LetAnyoneIn, letAnyoneIn, false, "take the published account key, which is no secret, from the network as well: whoever reaches the port may do everything")
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

// letAnyoneIn is the flag without which the published key is good on this machine only.
const letAnyoneIn = "let-anyone-in-with-the-published-key"

// isLoopback reports whether only this machine can reach an address of that host. A name other than localhost is taken for one that others
// know.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func (c *config) check(listen string) error {
	for address := range strings.SplitSeq(listen, ",") {
		address = strings.TrimSpace(address)
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("-listen has %q, which is no host:port: %w", address, err)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("-listen has %q, whose port is no number from 0 to 65535", address)
		}
		if !isLoopback(host) && c.options.Key == emulator.DefaultKey && !c.options.LetAnyoneIn {
			return fmt.Errorf("-listen has %q, which others can reach, and the account key is the published one: give another with -key, or allow it with -%s", address, letAnyoneIn)
		}
		c.addresses = append(c.addresses, address)
	}
	if c.caOut != "" && !c.tls {
		return errors.New("-ca-out writes the authority of -tls: give both, or neither")
	}
	if c.options.Partitions < 1 {
		return errors.New("-partitions must be at least 1")
	}
	if key, err := base64.StdEncoding.DecodeString(c.options.Key); err != nil || len(key) == 0 {
		return errors.New("-key is not base64, as account keys are")
	}
	if !slices.Contains(consistencies(), c.options.Consistency) {
		return fmt.Errorf("-consistency %q is no level: it is one of %s", c.options.Consistency, strings.Join(consistencies(), ", "))
	}
	if u, err := url.Parse(c.options.Endpoint); c.options.Endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("-endpoint %q is no URL such as http://localhost:8081/", c.options.Endpoint)
	}
	return nil
}

func consistencies() []string {
	return []string{"Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"}
}
