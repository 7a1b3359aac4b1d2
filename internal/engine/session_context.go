package engine

import (
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
// in one that was made anew, or filled from a backup, nothing has come as far.
func SessionsOf(collections ...*Collection) []string {
	type seen struct {
		rid    string
		ranges sessionRanges
	}
	containers := map[string]seen{}
	for _, collection := range collections {
		sessions := collection.sessions
		sessions.mu.Lock()
		c := containers[cosmos.ContainerID(collection.Container)]
		if c.ranges == nil || c.rid == "" {
			c.rid = sessions.rid
		}
		if c.ranges == nil {
			c.ranges = sessionRanges{}
		}
		if c.rid == sessions.rid {
			c.ranges.merge(sessions.ranges.String())
		}
		sessions.mu.Unlock()
		containers[cosmos.ContainerID(collection.Container)] = c
	}
	var tokens []string
	for _, id := range slices.Sorted(maps.Keys(containers)) {
		c := containers[id]
		token := sessionPrefix + base64.RawURLEncoding.EncodeToString([]byte(id+"\x00"+c.ranges.String()+"\x00"+c.rid))
		if len(c.ranges) > 0 && len(token) <= maxSessionToken {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

type sessionKey struct{}

// contextSessions are the sessions that a context brings, by container.
type contextSessions struct {
	containers map[string]sessionRanges
	// rids are the resource ids of those containers that a token names by it.
	rids map[string]string
	err  error
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
	h := contextSessions{containers: map[string]sessionRanges{}, rids: map[string]string{}, err: outer.err}
	maps.Copy(h.rids, outer.rids)
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
	text, rid, named := strings.Cut(text, "\x00")
	ranges := sessionRanges{}
	ranges.merge(text)
	if len(ranges) != strings.Count(text, ",")+1 {
		return false
	}
	if former := h.rids[container]; h.containers[container] == nil || named && former != "" && former != rid {
		h.containers[container] = sessionRanges{} // of one that is no more
	}
	h.containers[container].merge(text)
	if named {
		h.rids[container] = rid
	}
	return true
}

// SessionToken is [Repository.SessionToken].
func (c *Collection) SessionToken() string { return c.sessionToken() }
