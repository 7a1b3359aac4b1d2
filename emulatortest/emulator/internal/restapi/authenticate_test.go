package restapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// addressed is a request as a server hands it on: it came to an address under a Host name.
func addressed(t *testing.T, local, host string) *http.Request {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(addr))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/dbs/db", nil)
	if err != nil {
		t.Fatal(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	r.Header.Set("x-ms-date", date)
	r.Header.Set("Authorization", sign(t, testKey, "GET", "dbs", "dbs/db", date))
	return r
}

// A web page whose name resolves to 127.0.0.1 sends its own name in the Host header.
func TestLoopbackAnswersToItsOwnNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.h.cfg.Endpoint = "https://cosmos.test:8081/"
	for _, c := range []struct {
		local, host string
		want        int
	}{
		{"127.0.0.1:8081", "localhost:8081", 200},
		{"127.0.0.1:8081", "LOCALHOST", 200},
		{"127.0.0.1:8081", "localhost.", 200},
		{"127.0.0.1:8081", "127.0.0.1:8081", 200},
		{"127.0.0.1:8081", "account.localhost:8081", 200},
		{"127.0.0.1:8081", "cosmos.test:8081", 200},
		{"127.0.0.1:8081", "Cosmos.Test", 200},
		{"127.0.0.9:8081", "127.0.0.1", 200},
		{"[::1]:8081", "[::1]:8081", 200},
		{"[::1]:8081", "evil.test:8081", 421},
		{"127.0.0.1:8081", "evil.test", 421},
		{"127.0.0.1:8081", "localhost.evil.test", 421},
		{"127.0.0.1:8081", "127.0.0.1.evil.test", 421},
		{"127.0.0.1:8081", "192.0.2.7:8081", 421},
		{"127.0.0.1:8081", "notlocalhost", 421},
		{"192.0.2.7:8081", "evil.test:8081", 200}, // others may know it by any name
		{"192.0.2.7:8081", "localhost", 200},
	} {
		a, err := b.h.Exchange(addressed(t, c.local, c.host))
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != c.want {
			t.Errorf("%s at %s: %d %s, want %d", c.host, c.local, a.Status, a.Body, c.want)
		}
	}
}

func TestPublishedKeyIsGoodOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.h.cfg.KeyIsPublic = true
	for local, want := range map[string]int{"127.0.0.1:80": 200, "[::1]:80": 200, "192.0.2.7:80": 403, "[2001:db8::1]:80": 403} {
		a, err := b.h.Exchange(addressed(t, local, "localhost"))
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != want {
			t.Errorf("at %s: %d %s, want %d", local, a.Status, a.Body, want)
		}
	}
}

// unread fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a stranger was read")
	return 0, errors.New("not to be read")
}

func (unread) Close() error { return nil }

// What a stranger sends is neither read nor kept.
func TestStrangersCostNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logged := len(b.log)
	long := strings.Repeat("x", 900_000)
	for name, r := range map[string]*http.Request{
		"no signature":           {Header: http.Header{}},
		"a forged signature":     {Header: http.Header{"X-Ms-Date": {time.Now().UTC().Format(http.TimeFormat)}, "Authorization": {"type=master&ver=1.0&sig=AAAA"}}},
		"garbage":                {Header: http.Header{"Authorization": {long}}},
		"a token of another key": {Header: http.Header{"Authorization": {"type=aad&ver=1.0&sig=e30.e30.e30"}}},
		"a resource token":       {Header: http.Header{"Authorization": {"type=resource&ver=1.0&sig=" + long}}},
	} {
		for _, path := range []string{"/dbs/db/colls/items/docs", "/dbs/" + long, "/" + long} {
			r.Method, r.Body = http.MethodPost, unread{t}
			request := r.WithContext(t.Context())
			var err error
			if request.URL, err = request.URL.Parse("http://emulator.test" + path); err != nil {
				t.Fatal(err)
			}
			a, err := b.h.Exchange(request)
			if err != nil {
				t.Fatal(err)
			}
			if a.Status != http.StatusUnauthorized && a.Status != http.StatusBadRequest {
				t.Errorf("%s to %.20s: %d", name, path, a.Status)
			}
			if len(a.Body) > 4096 {
				t.Errorf("%s to %.20s: the answer has %d bytes", name, path, len(a.Body))
			}
		}
	}
	if len(b.log) != logged {
		t.Errorf("%d requests of strangers were logged", len(b.log)-logged)
	}
}

// A client of the account can't fill the log with long names either.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logged := len(b.log)
	for _, path := range []string{"/dbs/%s", "/dbs/db/colls/%s", "/dbs/db/colls/items/docs/%s", "/offers/%s"} {
		for n, want := range map[int]int{1023: 404, 1024: 400} {
			a := b.do(t, "GET", strings.Replace(path, "%s", strings.Repeat("x", n), 1), "", keyHeader, `["a"]`)
			if a.Status != want {
				t.Errorf("%s of %d bytes: %d, want %d", path, n, a.Status, want)
			}
		}
	}
	b.do(t, "GET", "/dbs/db", "", "User-Agent", strings.Repeat("x", 2000)+" azsdk-go-azcosmos/v1.5.0")
	for _, x := range b.log[logged:] {
		if n := len(x.Database) + len(x.Container) + len(x.Item) + len(x.Client); n > 2048 {
			t.Errorf("the log keeps %d bytes of names", n)
		}
	}
}

// The service's gateway has one limit for all headers together, and two ways to say so.
func TestHeadersAreLimitedInAll(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestHeaderFieldsTooLarge} {
		b := setup(t)
		b.h.cfg.HeaderLimit, b.h.cfg.HeaderLimitStatus = 16<<10, status
		token := func(parts int) string { return strings.TrimSuffix(strings.Repeat("0:-1#1,", parts), ",") }
		if a := b.do(t, "GET", "/dbs/db/colls/items/docs", "", sessionHeader, token(2000)); a.Status != http.StatusOK {
			t.Errorf("a token of 14 KB: %d %s", a.Status, a.Body)
		}
		a := b.exchange(t, "GET", "/dbs/db/colls/items/docs", "", sessionHeader, token(2400))
		if a.Status != status {
			t.Errorf("a token of 17 KB: %d, want %d", a.Status, status)
		}
		if said := strings.Contains(string(a.Body), "equest headers too long"); said != (status == 400) || (status == 431) != (len(a.Body) == 0) {
			t.Errorf("a token of 17 KB: %d with the body %q", a.Status, a.Body)
		}
		half := strings.Repeat("x", 9<<10)
		if a := b.exchange(t, "GET", "/dbs/db", "", "x-one", half, "x-two", half); a.Status != status {
			t.Errorf("two headers of 9 KB: %d, want %d", a.Status, status)
		}
	}
}

// A real server with a real connection: a foreign Host is turned away before anything else.
func TestRebindingOverANetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewServer(b.h)
	t.Cleanup(server.Close)
	for host, want := range map[string]int{"": 401, "evil.test": 421} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/dbs", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.Body.Close() != nil {
			t.Fatal(err)
		}
		if response.StatusCode != want || !strings.Contains(string(body), `"message"`) {
			t.Errorf("host %q: %d %s, want %d", host, response.StatusCode, body, want)
		}
	}
}
