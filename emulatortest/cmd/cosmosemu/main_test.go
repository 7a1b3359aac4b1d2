package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// asCommand makes the test binary the command itself, so that tests have a real process to end.
const asCommand = "COSMOSEMU_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	if os.Getenv(asClient) != "" {
		os.Exit(connect())
	}
	goleak.VerifyTestMain(m)
}

func TestArgs(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		args []string
		exit int
		says string
	}{
		{"help", []string{"-help"}, 0, "cosmosemu serves an emulated Azure Cosmos DB account"},
		{"unknown flag", []string{"-nothing"}, 2, "-nothing"},
		{"argument", []string{"extra"}, 2, `unexpected argument "extra"`},
		{"address without port", []string{"-listen", "localhost"}, 2, `"localhost", which is no host:port`},
		{"authority without TLS", []string{"-ca-out", "x"}, 2, "-ca-out writes the authority of -tls"},
		{"no partitions", []string{"-partitions", "0"}, 2, "-partitions"},
		{"bad key", []string{"-listen", "127.0.0.1:0", "-key", "?"}, 2, "not base64"},
		{"no key", []string{"-listen", "127.0.0.1:0", "-key", ""}, 2, "not base64"},
		{"endpoint that is no URL", []string{"-listen", "127.0.0.1:0", "-endpoint", ":::"}, 2, "is no URL such as"},
		{"endpoint without a scheme", []string{"-listen", "127.0.0.1:0", "-endpoint", "localhost:8081"}, 2, "is no URL such as"},
		{"port out of range", []string{"-listen", "localhost:99999"}, 2, "from 0 to 65535"},
		{"bad consistency", []string{"-listen", "127.0.0.1:0", "-consistency", "Loose"}, 2, `"Loose" is no level`},
		{"address of nobody", []string{"-listen", "192.0.2.1:1", "-key", "c2VjcmV0"}, 1, "listen on 192.0.2.1:1"},
		{"published key on an address", []string{"-listen", "192.0.2.1:1"}, 2, "-let-anyone-in-with-the-published-key"},
		{"published key on all addresses", []string{"-listen", "localhost:8081,:8081"}, 2, "-let-anyone-in-with-the-published-key"},
		{"published key, allowed", []string{"-listen", "192.0.2.1:1", "-let-anyone-in-with-the-published-key"}, 1, "listen on 192.0.2.1:1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs strings.Builder
			if exit := run(t.Context(), c.args, &out, &errs); exit != c.exit || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit %d, said %q; want exit %d and %q", exit, errs.String(), c.exit, c.says)
			}
		})
	}
}

// start runs the command until the test ends and gives the URLs of its readiness line.
func start(t *testing.T, args ...string) []string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	done := make(chan int, 1)
	var errs strings.Builder
	go func() {
		done <- run(ctx, args, writer, &errs)
		_ = writer.Close() // never fails
	}()
	lines := bufio.NewScanner(reader)
	t.Cleanup(func() {
		stop()
		for lines.Scan() { // so that the command can write its last words
		}
		if exit := <-done; exit != 0 {
			t.Errorf("exit %d: %s", exit, errs.String())
		}
	})
	if !lines.Scan() {
		t.Fatalf("no readiness line: %s", errs.String())
	}
	rest, ok := strings.CutPrefix(lines.Text(), "ready ")
	if !ok {
		t.Fatalf("the first line is %q", lines.Text())
	}
	return strings.Fields(rest)
}

func TestServesPlainHTTP(t *testing.T) {
	t.Parallel()
	urls := start(t, "-listen", "127.0.0.1:0,127.0.0.1:0")
	if len(urls) != 2 {
		t.Fatalf("listens on %v", urls)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, url := range urls {
		wantUnauthorized(t, client, url)
	}
}

func TestServesTLSThatTheAuthorityVouchesFor(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.pem")
	urls := start(t, "-listen", "localhost:0", "-tls", "-ca-out", file)
	authority, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		t.Fatalf("%s holds no certificate", file)
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
	for _, url := range urls {
		wantUnauthorized(t, client, url)
	}
}

// wantUnauthorized asks for the account without signing, which tells that the emulator is there.
func wantUnauthorized(t *testing.T, client *http.Client, url string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), `"message"`) {
		t.Errorf("%s: %d %s", url, response.StatusCode, body)
	}
}

// TestCertificateIsWhereMicrosoftsEmulatorHasIt asks over a connection that trusts nobody yet, as a container's start script does.
func TestCertificateIsWhereMicrosoftsEmulatorHasIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.pem")
	secure := start(t, "-listen", "127.0.0.1:0", "-tls", "-ca-out", file)
	open := start(t, "-listen", "127.0.0.1:0")
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	get := func(url string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := get(secure[0] + "_explorer/emulator.pem"); status != http.StatusOK || body != string(want) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := get(open[0] + "_explorer/emulator.pem"); status != http.StatusNotFound || !strings.Contains(body, "-tls") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := get(open[0] + "_health"); status != http.StatusOK || !strings.Contains(body, "ok") {
		t.Errorf("%d %s", status, body)
	}
}
