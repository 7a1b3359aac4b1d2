package eval

import "sync/atomic"

// Memory is what the queries of many requests may hold together. A nil Memory has no bound.
type Memory struct{ left atomic.Int64 }

// NewMemory returns memory of that many bytes.
func NewMemory(bytes int) *Memory {
	m := &Memory{}
	m.left.Store(int64(bytes))
	return m
}

// reserveAhead is what a request takes beyond its need, so that it seldom has to ask.
const reserveAhead = 1 << 20

func (m *Memory) take(bytes int) bool {
	if m == nil {
		return true
	}
	if m.left.Add(-int64(bytes)) < 0 {
		m.left.Add(int64(bytes))
		return false
	}
	return true
}

func (m *Memory) free(bytes int) {
	if m != nil {
		m.left.Add(int64(bytes))
	}
}
