package faults

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// Set holds the faults of one emulator. Its methods may be called at the same time. The zero value holds none.
type Set struct {
	mu    sync.Mutex
	armed []*Armed
}

// Armed is a fault in a set.
type Armed struct {
	set     *Set
	fault   Fault
	random  *rand.Rand
	matched int
	fired   int
}

// Add arms a fault. Faults are asked in the order in which they were added; the first that is due decides.
func (s *Set) Add(f Fault) *Armed {
	a := &Armed{set: s, fault: f, random: rand.New(rand.NewPCG(f.seed, f.seed))}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = append(s.armed, a)
	return a
}

// Clear disarms every fault.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = nil
}

// Decide says what becomes of a request; ok is false when nothing does. Every fault that the request matches counts it.
func (s *Set) Decide(t Target) (effect Effect, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var spent *Armed
	for _, a := range s.armed {
		if !a.fault.matches(t) {
			continue
		}
		a.matched++
		if ok || !a.due() {
			continue
		}
		a.fired++
		effect, ok = a.fault.effect, true
		if a.fault.times != forever && a.fired >= a.fault.times {
			spent = a
		}
	}
	if spent != nil {
		s.drop(spent)
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
