package changefeed

import (
	"encoding/base64"
	"strconv"
	"strings"
	"sync"
)

// A replica may be behind what this process has written or read. The service
// waits for it, or says so (404/1002), when a read brings a session token. The
// SDK has no field for it in a feed's options, and takes no note of tokens at
// all. What is known comes from two places: from the feed's own answers, and
// from [Config.Session], which tells of the process's writes.
//
// A token names physical partitions by their ids, and a request should bring
// that of its own partition alone: the header of a large container would be
// too long otherwise. The SDK tells the id of a partition only after the first
// read of it.
type sessions struct {
	outside func() string // Config.Session; may be nil

	mu     sync.Mutex
	text   string // what outside returned last
	parsed sessionParts
	seen   sessionParts // from answers of the feed
	ids    []rangeID
}

// headerSession brings a token with an answer.
const headerSession = "x-ms-session-token"

// rangeID is the id of a physical partition. Those of partitions that were
// split or merged stay known, since a token of theirs holds for what came of
// them.
type rangeID struct {
	keys keyRange
	id   string
}

// sessionPart is how far one physical partition was seen.
type sessionPart struct {
	version, lsn int64
	text         string // as the service wrote it, without the id
}

// sessionParts are parts by the id of their partition.
type sessionParts map[string]sessionPart

// merge takes over what is further.
func (s sessionParts) merge(other sessionParts) {
	for id, part := range other {
		if have, ok := s[id]; !ok || part.isAhead(have) {
			s[id] = part
		}
	}
}

// isAhead reports whether a replica at other lacks something of s. After a
// merge the numbers begin anew under the next version, and say nothing of each
// other.
func (s sessionPart) isAhead(other sessionPart) bool {
	return s.version == other.version && s.lsn > other.lsn || s.version > other.version
}

// note learns from an answer of the feed.
func (s *sessions) note(keys keyRange, id, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" && !keys.isEmpty() && s.idOf(keys) != id {
		s.ids = append(s.ids, rangeID{keys, id})
	}
	if s.seen == nil {
		s.seen = sessionParts{}
	}
	s.seen.merge(parseSession(token))
}

// token returns the header for a read of a physical partition: empty when
// nothing is known about it.
func (s *sessions) token(keys keyRange) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.idOf(keys)
	if part, ok := s.newest(keys); ok && id != "" {
		return id + ":" + part.text
	}
	return ""
}

// behind reports whether an answer of a physical partition came from a replica
// that lacks what is known about it.
func (s *sessions) behind(keys keyRange, answer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest, ok := s.newest(keys)
	came, told := parseSession(answer)[s.idOf(keys)]
	return ok && told && newest.isAhead(came)
}

// newest is what is known about a partition, and about those that it came from.
func (s *sessions) newest(keys keyRange) (newest sessionPart, ok bool) {
	if s.outside != nil {
		if text := s.outside(); text != s.text {
			s.text, s.parsed = text, parseSession(text)
		}
	}
	for _, known := range s.ids {
		if known.keys.intersect(keys).isEmpty() {
			continue
		}
		for _, parts := range []sessionParts{s.parsed, s.seen} {
			if part, has := parts[known.id]; has && (!ok || part.isAhead(newest)) {
				newest, ok = part, true
			}
		}
	}
	return newest, ok
}

// idOf returns the newest id of a physical partition.
func (s *sessions) idOf(keys keyRange) string {
	for i := len(s.ids) - 1; i >= 0; i-- {
		if s.ids[i].keys.equal(keys) {
			return s.ids[i].id
		}
	}
	return ""
}

// handedOver begins the texts that repository.Repository.SessionToken returns:
// base64 of the container's name, a zero byte and the tokens.
const handedOver = "s1."

// parseSession reads the service's tokens, joined by commas. Parts that have
// another form are left out: a read without them is served by any replica.
func parseSession(text string) sessionParts {
	if coded, ok := strings.CutPrefix(text, handedOver); ok {
		raw, _ := base64.RawURLEncoding.DecodeString(coded) // what does not decode has no parts
		_, text, _ = strings.Cut(string(raw), "\x00")
	}
	parts := sessionParts{}
	for part := range strings.SplitSeq(text, ",") {
		id, progress, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok || id == "" || strings.Trim(id, "0123456789") != "" {
			continue
		}
		if p, ok := parseProgress(progress); ok {
			if have, twice := parts[id]; !twice || p.isAhead(have) {
				parts[id] = p
			}
		}
	}
	return parts
}

// parseProgress reads "version#lsn", with "#region=lsn" behind it where several
// regions take writes, or the older form "lsn".
func parseProgress(text string) (p sessionPart, ok bool) {
	if strings.Trim(text, "0123456789-#=") != "" {
		return p, false
	}
	fields := strings.Split(text, "#")
	p = sessionPart{version: -1, text: text}
	var err error
	if len(fields) > 1 {
		if p.version, err = strconv.ParseInt(fields[0], 10, 64); err != nil {
			return p, false
		}
		fields = fields[1:]
	}
	p.lsn, err = strconv.ParseInt(fields[0], 10, 64)
	return p, err == nil
}
