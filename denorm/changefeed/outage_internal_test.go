package changefeed

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

func get(ctx context.Context, url string, header http.Header) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if header != nil {
		req.Header = header
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.ReadAll(resp.Body)
	return errors.Join(err, resp.Body.Close())
}

// What a handler reads in a document can't pass, however much it looks like the network.
func TestErrorsThatLieInOneDocument(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	t.Cleanup(srv.Close)
	for name, fails := range map[string]func() error{
		"url.Parse":                func() error { _, err := url.Parse(strings.TrimSuffix("http://[fe80]", "]")); return err },
		"a request without URL":    func() error { return get(ctx, "http://[fe80", nil) },
		"another scheme":           func() error { return get(ctx, "htp://example.com", nil) },
		"no host":                  func() error { return get(ctx, "http:///path", nil) },
		"no port":                  func() error { return get(ctx, "http://127.0.0.1:99999/", nil) },
		"a header of two lines":    func() error { return get(ctx, "http://example.com", http.Header{"X": {"a\r\nb"}}) },
		"a method that is none":    func() error { _, err := http.NewRequestWithContext(ctx, "a b", "http://example.com", nil); return err },
		"an address that is none":  func() error { _, err := new(net.Dialer).DialContext(ctx, "tcp", "nobody"); return err },
		"a network that is none":   func() error { _, err := new(net.Dialer).DialContext(ctx, "tpc", "127.0.0.1:1"); return err },
		"a name of empty labels":   func() error { return get(ctx, "http://a..b/", nil) },
		"a label too long":         func() error { return get(ctx, "http://"+strings.Repeat("a", 64)+".example/", nil) },
		"a name too long":          func() error { return get(ctx, "http://"+strings.Repeat("abcdefgh.", 35)+"example/", nil) },
		"an address of no number":  func() error { return get(ctx, "http://256.1.1.1/", nil) },
		"an address cut short":     func() error { _, err := new(net.Dialer).DialContext(ctx, "tcp", "10.1.2.:80"); return err },
		"an address too long":      func() error { _, err := new(net.Resolver).LookupHost(ctx, "1.2.3.4.5"); return err },
		"a name with a space":      func() error { _, err := new(net.Dialer).DialContext(ctx, "tcp", "my host:80"); return err },
		"a name that is looked up": func() error { _, err := new(net.Resolver).LookupHost(ctx, "-a-.example"); return err },
		"an address looked up":     func() error { _, err := new(net.Resolver).LookupAddr(ctx, "nobody"); return err },
		"a port that is none":      func() error { _, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:htttp"); return err },
		"a body of another length": func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, strings.NewReader("abc"))
			if err != nil {
				return err
			}
			req.ContentLength = 5
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				return resp.Body.Close()
			}
			return err
		},
		"a decoder's cut text": func() error { var v any; return json.NewDecoder(strings.NewReader(`{"a":`)).Decode(&v) },
		"a cut text":           func() error { var v any; return json.Unmarshal([]byte(`{"a":`), &v) },
		"cut base64": func() error {
			_, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, strings.NewReader("QUJDR")))
			return err
		},
	} {
		for wrapping, err := range map[string]error{"bare": fails(), "wrapped": fmt.Errorf("handling: %w", fails()), "joined": errors.Join(errors.New("x"), fails())} {
			if err == nil || passes(err) {
				t.Errorf("%s, %s: %v passes", name, wrapping, err)
			}
			if err != nil && !passes(errors.Join(err, Transient(errors.New("x")))) {
				t.Errorf("%s, %s: a mark counts for nothing", name, wrapping)
			}
		}
	}
}

// A name of a host that could be one may come back.
func TestNamesThatAreNotFoundPass(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "a.example", "A-1.example.", "xn--bcher-kva.example", "_http._tcp.example", "1.2.3.example", strings.Repeat("a", 63) + ".example", strings.Repeat("abcdefg.", 31) + "a.com"} {
		err := error(&net.DNSError{Err: "no such host", Name: name, IsNotFound: true})
		for _, err := range []error{err, &net.OpError{Op: "dial", Net: "tcp", Err: err}, &url.Error{Op: "Get", URL: "http://" + name, Err: err}} {
			if !passes(err) {
				t.Errorf("%v does not pass", err)
			}
		}
	}
}

// Answers that end too soon are those of the network, whoever read them.
func TestCutAnswersPass(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"Documents":[`)
	}))
	t.Cleanup(srv.Close)
	own := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(own.CloseIdleConnections)
	container := func(options *azcosmos.ClientOptions) *azcosmos.ContainerClient {
		options.Retry, options.Transport = policy.RetryOptions{MaxRetries: -1}, own
		client, err := azcosmos.NewClientWithKey(srv.URL, credential(t), options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		c, err := client.NewContainer("db", "items")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	_, read := container(cosmos.ClientOptions(&azcosmos.ClientOptions{})).ReadItem(t.Context(), azcosmos.NewPartitionKeyString("a"), "a", nil)
	pl := runtime.NewPipeline("x", "v1", runtime.PipelineOptions{}, &policy.ClientOptions{Transport: own, Retry: policy.RetryOptions{MaxRetries: -1}})
	req, err := runtime.NewRequest(t.Context(), http.MethodPost, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, posted := pl.Do(req)
	for name, err := range map[string]error{"a read by a client with Grove's options": read, "azcore's download": posted} {
		if !errors.Is(err, io.ErrUnexpectedEOF) || !passes(fmt.Errorf("handling: %w", err)) {
			t.Errorf("%s: %v does not pass", name, err)
		}
	}
	_, plain := container(&azcosmos.ClientOptions{}).ReadItem(t.Context(), azcosmos.NewPartitionKeyString("a"), "a", nil)
	if !errors.Is(plain, io.ErrUnexpectedEOF) || passes(plain) || !requestPasses(plain) {
		t.Errorf("of a plain client: %v", plain)
	}
}

func credential(t *testing.T) azcosmos.KeyCredential {
	t.Helper()
	c, err := azcosmos.NewKeyCredential(base64.StdEncoding.EncodeToString([]byte("key")))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
