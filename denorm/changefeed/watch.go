package changefeed

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
	"github.com/cosmosgrove/grove/tenantitem"
)

// WatchOptions says where a watch begins and how it reads. The zero value
// watches from now.
type WatchOptions struct {
	// StartFrom is where the watch begins. Defaults to [Now]; a cache that is to
	// hold everything begins with [Beginning].
	StartFrom Start
	// Position goes on behind a change of an earlier watch, see
	// [Change.Position], and wins over StartFrom.
	Position string
	// MaxItems is the most changes that one request reads, 1 to 1,000. Defaults
	// to 100. A watch holds [WatchedAtOnce] times as many in memory at most.
	MaxItems int
	// PollInterval is the wait after a range had nothing new. Defaults to 1 s.
	PollInterval time.Duration
	// MaxPollInterval is what that wait grows to in a range that has had nothing
	// new for long, as in [Config.MaxPollInterval]. Defaults to PollInterval.
	MaxPollInterval time.Duration
	// Session is as in [Config.Session].
	Session func() string
	// Logger is told when a range stands still because the service does not
	// answer, and when it goes on. Defaults to no logging.
	Logger *slog.Logger
}

// WatchedAtOnce is how many ranges a watch reads at the same time, and so how
// many pages it holds at most.
const WatchedAtOnce = 4

// Watch follows the changes of a container without leases and checkpoints:
// every process that watches sees every change. It is for caches and live
// pages; a [Processor] is for work that has to be done once.
//
// Every change made after the start comes, those of a logical partition in
// their order; a document that changed several times may be seen in its last
// state only. Nothing is read ahead of the loop but the pages that it is in the
// midst of, so a slow loop is behind and does not take more memory. The watch
// goes on over splits and merges of physical partitions. What passes, such as
// an outage of the service, is waited out; any other error is yielded once and
// ends the watch. The end of the context ends it without an error. There is no
// I/O before the loop begins.
//
//	for change, err := range changefeed.Watch(ctx, container, changefeed.WatchOptions{}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
func Watch(ctx context.Context, container *azcosmos.ContainerClient, opts WatchOptions) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		w := &watch{container: container, opts: opts.withDefaults()}
		err := w.validate()
		if err == nil {
			err = w.run(ctx, yield)
		}
		if err != nil && ctx.Err() == nil {
			yield(Change{}, fmt.Errorf("changefeed: watching: %w", redact.Error(err)))
		}
	}
}

