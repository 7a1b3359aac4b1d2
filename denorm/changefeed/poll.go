package changefeed

import (
	"fmt"
	"time"
)

// idleShare is the part of the time for which a range had nothing new that may
// pass before it is asked again.
const idleShare = 10

// longestInterval bounds every interval: with more, a number of another unit was meant.
const longestInterval = 24 * time.Hour

const useSeconds = "leave it out for its default, or use seconds, at most a day"

func isInterval(d time.Duration) bool { return d >= 0 && d <= longestInterval }

// intervalRefusal names the field of the two that can't be, and why; "" is none.
func intervalRefusal(first, longest time.Duration) (field, reason, hint string) {
	switch {
	case !isInterval(first):
		return "PollInterval", fmt.Sprintf("it is %s", first), useSeconds
	case !isInterval(longest):
		return "MaxPollInterval", fmt.Sprintf("it is %s", longest), useSeconds
	case longest < first:
		return "MaxPollInterval", fmt.Sprintf("it is %s and PollInterval %s", longest, first), "make it the longer one, or leave it out"
	}
	return "", "", ""
}

// idlePause is the wait before a range is read again that has had nothing new
// for that long: what has just changed is likely to change again, and what has
// not for a while costs little.
func idlePause(idle, first, longest time.Duration) time.Duration {
	return max(first, min(idle/idleShare, longest))
}
