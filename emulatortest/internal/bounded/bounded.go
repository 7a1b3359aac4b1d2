// Package bounded makes HTTP servers that no caller can hold up for ever or fill with connections, however slow or many they are.
package bounded

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// The bounds of a server. They are far above what a client of the emulator needs, the delays of faults among it.
const (
	headerTime = 10 * time.Second
	bodyTime   = time.Minute
	answerTime = 5 * time.Minute
	idleTime   = 2 * time.Minute
	// headerBytes is what is read of a request's headers at all; the emulator's own limit is lower and answers as the service does.
	headerBytes = 256 << 10
	// Connections is how many connections a listener of [Listener] has at a time.
	Connections = 1024
)

// Server gives a server whose requests are bounded in the time and size of their parts.
func Server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
	}
}

// Listener accepts at most so many connections at a time; further ones wait in the system's queue.
func Listener(l net.Listener, connections int) net.Listener {
	return &listener{Listener: l, places: make(chan struct{}, connections), closed: make(chan struct{})}
}

type listener struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err //nolint:wrapcheck // net/http looks at the error's type
	}
	return &conn{Conn: c, release: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close() //nolint:wrapcheck // as above
}

type conn struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	defer c.release()
	return c.Conn.Close() //nolint:wrapcheck // as above
}
