package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/restapi"
)

// Do answers a request of this process without a network: with it a Service is an azcore policy.Transporter, to be set as
// the Transport of azcosmos.ClientOptions. It starts no goroutine, so that it works inside testing/synctest. A cut
// connection is an error that wraps [syscall.ECONNRESET], as from a network, and an ended context is the context's error.
func (s *Service) Do(r *http.Request) (*http.Response, error) {
	return exchange(s.handler, r)
}

// RoutingTransport is like the service itself as a transport, with the manners of [Service.RoutingGateway].
func (s *Service) RoutingTransport() *RoutingTransport {
	return &RoutingTransport{handler: s.handler.RoutingGateway()}
}

// RoutingTransport is an azcore policy.Transporter to an emulator's routing gateway.
type RoutingTransport struct{ handler *restapi.Handler }

// Do answers a request; see [Service.Do].
func (t *RoutingTransport) Do(r *http.Request) (*http.Response, error) { return exchange(t.handler, r) }

// Named is the service as the transport of a client of that name, which faults and the request log tell from others. Over
// a network the name is the ApplicationID of azcosmos.ClientOptions' telemetry.
func (s *Service) Named(client string) *NamedTransport {
	return &NamedTransport{handler: s.handler, client: client}
}

// NamedTransport is an azcore policy.Transporter for one client of an emulator.
type NamedTransport struct {
	handler *restapi.Handler
	client  string
}

// Do answers a request; see [Service.Do].
func (t *NamedTransport) Do(r *http.Request) (*http.Response, error) {
	return exchange(t.handler, r.WithContext(restapi.WithClient(r.Context(), t.client)))
}

// Observe returns a context under which observe is told of every request that a service of this process answers or cuts,
// whichever goroutine makes it. Contexts nest: the observers of the outer ones are told too. Over a network it sees nothing.
func Observe(ctx context.Context, observe func(Exchange)) context.Context {
	return restapi.WithObserver(ctx, observe)
}

func exchange(h *restapi.Handler, r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	answer, err := h.Exchange(r)
	if r.Body != nil {
		_ = r.Body.Close() // a transport closes the body whatever became of the request; there is nobody to tell
	}
	// A client that gave up gets its context's error, though the request may have taken effect, as over a network.
	if ctxErr := r.Context().Err(); ctxErr != nil {
		return nil, fmt.Errorf("emulator: %w", ctxErr)
	}
	if errors.Is(err, restapi.ErrCut) {
		return nil, fmt.Errorf("emulator: read the answer: %w", syscall.ECONNRESET)
	}
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	return &http.Response{
		Status:        strconv.Itoa(answer.Status) + " " + http.StatusText(answer.Status),
		StatusCode:    answer.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        answer.Header,
		Body:          io.NopCloser(bytes.NewReader(answer.Body)),
		ContentLength: int64(len(answer.Body)),
		Request:       r,
	}, nil
}
