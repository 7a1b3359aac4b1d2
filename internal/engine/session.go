package engine

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Sessions remembers how far this process has seen each physical partition of
// one container, which is what lets it read its own writes on an account with
// session consistency. Every answer is noted and every read asks for a replica
// that has come as far. The SDK leaves this to its caller.
//
// Repositories of one container should share one (see [Config.Sessions]). It
// is safe for use by many goroutines; the zero value is ready.
type Sessions struct {
	mu     sync.Mutex
	rid    string
	ranges sessionRanges
	// joined is the header's text for ranges, rebuilt when they change.
	joined atomic.Pointer[string]
	// learned are the ranges of logical partitions, by keyText.
	learned map[string]string
}

// sessionRanges holds the progress of each physical partition by its id. Ids
// of partitions that were split or merged stay: the service takes them for
// their successors.
type sessionRanges map[string]progress

// progress is how far a physical partition was seen: "version#lsn" and, with
// several write regions, "#region=lsn" for each.
type progress struct {
	version, lsn int64
	regions      map[string]int64
}

// note takes in the token of an answer, failed ones included: a refused write
// tells of the write that it lost against.
func (s *Sessions) note(h http.Header) {
	token := h.Get("x-ms-session-token")
	if token == "" {
		return
	}
	if last := s.joined.Load(); last != nil && holdsPart(*last, token) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A container that was made anew under its old name starts to count again.
	if rid := h.Get("x-ms-content-path"); rid != "" && rid != s.rid {
		if s.rid != "" {
			s.ranges, s.learned = nil, nil
		}
		s.rid = rid
	}
	if s.ranges == nil {
		s.ranges = sessionRanges{}
	}
	if s.ranges.merge(token) {
		joined := s.ranges.String()
		s.joined.Store(&joined)
	}
}

// holdsPart reports whether a token stands in a joined one as it is, which is
// what most answers bring.
func holdsPart(joined, token string) bool {
	before, after, found := strings.Cut(joined, token)
	return found && (before == "" || before[len(before)-1] == ',') && (after == "" || after[0] == ',')
}

// header returns all that is known under this context; nil is nothing. Which part
// of it a request gets is chosen in session_header.go.
func (s *Sessions) header(ctx context.Context, container string) *string {
	joined := s.joined.Load()
	handed, _ := ctx.Value(sessionKey{}).(contextSessions)
	if theirs := handed.containers[container]; theirs != nil && s.isContainer(handed.rids[container]) {
		both := maps.Clone(theirs)
		if joined != nil {
			both.merge(*joined)
		}
		text := both.String()
		return &text
	}
	return joined
}

// isContainer reports whether a resource id may be that of the container.
func (s *Sessions) isContainer(rid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return rid == "" || s.rid == "" || rid == s.rid
}

// merge takes over what is further in a token, and reports whether anything
// was. Parts that are not understood are left out: a read without them is
// served from any replica.
func (r sessionRanges) merge(token string) bool {
	changed := false
	for part := range strings.SplitSeq(token, ",") {
		id, text, _ := strings.Cut(part, ":")
		next, ok := parseProgress(text)
		if !ok || id == "" || strings.Trim(id, "0123456789") != "" {
			continue
		}
		have, known := r[id]
		if known {
			next = have.join(next)
		}
		if !known || !next.equal(have) {
			r[id] = next
			changed = true
		}
	}
	return changed
}

// String returns the ranges as the service's header has them.
func (r sessionRanges) String() string {
	var b strings.Builder
	for i, id := range slices.Sorted(maps.Keys(r)) {
		if i > 0 {
			b.WriteByte(',')
		}
		p := r[id]
		b.WriteString(id + ":" + strconv.FormatInt(p.version, 10) + "#" + strconv.FormatInt(p.lsn, 10))
		for _, region := range slices.Sorted(maps.Keys(p.regions)) {
			b.WriteString("#" + region + "=" + strconv.FormatInt(p.regions[region], 10))
		}
	}
	return b.String()
}

// noVersion is what a token of the oldest form, a bare number, stands for.
const noVersion = -1

func parseProgress(text string) (p progress, ok bool) {
	fields := strings.Split(text, "#")
	p.version = noVersion
	if len(fields) > 1 {
		version, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return p, false
		}
		p.version, fields = version, fields[1:]
	}
	lsn, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return p, false
	}
	p.lsn = lsn
	for _, field := range fields[1:] {
		region, text, _ := strings.Cut(field, "=")
		lsn, err := strconv.ParseInt(text, 10, 64)
		if err != nil || strings.Trim(region, "0123456789") != "" || region == "" {
			return p, false
		}
		if p.regions == nil {
			p.regions = map[string]int64{}
		}
		p.regions[region] = lsn
	}
	return p, true
}

// join is the progress that has seen both. The regions of the newer version
// hold, since a region is added or taken away by a new version.
func (p progress) join(other progress) progress {
	newer, older := p, other
	if other.version > p.version {
		newer, older = other, p
	}
	out := progress{version: newer.version, lsn: max(newer.lsn, older.lsn), regions: maps.Clone(newer.regions)}
	for region, lsn := range older.regions {
		if have, ok := out.regions[region]; ok {
			out.regions[region] = max(have, lsn)
		} else if older.version == newer.version {
			out.regions[region] = lsn
		}
	}
	return out
}

func (p progress) equal(other progress) bool {
	return p.version == other.version && p.lsn == other.lsn && maps.Equal(p.regions, other.regions)
}

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

// Saw takes over the service's session token of an answer that did not come
// through the repository, so that what is read from now on is at least as new.
func (c *Collection) Saw(sessionToken string) {
	c.sessions.note(http.Header{"X-Ms-Session-Token": {sessionToken}})
}

// SessionToken is [Repository.SessionToken].
func (c *Collection) SessionToken() string { return c.sessionToken() }
