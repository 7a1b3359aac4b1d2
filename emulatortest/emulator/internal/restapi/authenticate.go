package restapi

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// authenticate does what has to come first: it finds out whether the request comes from a client of the account, before its body is read
// and before anything of it is kept. It takes in the link and who the caller is.
func (c *call) authenticate(r *http.Request) *store.Error {
	if e := c.h.checkAddress(r); e != nil {
		return e
	}
	l, err := parseLink(r.URL.EscapedPath())
	if err != nil {
		return badRequest(err.Error() + ".")
	}
	if e := l.checkRIDs(); e != nil {
		return e
	}
	caller, e := c.h.auth.check(r.Method, l, r.Header)
	if e != nil {
		return e
	}
	c.link, c.caller = l, caller
	return nil
}

// checkAddress refuses what comes over a network in a way that no client of the emulator's owner would choose. On a loopback address it answers
// to loopback names and to the name in its own endpoint only: a web page that has its name resolve to 127.0.0.1 sends its
// own name. On any other address it does not take a key that everybody knows. A request of the same process has no address.
func (h *Handler) checkAddress(r *http.Request) *store.Error {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return nil
	}
	host, _, err := net.SplitHostPort(local.String())
	if err != nil {
		return nil //nolint:nilerr // a socket without a port, such as one of the file system
	}
	if !isLoopback(host) {
		if h.cfg.KeyIsPublic {
			return fail(http.StatusForbidden, 0, "The account key is the one that Microsoft publishes for its emulators, and this request came over "+
				"another address than a loopback one: give the emulator a key of your own, or allow the published key explicitly.")
		}
		return nil
	}
	if name := hostName(r.Host); !isLoopback(name) && !h.isEndpointHost(name) {
		return fail(http.StatusMisdirectedRequest, 0, "On a loopback address the emulator answers to localhost, 127.0.0.1 and [::1], and to the host of "+
			"the endpoint that it was started with: the Host header names another.")
	}
	return nil
}

// isEndpointHost reports whether a name is that of the configured endpoint, or of a region of it.
func (h *Handler) isEndpointHost(name string) bool {
	u, err := url.Parse(h.cfg.Endpoint)
	if err != nil || u.Hostname() == "" {
		return false
	}
	account, _, _ := h.cfg.Regions.locate(name)
	return strings.EqualFold(account, u.Hostname())
}

// hostName is a Host header without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

// isLoopback reports whether a host is an address or a name that always means this machine (RFC 6761, section 6.3).
func isLoopback(host string) bool {
	if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil {
		return ip.IsLoopback()
	}
	name := strings.ToLower(host)
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// checkHeaderSize keeps to what the service's gateway takes of headers in all, whatever they are: long session tokens and continuations
// are what meets the limit. The 431 has no body, as the service's has none.
func (c *call) checkHeaderSize(r *http.Request) *store.Error {
	if c.h.cfg.HeaderLimit <= 0 || headBytes(r) <= c.h.cfg.HeaderLimit {
		return nil
	}
	return fail(c.h.cfg.HeaderLimitStatus, 0, "Request headers too long.")
}

// headBytes is the size of a request's line and headers as they are on the wire.
func headBytes(r *http.Request) int {
	n := len(r.Method) + len(" ") + len(r.URL.RequestURI()) + len(" HTTP/1.1\r\nHost: \r\n") + len(r.Host)
	for name, texts := range r.Header {
		for _, text := range texts {
			n += len(name) + len(": ") + len(text) + len("\r\n")
		}
	}
	return n
}
