package changefeed

import "time"

// idleShare is the part of the time for which a range had nothing new that may
// pass before it is asked again.
const idleShare = 10

// idlePause is the wait before a range is read again that has had nothing new
// for that long: what has just changed is likely to change again, and what has
// not for a while costs little.
func idlePause(idle, first, longest time.Duration) time.Duration {
	return max(first, min(idle/idleShare, longest))
}
