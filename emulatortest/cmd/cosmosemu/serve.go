package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/emulatortest/internal/bounded"
	"github.com/cosmosgrove/grove/emulatortest/internal/localcert"
)

// computeGatewayPort is where Microsoft's emulator has the compute gateway.
const computeGatewayPort = "8903"

// shutdownGrace is how long requests that are being served may take after a signal.
const shutdownGrace = 5 * time.Second

// serve runs the emulator until the context ends.
func serve(ctx context.Context, c *config, stdout, stderr io.Writer) (err error) {
	listeners, err := listen(ctx, c.addresses)
	if err != nil {
		return err
	}
	for i, l := range listeners {
		listeners[i] = bounded.Listener(l, bounded.Connections)
	}
	service, err := emulator.New(c.options)
	if err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if err := prepare(ctx, c, service, stderr); err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	scheme := "http"
	var authority []byte
	if c.tls {
		scheme = "https"
		if authority, err = secure(c, listeners); err != nil {
			return errors.Join(err, closeAll(listeners))
		}
	}
	servers := make([]*http.Server, len(listeners))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, l := range listeners {
		handler := gateway(service, l)
		if c.verbose {
			handler = newRequestLog(stderr, os.Getenv("NO_COLOR")).watch(handler)
		}
		servers[i] = bounded.Server(door(authority, handler))
		group.Go(func() error {
			if err := servers[i].Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
	}
	group.Go(func() error {
		<-groupCtx.Done()
		return shutdown(context.WithoutCancel(ctx), servers)
	})
	announce(stdout, c, urls(scheme, listeners))
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "stopped")
	return nil
}

// prepare makes what -init and -seed name, before the first client comes.
func prepare(ctx context.Context, c *config, service *emulator.Service, stderr io.Writer) error {
	a, err := newAccount("http://localhost/", service.Key(), service.Do)
	if err != nil {
		return err
	}
	if c.init != "" {
		n, err := a.initialize(ctx, c.init)
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "init: %d databases, %d containers\n", n.databases, n.containers)
	}
	if c.seed != "" {
		n, err := a.load(ctx, c.seed)
		if err != nil {
			return fmt.Errorf("seed: %w", err)
		}
		fmt.Fprintln(stderr, "seed:", n)
	}
	return nil
}

// gateway chooses the manners of a port.
func gateway(service *emulator.Service, l net.Listener) http.Handler {
	if _, port, err := net.SplitHostPort(l.Addr().String()); err == nil && port == computeGatewayPort {
		return service
	}
	return service.RoutingGateway()
}

// listen opens all addresses, or none. A name such as localhost is opened under each of its addresses, since clients differ in the one they take first.
func listen(ctx context.Context, addresses []string) ([]net.Listener, error) {
	var listeners []net.Listener
	var config net.ListenConfig
	for _, address := range addresses {
		l, err := config.Listen(ctx, "tcp", address)
		if err != nil {
			hint := ""
			if errors.Is(err, syscall.EADDRINUSE) {
				hint = " (is another emulator running?)"
			}
			return nil, errors.Join(fmt.Errorf("listen on %s%s: %w", address, hint, err), closeAll(listeners))
		}
		listeners = append(listeners, l)
		if second := otherLoopback(ctx, &config, address, l); second != nil {
			listeners = append(listeners, second)
		}
	}
	return listeners, nil
}

// otherLoopback opens [::1] beside 127.0.0.1 for localhost. A machine without IPv6 does without.
func otherLoopback(ctx context.Context, config *net.ListenConfig, address string, l net.Listener) net.Listener {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !strings.EqualFold(host, "localhost") {
		return nil
	}
	ip, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil
	}
	other := "::1"
	if ip == other {
		other = "127.0.0.1"
	}
	second, err := config.Listen(ctx, "tcp", net.JoinHostPort(other, port))
	if err != nil {
		return nil
	}
	return second
}

// secure puts TLS around the listeners, and gives the authority besides writing it to its file.
func secure(c *config, listeners []net.Listener) ([]byte, error) {
	hosts := make([]string, 0, len(c.addresses))
	for _, address := range c.addresses {
		host, _, err := net.SplitHostPort(address)
		if err == nil && host != "" && host != "0.0.0.0" && host != "::" {
			hosts = append(hosts, host)
		}
	}
	certificates, err := localcert.New(hosts, time.Now())
	if err != nil {
		return nil, fmt.Errorf("make the certificate: %w", err)
	}
	if c.caOut != "" {
		//nolint:gosec // a certificate is public, and clients of other users read it
		if err := os.WriteFile(c.caOut, certificates.AuthorityPEM, 0o644); err != nil {
			return nil, fmt.Errorf("write the certificate authority: %w", err)
		}
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificates.Server},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}
	for i, l := range listeners {
		listeners[i] = tls.NewListener(l, config)
	}
	return certificates.AuthorityPEM, nil
}

func shutdown(ctx context.Context, servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	var errs []error
	for _, s := range servers {
		err := s.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = s.Close() // what is still being served had its time
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func closeAll(listeners []net.Listener) error {
	var errs []error
	for _, l := range listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

func urls(scheme string, listeners []net.Listener) []string {
	list := make([]string, len(listeners))
	for i, l := range listeners {
		list[i] = scheme + "://" + l.Addr().String() + "/"
	}
	return list
}
