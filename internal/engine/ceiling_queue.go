package engine

import (
	"container/heap"
	"time"
)

// waitingTenants holds the tenants with requests that wait. A request costs it the
// logarithm of how many those are; tenants without one cost nothing.
type waitingTenants struct {
	ready  tenantHeap // their own rate lets them send
	closed tenantHeap // it does not yet
}

func (q *waitingTenants) none() bool { return q.ready.Len()+q.closed.Len() == 0 }

// next is the tenant that got the least of those that may send.
func (q *waitingTenants) next() *tenantShare {
	if q.ready.Len() == 0 {
		return nil
	}
	return q.ready.tenants[0]
}

// put adds a tenant, or moves one whose share or rate changed.
func (q *waitingTenants) put(t *tenantShare, now time.Time) {
	q.remove(t)
	if own := t.open(now); own > 0 {
		t.closed, t.due = true, now.Add(own)
		heap.Push(&q.closed, t)
		return
	}
	t.closed = false
	heap.Push(&q.ready, t)
}

func (q *waitingTenants) remove(t *tenantShare) {
	switch {
	case t.turn < 0:
	case t.closed:
		heap.Remove(&q.closed, t.turn)
	default:
		heap.Remove(&q.ready, t.turn)
	}
}

// reopen moves the tenants whose own rate lets them send again.
func (q *waitingTenants) reopen(now time.Time) {
	for q.closed.Len() > 0 && !q.closed.tenants[0].due.After(now) {
		q.put(q.closed.tenants[0], now)
	}
}

// pause is how long until the next tenant's own rate lets it send; 0 when one may.
func (q *waitingTenants) pause(now time.Time) time.Duration {
	if q.ready.Len() > 0 || q.closed.Len() == 0 {
		return 0
	}
	return q.closed.tenants[0].due.Sub(now)
}

// tenantHeap orders tenants by when their own rate lets them send, and those
// that it lets send now by their share.
type tenantHeap struct{ tenants []*tenantShare }

// Len, Less, Swap, Push and Pop are those of heap.Interface.
func (h *tenantHeap) Len() int { return len(h.tenants) }

func (h *tenantHeap) Less(i, j int) bool {
	a, b := h.tenants[i], h.tenants[j]
	if a.closed {
		return a.due.Before(b.due)
	}
	return a.share < b.share
}

func (h *tenantHeap) Swap(i, j int) {
	h.tenants[i], h.tenants[j] = h.tenants[j], h.tenants[i]
	h.tenants[i].turn, h.tenants[j].turn = i, j
}

func (h *tenantHeap) Push(x any) {
	t, _ := x.(*tenantShare)
	t.turn = len(h.tenants)
	h.tenants = append(h.tenants, t)
}

func (h *tenantHeap) Pop() any {
	last := len(h.tenants) - 1
	t := h.tenants[last]
	h.tenants[last] = nil
	h.tenants = h.tenants[:last]
	t.turn = -1
	return t
}
