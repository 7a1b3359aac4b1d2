package bounded_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest/internal/bounded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServerBoundsEveryPart(t *testing.T) {
	t.Parallel()
	s := bounded.Server(nil)
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("something has no bound: %+v", s)
	}
}

// The connection above the limit is accepted when one of the others is closed, and closing the listener ends the wait.
func TestListenerBoundsConnections(t *testing.T) {
	t.Parallel()
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := bounded.Listener(inner, 2)
	accepted := make(chan net.Conn)
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	clients := []net.Conn{dial(), dial(), dial()}
	first, second := <-accepted, <-accepted
	select {
	case <-accepted:
		t.Error("a third connection was accepted")
	default:
	}
	for range 2 { // closing twice gives one place
		_ = first.Close() // the second time it is an error
	}
	third := <-accepted
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener ended with %v", err)
	}
	for _, c := range append(clients, second, third) {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := io.ReadAll(third); err == nil {
		t.Error("a closed connection was read")
	}
}
