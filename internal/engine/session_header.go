package engine

import (
	"context"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

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
