package store

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"

// Count is how many documents meet a condition, or how many there are if it is nil, by the numbers that trees keep. It reports
// false when that takes a look at the items: without an index, in a scope that is part of a physical partition and not one logical
// one, and while items that expired or that queries don't see are among them.
func (s *Snapshot) Count(c *index.Condition) (int, bool) {
	n := 0
	for _, part := range s.parts {
		if !s.area.logical && !s.area.whole(part.p) || part.s.hidden > 0 {
			return 0, false
		}
		if next, ok := part.s.deadlines.Min(); ok && next.at <= s.visible.now.Unix() {
			return 0, false
		}
		if c == nil {
			n += s.items(part)
			continue
		}
		_, found, ok := s.spans(part, []index.Condition{*c})
		if !ok {
			return 0, false
		}
		n += found
	}
	return n, true
}
