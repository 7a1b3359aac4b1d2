package emulatortest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/emulatortest/internal/bounded"
	"github.com/cosmosgrove/grove/emulatortest/internal/localcert"
)

// Server is an emulator behind a loopback address, for the length of one test.
type Server struct {
	*Emulator
	authority []byte
	http      *http.Client
}

// Serve makes a fresh account and serves it on a free port of 127.0.0.1, over HTTP or, [WithTLS], over HTTPS. It always
// serves an emulator of this process, whatever the environment says. Clients get the account's address from
// Endpoint, and a client that trusts the certificate from Client.
func Serve(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s := settingsOf(opts)
	service := newService(t, s)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("emulatortest: listen on 127.0.0.1: %v", err)
	}
	server := &Server{Emulator: &Emulator{t: t, service: service, key: service.Key(), identity: s.identity, options: s.client}}
	transport := &http.Transport{}
	scheme := "http"
	if s.tls {
		scheme = "https"
		listener, server.authority = secured(t, listener, transport)
	}
	server.http = &http.Client{Transport: transport}
	server.transport = server.http
	server.endpoint = scheme + "://" + listener.Addr().String() + "/"
	serve(t, listener, handlerOf(service, s.routing))
	t.Cleanup(transport.CloseIdleConnections)
	return server
}

func handlerOf(service *emulator.Service, routing bool) http.Handler {
	if routing {
		return service.RoutingGateway()
	}
	return service
}

// secured puts TLS around the listener and makes the transport trust it.
func secured(t testing.TB, listener net.Listener, transport *http.Transport) (net.Listener, []byte) {
	t.Helper()
	certificates, err := localcert.New(nil, time.Now())
	if err != nil {
		t.Fatalf("emulatortest: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificates.AuthorityPEM)
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	// HTTP/1.1 only: there a fault that cuts the connection cuts one, where HTTP/2 would reset a stream of it.
	config := &tls.Config{
		Certificates: []tls.Certificate{certificates.Server},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
	}
	return tls.NewListener(listener, config), certificates.AuthorityPEM
}

// serve runs a server until the test ends, and waits for it, so that no goroutine outlives the test.
func serve(t testing.TB, listener net.Listener, handler http.Handler) {
	t.Helper()
	server := bounded.Server(handler)
	listener = bounded.Listener(listener, bounded.Connections)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("emulatortest: close the server: %v", err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("emulatortest: the server ended: %v", err)
		}
	})
}

// AuthorityPEM is the certificate that clients have to trust, in PEM; nil without [WithTLS].
func (s *Server) AuthorityPEM() []byte { return s.authority }

// HTTPClient is a client that trusts the server's certificate.
func (s *Server) HTTPClient() *http.Client { return s.http }

// Client gives a client of the account that goes over the network; see [Emulator.Client].
func (s *Server) Client(o *azcosmos.ClientOptions) *azcosmos.Client {
	s.t.Helper()
	return s.Emulator.Client(o)
}
