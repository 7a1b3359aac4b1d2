package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// sessionPrefix is the version of the text that is handed to other processes.
const sessionPrefix = "s1."

func (c *Collection) sessionToken() string {
	joined := c.sessions.joined.Load()
	if joined == nil {
		return ""
	}
	text := cosmos.ContainerID(c.Container) + "\x00" + *joined
	return sessionPrefix + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// SessionsOf returns what this process has seen of the collections' containers, one
// token for each container, to be stored with data and given to [WithSession]
// by the process that reads it later. Other than [Repository.SessionToken]'s these name
// the container by its resource id too: data may outlive the container, and
// in one that was made anew, or filled from a backup, nothing has come as far; and a tree may lie in containers of one name
// in two databases.
func SessionsOf(collections ...*Collection) []string {
	containers := map[containerName]sessionRanges{}
	for _, collection := range collections {
		sessions := collection.sessions
		sessions.mu.Lock()
		name := containerName{cosmos.ContainerID(collection.Container), sessions.rid}
		if containers[name] == nil {
			containers[name] = sessionRanges{}
		}
		containers[name].merge(sessions.ranges.String())
		sessions.mu.Unlock()
	}
	var tokens []string
	for _, name := range slices.SortedFunc(maps.Keys(containers), containerName.compare) {
		token := sessionPrefix + base64.RawURLEncoding.EncodeToString([]byte(name.id+"\x00"+containers[name].String()+"\x00"+name.rid))
		if len(containers[name]) > 0 && len(token) <= maxSessionToken {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// containerName names a container by its id and its resource id, which is empty where it is not known.
type containerName struct{ id, rid string }

func (n containerName) compare(other containerName) int {
	return cmp.Or(strings.Compare(n.id, other.id), strings.Compare(n.rid, other.rid))
}

type sessionKey struct{}

// contextSessions are the sessions that a context brings, by container.
type contextSessions struct {
	containers map[containerName]sessionRanges
	err        error
}

// of is what is known of a container; of one whose resource id is not known, what goes by its name alone.
func (h contextSessions) of(name containerName) sessionRanges {
	theirs := maps.Clone(h.containers[containerName{id: name.id}])
	if named := h.containers[name]; name.rid != "" && named != nil {
		if theirs == nil {
			theirs = sessionRanges{}
		}
		theirs.merge(named.String())
	}
	return theirs
}

// nameRID reports whether some of the sessions of containers of that name go by a resource id.
func (h contextSessions) nameRID(id string) bool {
	for name := range h.containers {
		if name.id == id && name.rid != "" {
			return true
		}
	}
	return false
}

// WithSession returns a context under which reads see at least what the tokens
// have seen; see [Repository.SessionToken]. Tokens of several containers may
// be given, and an empty one is none. A text that is not a token makes every
// verb under the context fail with [ErrInvalid].
//
// A token knows its container by the container's name: don't use one context
// for containers of the same name in several databases.
func WithSession(ctx context.Context, tokens ...string) context.Context {
	outer, _ := ctx.Value(sessionKey{}).(contextSessions)
	h := contextSessions{containers: map[containerName]sessionRanges{}, err: outer.err}
	for container, ranges := range outer.containers {
		h.containers[container] = maps.Clone(ranges)
	}
	for _, token := range tokens {
		if token == "" {
			continue
		}
		if !h.take(token) {
			h.err = &tenantitem.InvalidError{What: "session token", Reason: "it is not one of ours", Hint: "pass what Repository.SessionToken returned, or nothing"}
		}
	}
	return context.WithValue(ctx, sessionKey{}, h)
}

// maxSessionToken bounds a text that comes from outside: headers of gateways
// are not longer either.
const maxSessionToken = 64 << 10

func (h contextSessions) take(token string) bool {
	coded, ok := strings.CutPrefix(token, sessionPrefix)
	if !ok || len(token) > maxSessionToken {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(coded)
	if err != nil {
		return false
	}
	container, text, ok := strings.Cut(string(raw), "\x00")
	if !ok || container == "" {
		return false
	}
	text, rid, _ := strings.Cut(text, "\x00")
	ranges := sessionRanges{}
	ranges.merge(text)
	if len(ranges) != strings.Count(text, ",")+1 {
		return false
	}
	name := containerName{container, rid}
	if h.containers[name] == nil {
		h.containers[name] = sessionRanges{}
	}
	h.containers[name].merge(text)
	return true
}

// SessionToken is [Repository.SessionToken].
func (c *Collection) SessionToken() string { return c.sessionToken() }
