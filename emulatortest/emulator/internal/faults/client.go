package faults

import (
	"slices"
	"time"
)

// late is a request that is still under way though its client was told that the connection broke.
type late struct {
	client string
	// left is how many requests of the client go before it; 0 waits for ApplyLate.
	left  int
	apply func()
}

// Arrived tells that a client makes a request, and gives what has to take effect right before it, oldest first.
func Arrived(s *Set, client string) []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []func()
	s.late = slices.DeleteFunc(s.late, func(l *late) bool {
		if l.client != client || l.left == 0 {
			return false
		}
		l.left--
		if l.left == 0 {
			due = append(due, l.apply)
		}
		return l.left == 0
	})
	return due
}

// Hold keeps a request under way: apply is called before the n-th request that its client makes from now on, or by
// ApplyLate.
func Hold(s *Set, client string, n int, apply func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, &late{client: client, left: n, apply: apply})
}

// ApplyLate lets every request take effect that [Fault.Later] still keeps under way, oldest first, and says how many.
func (s *Set) ApplyLate() int {
	s.mu.Lock()
	all := s.late
	s.late = nil
	s.mu.Unlock()
	for _, l := range all {
		l.apply()
	}
	return len(all)
}

// Revive lets a killed client make requests again, as a process of the same name that was started anew.
func (s *Set) Revive(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dead, client)
}

// SuspendUntil holds the client's requests back until that time.
func SuspendUntil(s *Set, client string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended == nil {
		s.suspended = map[string]time.Time{}
	}
	s.suspended[client] = at
}

// SuspendedFor says how long the client's requests have to wait at that time; 0 when it is not suspended.
func SuspendedFor(s *Set, client string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.suspended[client]
	if !ok {
		return 0
	}
	if !until.After(now) {
		delete(s.suspended, client)
		return 0
	}
	return until.Sub(now)
}
