package faults

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Set holds the faults of one emulator. It may be used by many goroutines. The zero value holds none.
//
// Its methods are what tests call. What serves the requests asks it by functions of this package, such as [Decide]: the set is public under
// another name, and they are of no use there.
type Set struct {
	mu        sync.Mutex
	armed     []*Armed
	late      []*late
	dead      map[string]bool // clients that were killed
	suspended map[string]time.Time
}

// Armed is a fault in a set.
type Armed struct {
	set     *Set
	fault   Fault
	random  *rand.Rand
	matched int
	fired   int
}

// Add arms a fault. Faults are asked in the order in which they were added. Those that decide different things (the
// answer, a delay, the replica, the page, the partitions) happen together; of two that decide the same, the first.
func (s *Set) Add(f Fault) *Armed {
	a := &Armed{set: s, fault: f, random: rand.New(rand.NewPCG(f.seed, f.seed))}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = append(s.armed, a)
	return a
}

// Clear disarms every fault and lets killed and suspended clients go on. Requests that are still under way stay so until
// [Set.ApplyLate].
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed, s.dead, s.suspended = nil, nil, nil
}

// NamesItems says whether a fault asks for an item, so that it is worth looking into a body for its id.
func NamesItems(s *Set) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.armed, func(a *Armed) bool { return a.fault.item != "" })
}

// Decide says what becomes of a request; ok is false when nothing does. Every fault that the request matches counts it.
func Decide(s *Set, t Target) (effect Effect, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead[t.Client] {
		return Effect{Kill: true, Cut: true}, true
	}
	var spent []*Armed
	for _, a := range s.armed {
		if !a.fault.matches(t) {
			continue
		}
		a.matched++
		joined, fits := effect.join(a.fault.effect)
		if !fits || !a.due() {
			continue
		}
		a.fired++
		effect, ok = joined, true
		if a.fault.times != forever && a.fired >= a.fault.times {
			spent = append(spent, a)
		}
	}
	for _, a := range spent {
		s.drop(a)
	}
	if effect.Kill {
		if s.dead == nil {
			s.dead = map[string]bool{}
		}
		s.dead[t.Client] = true
	}
	return effect, ok
}

func (a *Armed) due() bool {
	if a.matched < a.fault.nth {
		return false
	}
	return a.fault.chance == 0 || a.random.Float64() < a.fault.chance
}

func (s *Set) drop(a *Armed) {
	s.armed = slices.DeleteFunc(s.armed, func(other *Armed) bool { return other == a })
}

// Disarm takes the fault out of its set. Doing it twice does nothing more.
func (a *Armed) Disarm() {
	a.set.mu.Lock()
	defer a.set.mu.Unlock()
	a.set.drop(a)
}

// Fired says how many requests the fault has happened to.
func (a *Armed) Fired() int {
	a.set.mu.Lock()
	defer a.set.mu.Unlock()
	return a.fired
}

// Matched says how many requests fitted the fault while it was armed, whether it happened to them or not.
func (a *Armed) Matched() int {
	a.set.mu.Lock()
	defer a.set.mu.Unlock()
	return a.matched
}
