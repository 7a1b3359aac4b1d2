package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// SessionToken returns what this process has seen of the repository's
// container, as opaque text that is safe in a header or a URL. Another process
// that reads under [WithSession] with it sees every write that this one saw.
// It is empty before the first answer. It names no tenant and no document. It
// is not signed: a client that makes one up makes its reads wait for writes that never
// come, for up to 30 seconds, and sees nothing more by it.
//
//go:noinline
func (r *RepositoryOf[P]) SessionToken() string { return engine.CollectionOf(&r.handle).SessionToken() }

// Sessions remembers how far this process has seen each physical partition of
// one container, which is what lets it read its own writes on an account with
// session consistency. Every answer is noted and every read asks for a replica
// that has come as far. The SDK leaves this to its caller.
//
// Repositories of one container should share one (see [Config.Sessions]). It
// is safe for use by many goroutines; the zero value is ready.
type Sessions = engine.Sessions

// WithSession returns a context under which reads see at least what the tokens
// have seen; see [RepositoryOf.SessionToken]. Tokens of several containers may
// be given, and an empty one is none. A text that is not a token makes every
// verb under the context fail with [ErrInvalid].
//
// A token knows its container by the container's name: don't use one context
// for containers of the same name in several databases.
func WithSession(ctx context.Context, tokens ...string) context.Context {
	return engine.WithSession(ctx, tokens...)
}