func (o WatchOptions) withDefaults() WatchOptions {
	o.MaxItems = cmp.Or(o.MaxItems, 100)
	o.PollInterval = cmp.Or(o.PollInterval, time.Second)
	o.MaxPollInterval = cmp.Or(o.MaxPollInterval, o.PollInterval)
	if o.StartFrom.kind == startUnset {
		o.StartFrom = Now()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// watch is one loop over a container's changes.
type watch struct {
	container *azcosmos.ContainerClient
	opts      WatchOptions
	reader    *reader
	id        string     // the container's resource id
	start     *time.Time // of ranges without a continuation
	ranges    []*watchedRange
	stall     watchStall
}

// watchedRange is one range of a watch. It is read by one goroutine at a time.
type watchedRange struct {
	at       position
	due      time.Time // to be read
	since    time.Time // had nothing new
	failures int
	page     page
	err      error
}

func (w *watch) validate() error {
	refuse := func(field, reason, hint string) error {
		return &tenantitem.InvalidError{What: "changefeed.WatchOptions." + field, Reason: reason, Hint: hint}
	}
	switch {
	case w.container == nil:
		return &tenantitem.InvalidError{What: "changefeed.Watch", Reason: "the container is nil", Hint: "pass the container to watch"}
	case w.opts.MaxItems < 1 || w.opts.MaxItems > 1000:
		return refuse("MaxItems", fmt.Sprintf("it is %d", w.opts.MaxItems), "use 1 to 1000")
	}
	if field, reason, hint := intervalRefusal(w.opts.PollInterval, w.opts.MaxPollInterval); field != "" {
		return refuse(field, reason, hint)
	}
	return nil
}

func (w *watch) run(ctx context.Context, yield func(Change, error) bool) error {
	if err := w.waitOut(ctx, func() error { return w.open(ctx) }); err != nil {
		return err
	}
	for ctx.Err() == nil {
		due := w.due(ctx)
		w.read(ctx, due)
		for _, r := range due {
			if goOn, err := w.deliver(ctx, r, yield); err != nil || !goOn {
				return err
			}
		}
	}
	return nil
}

// waitOut repeats a step until it is done or fails for good.
func (w *watch) waitOut(ctx context.Context, step func() error) error {
	for try := 0; ; try++ {
		err := step()
		if err == nil {
			w.stall.end(ctx, w)
			return nil
		}
		if !requestPasses(err) {
			return err
		}
		w.stall.note(ctx, w, err)
		if !wait(ctx, backoff(firstWatchPause, try)) {
			return ctx.Err()
		}
	}
}

// firstWatchPause is the wait after a first failure.
const firstWatchPause = 100 * time.Millisecond

// open finds out where every range begins.
func (w *watch) open(ctx context.Context) error {
	if w.reader == nil {
		properties, _, err := cosmos.ReadContainer(ctx, w.container)
		if err != nil {
			return err
		}
		w.id = properties.ResourceID
		w.reader = newReader(w.container, properties, w.opts.MaxItems, w.opts.Session)
	}
	if w.opts.Position != "" {
		from, err := parseWatchPosition(w.opts.Position, w.id)
		if err != nil {
			return err
		}
		w.start = from.StartFrom
		for _, r := range from.Ranges {
			w.ranges = append(w.ranges, newWatchedRange(position{r.keyRange, r.Continuation}))
		}
		return nil
	}
	if w.opts.StartFrom.kind == startTime {
		w.start = &w.opts.StartFrom.at
	}
	at := []position{{keys: everything}}
	if w.opts.StartFrom.kind == startNow {
		var err error
		if at, err = w.reader.now(ctx, everything); err != nil {
			return err
		}
	}
	for _, one := range at {
		w.ranges = append(w.ranges, newWatchedRange(one))
	}
	return nil
}

func newWatchedRange(at position) *watchedRange {
	now := time.Now()
	return &watchedRange{at: at, due: now, since: now}
}

// due waits until some ranges are to be read, and returns those that waited
// longest.
func (w *watch) due(ctx context.Context) []*watchedRange {
	slices.SortStableFunc(w.ranges, func(a, b *watchedRange) int { return a.due.Compare(b.due) })
	if !wait(ctx, time.Until(w.ranges[0].due)) {
		return nil
	}
	now := time.Now()
	due := w.ranges[:min(WatchedAtOnce, len(w.ranges))]
	return slices.DeleteFunc(slices.Clone(due), func(r *watchedRange) bool { return r.due.After(now) })
}

func (w *watch) read(ctx context.Context, due []*watchedRange) {
	var group sync.WaitGroup
	for _, r := range due {
		group.Go(func() { r.page, r.err = w.reader.read(ctx, r.at, w.start, w.reader.maxItems) })
	}
	group.Wait()
}

// deliver yields what a read has brought. It reports false when the loop was left.
func (w *watch) deliver(ctx context.Context, r *watchedRange, yield func(Change, error) bool) (goOn bool, err error) {
	pg, err := r.page, r.err
	r.page, r.err = page{}, nil
	now := time.Now()
	if err != nil {
		if ctx.Err() != nil || !requestPasses(err) {
			return false, err
		}
		w.stall.note(ctx, w, err)
		r.due = now.Add(backoff(firstWatchPause, r.failures))
		r.failures++
		return true, nil
	}
	w.stall.end(ctx, w)
	r.failures = 0
	before := w.position()
	w.advance(r, pg, now)
	for i, c := range pg.changes {
		// Within a page there is no position to go on from but its beginning.
		c.position = before
		if i == len(pg.changes)-1 {
			c.position = w.position()
		}
		if ctx.Err() != nil || !yield(c, nil) {
			return false, nil //nolint:nilerr // the end of the context is the reader's own doing, and ends the sequence
		}
	}
	return true, nil
}

// advance moves a range behind a page, or puts its parts in its place.
func (w *watch) advance(r *watchedRange, pg page, now time.Time) {
	if !pg.isSplit() {
		r.at = pg.next[0]
		if !pg.empty {
			r.since, r.due = now, now
			return
		}
		r.due = now.Add(idlePause(now.Sub(r.since), w.opts.PollInterval, w.opts.MaxPollInterval))
		return
	}
	w.ranges = slices.DeleteFunc(w.ranges, func(other *watchedRange) bool { return other == r })
	for _, at := range pg.next {
		w.ranges = append(w.ranges, newWatchedRange(at))
	}
}

// position is where a watch would go on that began now.
func (w *watch) position() *watchPosition {
	out := &watchPosition{Container: w.id, StartFrom: w.start}
	for _, r := range w.ranges {
		out.Ranges = append(out.Ranges, startPosition{r.at.keys, r.at.continuation})
	}
	slices.SortFunc(out.Ranges, func(a, b startPosition) int { return strings.Compare(a.Min, b.Min) })
	return out
}

// watchStall tells once that something does not answer, and once that it does again.
type watchStall struct {
	since time.Time
	told  bool
}

func (s *watchStall) note(ctx context.Context, w *watch, err error) {
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if !s.told && time.Since(s.since) >= stallGrace {
		s.told = true
		w.opts.Logger.WarnContext(ctx, "watch stands still until this passes", "container", cosmos.ContainerID(w.container), "since", s.since, "error", redact.Error(err))
	}
}

func (s *watchStall) end(ctx context.Context, w *watch) {
	if s.told {
		w.opts.Logger.InfoContext(ctx, "watch goes on", "container", cosmos.ContainerID(w.container), "stood", time.Since(s.since))
	}
	*s = watchStall{}
}
