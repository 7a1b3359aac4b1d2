package emulatortest

import (
	"net/http"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// suspension is longer than any lease.
const suspension = 10 * time.Minute

// FaultKinds are what may become of a request of a client that sends each once: what [Explore] tries.
func FaultKinds() []FaultKind {
	write := Request.IsWrite
	return []FaultKind{
		{Name: "killed", Fault: emulator.Kill()},
		{Name: "killed-after", Fault: emulator.Kill().AfterEffect(), Fits: write},
		{Name: "refused", Fault: emulator.Answer(http.StatusServiceUnavailable, 0)},
		{Name: "refused-after", Fault: emulator.Answer(http.StatusServiceUnavailable, 0).AfterEffect(), Fits: write},
		{Name: "timed-out", Fault: emulator.Answer(http.StatusRequestTimeout, 0)},
		{Name: "timed-out-after", Fault: emulator.Answer(http.StatusRequestTimeout, 0).AfterEffect(), Fits: write},
		{Name: "cut", Fault: emulator.Cut()},
		{Name: "cut-after", Fault: emulator.Cut().AfterEffect(), Fits: write},
		{Name: "late-1", Fault: emulator.Cut().Later(1), Fits: write},
		{Name: "late-2", Fault: emulator.Cut().Later(2), Fits: write},
		{Name: "late-3", Fault: emulator.Cut().Later(3), Fits: write},
		{Name: "late-end", Fault: emulator.Cut().Later(0), Fits: write},
		{Name: "late-timed-out", Fault: emulator.Answer(http.StatusRequestTimeout, 0).Later(2), Fits: write},
		{Name: "throttled", Fault: emulator.Throttle(time.Second)},
		{Name: "retry-with", Fault: emulator.Answer(449, 0), Fits: write},
		{Name: "gone", Fault: emulator.Answer(http.StatusGone, 1002), Fits: onItems},
		{Name: "forbidden", Fault: emulator.Answer(http.StatusForbidden, 5300)},
		{Name: "region-lost", Fault: emulator.Answer(http.StatusForbidden, 3)},
		{Name: "suspended", Fault: emulator.Suspend(suspension)},
		{Name: "suspended-after", Fault: emulator.Suspend(suspension).AfterEffect(), Fits: write},
		{Name: "behind-1", Fault: emulator.Behind(1), Fits: Request.IsRead},
		{Name: "behind-2", Fault: emulator.Behind(2), Fits: Request.IsRead},
		{Name: "behind-5", Fault: emulator.Behind(5), Fits: Request.IsRead},
		{Name: "empty-page", Fault: emulator.EmptyPage(), Fits: isPage},
		{Name: "short-page", Fault: emulator.ShortPage(1), Fits: isPage},
		{Name: "split", Fault: emulator.Split(), Fits: onItems},
		{Name: "merge", Fault: emulator.Merge(), Fits: onItems},
	}
}

// SentTwiceKinds are writes that took effect and that something beneath the client, a proxy or a library, sent again, so that
// the answer is the refusal of the second copy. [Explore] does not try them by itself: only code that marks its writes can tell such an answer
// from a true one.
func SentTwiceKinds() []FaultKind {
	return []FaultKind{
		{Name: "sent-twice-412", Fault: emulator.Answer(http.StatusPreconditionFailed, 0).AfterEffect(), Fits: func(r Request) bool {
			return r.Conditional && r.IsWrite()
		}},
		{Name: "sent-twice-409", Fault: emulator.Answer(http.StatusConflict, 0).AfterEffect(), Fits: func(r Request) bool {
			return r.Operation == emulator.CreateItem
		}},
		{Name: "sent-twice-404", Fault: emulator.Answer(http.StatusNotFound, 0).AfterEffect(), Fits: func(r Request) bool {
			return r.Operation == emulator.DeleteItem
		}},
	}
}

func onItems(r Request) bool { return r.IsRead() || r.IsWrite() }

func isPage(r Request) bool {
	return r.Operation == emulator.QueryItems || r.Operation == emulator.ListItems
}
