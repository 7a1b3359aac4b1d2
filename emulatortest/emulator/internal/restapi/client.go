package restapi

import (
	"context"
	"net/http"
	"strings"
)

type (
	clientKey   struct{}
	observerKey struct{}
)

// WithClient names the client that makes the requests under the context, for faults and the request log.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

// WithObserver has observe called with every request under the context that was answered or cut, from whatever goroutine
// made it. An observer of an outer context is called too.
func WithObserver(ctx context.Context, observe func(Exchange)) context.Context {
	if outer, ok := ctx.Value(observerKey{}).(func(Exchange)); ok {
		inner := observe
		observe = func(x Exchange) { inner(x); outer(x) }
	}
	return context.WithValue(ctx, observerKey{}, observe)
}

// maxClientName is longer than any application id that an SDK sends (24 characters), and keeps the log small.
const maxClientName = 128

// clientOf is the client's name: the context's, or else the application id that the Azure SDKs put before their own name
// into the User-Agent header.
func clientOf(r *http.Request) string {
	if name, ok := r.Context().Value(clientKey{}).(string); ok {
		return name
	}
	name, _, found := strings.Cut(r.UserAgent(), " azsdk-")
	if !found || len(name) > maxClientName {
		return ""
	}
	return name
}
