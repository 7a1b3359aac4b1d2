package engine

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Sessions remembers how far this process has seen each physical partition of
// one container, which is what lets it read its own writes on an account with
// session consistency. Every answer is noted and every read asks for a replica
// that has come as far. The SDK leaves this to its caller.
//
// session_token.go has the form of the service's tokens, session_context.go what
// is handed from one process to another.
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
// of it a request gets is chosen by sessionHeader.
func (s *Sessions) header(ctx context.Context, container string) *string {
	joined := s.joined.Load()
	handed, _ := ctx.Value(sessionKey{}).(contextSessions)
	if both := handed.of(containerName{container, s.resourceID()}); both != nil {
		if joined != nil {
			both.merge(*joined)
		}
		text := both.String()
		return &text
	}
	return joined
}

// resourceID is that of the container, as answers told; empty before the first.
func (s *Sessions) resourceID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rid
}

// learnResourceID asks which container this is, where a context brings sessions of one by
// its resource id and nothing has told it yet: with those of another container of that name, every read would
// wait in vain for a replica that has come as far.
func (k *Call) learnResourceID(ctx context.Context) error {
	handed, _ := ctx.Value(sessionKey{}).(contextSessions)
	if !handed.nameRID(cosmos.ContainerID(k.Collection.Container)) || k.Collection.sessions.resourceID() != "" {
		return nil
	}
	rid := ""
	err := k.read(ctx, &exchange{exempt: k.Exempt}, func(ctx context.Context) (answer cosmos.Answer, err error) {
		rid, answer, err = cosmos.ResourceID(ctx, k.Collection.Container)
		return answer, err
	})
	if err != nil {
		return err
	}
	k.Collection.sessions.mu.Lock()
	defer k.Collection.sessions.mu.Unlock()
	if k.Collection.sessions.rid == "" {
		k.Collection.sessions.rid = rid
	}
	return nil
}

// Saw takes over the service's session token of an answer that did not come
// through the repository, so that what is read from now on is at least as new.
func (c *Collection) Saw(sessionToken string) {
	c.sessions.note(http.Header{"X-Ms-Session-Token": {sessionToken}})
}

// A request needs the session token of the physical partition that it goes to,
// and no other: the token of a whole container grows with it, and the gateway
// takes about 16 KB of headers in all. Which physical partition a logical one
// lies in is learned from answers. Where that is not known the whole token
// goes along while it is small, and else the partition's hash tells.
const (
	maxSessionHeader = 4 << 10
	// maxLearned bounds what is remembered of logical partitions, about 100
	// bytes each.
	maxLearned = 10_000
)

// sessionHeader returns the session token for a request; nil is none.
func (k *Call) sessionHeader(ctx context.Context, at *Partition) (*string, error) {
	if err := k.learnResourceID(ctx); err != nil {
		return nil, err
	}
	all := k.Collection.sessions.header(ctx, cosmos.ContainerID(k.Collection.Container))
	if all == nil || !strings.Contains(*all, ",") {
		return all, nil
	}
	switch {
	case at.physicalPartition != nil:
		if part, ok := partOf(*all, at.physicalPartition.id); ok {
			return &part, nil
		}
	case at.Full:
		if id, ok := k.Collection.sessions.rangeOf(KeyText(at.Values)); ok {
			if part, ok := partOf(*all, id); ok {
				return &part, nil
			}
		}
	}
	if len(*all) <= maxSessionHeader {
		return all, nil
	}
	if at.physicalPartition != nil || !at.Full {
		return nil, nil // nothing was seen of that range
	}
	ranges, err := k.physicalPartitions(ctx, "")
	if err != nil {
		return nil, err
	}
	point, _ := k.Collection.bounds(at.Values)
	for _, r := range ranges {
		if epk.Compare(r.min, point) <= 0 && epk.Compare(point, r.max) < 0 {
			if part, ok := partOf(*all, r.id); ok {
				return &part, nil
			}
		}
	}
	return nil, nil
}

// partOf returns the part of a joined token that is about one range.
func partOf(joined, id string) (string, bool) {
	for part := range strings.SplitSeq(joined, ",") {
		if have, _, _ := strings.Cut(part, ":"); have == id {
			return part, true
		}
	}
	return "", false
}

// learn notes in which range a logical partition lies, from the answer to a
// request about it.
func (s *Sessions) learn(at *Partition, h http.Header) {
	joined := s.joined.Load()
	if at == nil || !at.Full || joined == nil || !strings.Contains(*joined, ",") {
		return
	}
	id, _, ok := strings.Cut(h.Get("x-ms-session-token"), ":")
	if !ok || strings.Contains(h.Get("x-ms-session-token"), ",") {
		return
	}
	key := KeyText(at.Values)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.learned == nil || len(s.learned) >= maxLearned {
		s.learned = map[string]string{}
	}
	s.learned[key] = id
}

func (s *Sessions) rangeOf(key string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok = s.learned[key]
	return id, ok
}
