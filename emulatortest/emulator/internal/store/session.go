package store

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// sessionToken names a partition and the LSN that a reader has seen of it, in the form of a single region.
func (p *partition) sessionToken(lsn int64) string {
	return p.name() + ":-1#" + strconv.FormatInt(lsn, 10)
}

// sessionEntry is one part of a session token.
type sessionEntry struct {
	rangeID int
	lsn     int64
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
		text := fields[0]
		if len(fields) > 1 {
			if _, err := strconv.ParseInt(fields[0], 10, 64); err != nil {
				ok = false
			}
			text = fields[1]
			ok = ok && regionsValid(fields[2:])
		}
		rangeID, err := strconv.Atoi(id)
		lsn, err2 := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || err2 != nil || rangeID < 0 {
			return nil, badRequest("The session token provided is invalid: it should look like 0:-1#12, with a comma between several.")
		}
		entries = append(entries, sessionEntry{rangeID: rangeID, lsn: lsn})
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

// checkSession refuses a read whose token is ahead of what the partition can show (404/1002). A token of an ancestor
// counts, since children go on with their parent's LSNs; one of a range that never existed is 410/1002.
func (p *partition) checkSession(entries []sessionEntry, lsn int64) error {
	for _, e := range entries {
		if e.rangeID >= p.c.nextRange {
			return rangeGone(strconv.Itoa(e.rangeID))
		}
		if e.lsn > lsn && (e.rangeID == p.id || slices.Contains(p.parents, e.rangeID)) {
			return refuse(http.StatusNotFound, SubstatusSessionNotAvailable, textSession)
		}
	}
	return nil
}
