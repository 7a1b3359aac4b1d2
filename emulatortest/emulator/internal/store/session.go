package store

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// firstVersion is the version in the tokens of a partition that no merge made.
const firstVersion = -1

// sessionToken names a partition, its version and the LSN that a reader has seen of it, in the form of a single region.
func (p *partition) sessionToken(lsn int64) string {
	return p.name() + ":" + strconv.FormatInt(p.version, 10) + "#" + strconv.FormatInt(lsn, 10)
}

// sessionEntry is one part of a session token.
type sessionEntry struct {
	rangeID int
	version int64
	lsn     int64
	simple  bool // of the form range:lsn, which has no version
}

// parseSession reads a token: comma-joined parts of the form range:version#lsn[#region=lsn ...] or range:lsn.
func parseSession(token string) ([]sessionEntry, error) {
	if token == "" {
		return nil, nil
	}
	var entries []sessionEntry
	for part := range strings.SplitSeq(token, ",") {
		id, position, ok := strings.Cut(strings.TrimSpace(part), ":")
		fields := strings.Split(position, "#")
		text, version := fields[0], int64(firstVersion)
		if len(fields) > 1 {
			var err error
			version, err = strconv.ParseInt(fields[0], 10, 64)
			text = fields[1]
			ok = ok && err == nil && version >= firstVersion && regionsValid(fields[2:])
		}
		rangeID, err := strconv.Atoi(id)
		lsn, err2 := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || err2 != nil || rangeID < 0 {
			return nil, badRequest("The session token provided is invalid: it should look like 0:-1#12, with a comma between several.")
		}
		entries = append(entries, sessionEntry{rangeID: rangeID, version: version, lsn: lsn, simple: len(fields) == 1})
	}
	return entries, nil
}

func regionsValid(fields []string) bool {
	for _, f := range fields {
		region, lsn, ok := strings.Cut(f, "=")
		if !ok {
			return false
		}
		if _, err := strconv.ParseUint(region, 10, 64); err != nil {
			return false
		}
		if _, err := strconv.ParseInt(lsn, 10, 64); err != nil {
			return false
		}
	}
	return true
}

// aheadOf reports whether the token has seen what a replica of that version and LSN has not: a newer version, or a later LSN of the same.
// What was seen of an older version is in the newer one, whatever its LSN.
func (e sessionEntry) aheadOf(version, lsn int64) bool {
	if e.simple || e.version == version {
		return e.lsn > lsn
	}
	return e.version > version
}

// checkSession refuses a read whose token is ahead of what the partition can show (404/1002). Only the parts of a composite token that
// are about the partition count, those of its ancestors among them, since children go on with their parent's LSNs; a range that
// never existed is 410/1002.
func (p *partition) checkSession(entries []sessionEntry, lsn int64) error {
	for _, e := range entries {
		if e.rangeID >= p.c.nextRange {
			return rangeGone(strconv.Itoa(e.rangeID))
		}
		if e.aheadOf(p.version, lsn) && (e.rangeID == p.id || slices.Contains(p.parents, e.rangeID)) {
			return refuse(http.StatusNotFound, SubstatusSessionNotAvailable, textSession)
		}
	}
	return nil
}
