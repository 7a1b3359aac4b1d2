package script

import (
	"context"
	"net/http"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// watchEvery is how often a run's memory is looked at. Runs that are shorter are not looked at.
const watchEvery = 5 * time.Millisecond

// watch stops the run when its time is over, when its client has gone, or when the process's memory has grown too far.
// The returned function ends the watch.
func (s *session) watch(ctx context.Context) (end func()) {
	begin := now()
	timer := time.AfterFunc(max(s.limits.Time-s.spent, 0), func() {
		s.stop(failure(http.StatusRequestTimeout, "The script execution was stopped: it took longer than %s.", s.limits.Time))
	})
	release := context.AfterFunc(ctx, func() {
		s.stop(failure(http.StatusRequestTimeout, "The script execution was stopped: its client has gone."))
	})
	memory := s.watchMemory()
	return func() {
		timer.Stop()
		release()
		memory()
		s.spent += now().Sub(begin)
	}
}

func (s *session) watchMemory() (end func()) {
	var mu sync.Mutex
	ended := false
	before := int64(-1) // measured at the first look, so that a short run is spared it
	var timer *time.Timer
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		if before < 0 {
			before = liveMemory()
		}
		if grown := liveMemory() - before; grown > s.limits.Memory {
			// What grew may be garbage. A collection takes a while, in which the script goes on: not far beyond the limit.
			if grown < 2*s.limits.Memory {
				runtime.GC()
				grown = liveMemory() - before
			}
			if grown > s.limits.Memory {
				s.stop(failure(http.StatusBadRequest, "The script execution was stopped: it used more than %d MB of memory.", s.limits.Memory>>20))
				return
			}
		}
		timer.Reset(watchEvery)
	}
	mu.Lock()
	timer = time.AfterFunc(watchEvery, look)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
	}
}

// liveMemory is what the process's objects take, those not yet collected included.
func liveMemory() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
