package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

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
