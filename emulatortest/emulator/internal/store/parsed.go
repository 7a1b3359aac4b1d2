package store

import (
	"sync"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxParsedBytes bounds the text of the items that are kept parsed, which takes some three times as much memory.
const maxParsedBytes = 4 << 20

// parsedItems remembers which items are kept parsed, so that queries over few documents don't parse them again and large
// containers don't hold each document twice. The item parsed first is forgotten first. Forks share it with their origin.
type parsedItems struct {
	mu    sync.Mutex
	items []*item // a queue that begins at first
	first int
	bytes int
}

// value gives the item parsed, and keeps it so for a while.
func (p *parsedItems) value(it *item) value.Value {
	if v := it.parsed.Load(); v != nil {
		return *v
	}
	v := it.value()
	if len(it.raw) > maxParsedBytes/4 {
		return v
	}
	it.parsed.Store(&v)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items = append(p.items, it)
	for p.bytes += len(it.raw); p.bytes > maxParsedBytes; p.first++ {
		oldest := p.items[p.first]
		oldest.parsed.Store(nil)
		p.bytes -= len(oldest.raw)
		p.items[p.first] = nil
	}
	if p.first > len(p.items)/2 {
		n := copy(p.items, p.items[p.first:])
		clear(p.items[n:])
		p.items, p.first = p.items[:n], 0
	}
	return v
}
