package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
)

// What is answered without a signature: whether the emulator is there, and the certificate where Microsoft's emulator has it.
const (
	healthPath      = "/_health"
	certificatePath = "/_explorer/emulator.pem"
)

// door answers what needs no signature and hands on the rest.
func door(authority []byte, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == healthPath:
			send(w, "application/json", []byte(`{"status":"ok"}`+"\n"))
		case r.URL.Path == certificatePath && authority != nil:
			send(w, "application/x-pem-file", authority)
		case r.URL.Path == certificatePath:
			http.Error(w, "There is no certificate: the emulator speaks plain HTTP. Start it with -tls.", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func send(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // a client that went away misses it
}

// announce prints what a shell, a test or a person needs to reach the emulator: the line that it is ready, then lines to export.
func announce(out io.Writer, c *config, urls []string) {
	fmt.Fprintln(out, "ready", strings.Join(urls, " "))
	endpoint := urls[0]
	if c.options.Endpoint != "" {
		endpoint = c.options.Endpoint
	}
	export := func(name, text string) {
		fmt.Fprintf(out, "export %s='%s'\n", name, strings.ReplaceAll(text, "'", `'\''`))
	}
	export("COSMOS_ENDPOINT", endpoint)
	export("COSMOS_KEY", c.options.Key)
	exportAuthority(out, c, endpoint, export)
	export("COSMOS_CONNECTION_STRING", "AccountEndpoint="+endpoint+";AccountKey="+c.options.Key+";")
}

// exportAuthority says how clients come to trust the certificate.
func exportAuthority(out io.Writer, c *config, endpoint string, export func(name, text string)) {
	switch {
	case !c.tls:
		return
	case c.caOut == "":
		fmt.Fprintf(out, "# clients have to trust the certificate: start with -ca-out FILE for lines to export, or fetch it from %s\n",
			strings.TrimSuffix(endpoint, "/")+certificatePath)
		return
	}
	path := c.caOut
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"} {
		export(name, path)
	}
	fmt.Fprintln(out, "# on macOS and Windows Go asks the system instead of SSL_CERT_FILE: add the file to its trusted certificates")
}
