package restapi

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// routingGatewayRefusal gives the answer of the service's routing gateway to a link with such an item id; nil when it can
// find the item. That gateway reads the path more than once, so what it checks the signature against is another link.
func routingGatewayRefusal(id string) *store.Error {
	if strings.ContainsAny(id, "\r\n\t") {
		return badRequest("The request URL holds a control character.")
	}
	again, err := url.PathUnescape(id)
	if strings.HasSuffix(id, " ") || strings.ContainsAny(id, `/\#`) || (err == nil && again != id) {
		return fail(http.StatusUnauthorized, 0, "The input authorization token can't serve the request. The routing gateway "+
			`reads another link than the one signed: ids that end in a space or hold /, \, # or a percent-escape can be written but not be addressed.`)
	}
	return nil
}

// endpoint is the address by which the client reaches this account, as the account read reports it.
func (h *Handler) endpoint(r *http.Request) string {
	if h.cfg.Endpoint != "" {
		return h.cfg.Endpoint
	}
	scheme := r.URL.Scheme
	if scheme == "" {
		scheme = "http"
		if r.TLS != nil {
			scheme = "https"
		}
	}
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	// Microsoft's emulators call themselves 127.0.0.1 when they are reached as localhost, and their clients' tests expect it.
	if name, port, err := net.SplitHostPort(host); err == nil && strings.EqualFold(name, "localhost") {
		host = net.JoinHostPort("127.0.0.1", port)
	}
	return scheme + "://" + host + "/"
}

// regionEndpoint is the address of a region. The only region of an account has that of the account.
func (c *call) regionEndpoint(name string) string {
	if c.h.cfg.Regions.count() == 1 {
		return c.endpoint
	}
	u, err := url.Parse(c.endpoint)
	if err != nil {
		return c.endpoint
	}
	account, _, _ := c.h.cfg.Regions.locate(u.Host)
	u.Host = regionalHost(account, name)
	return u.String()
}
