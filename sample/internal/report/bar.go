package report

import (
	"fmt"
	"strings"
	"sync"
)

// Bar shows how far something is, on a terminal; elsewhere it prints nothing,
// because a log is no place for a line that changes. It may be used by several
// goroutines.
type Bar struct {
	report *Report
	label  string
	total  int

	mu    sync.Mutex
	shown string
}

// Bar begins a bar. End it with Done.
func (r *Report) Bar(label string, total int) *Bar {
	b := &Bar{report: r, label: label, total: total}
	b.Set(0)
	return b
}

const barWidth = 30

// Set shows that so many of the total are done.
func (b *Bar) Set(done int) {
	if !b.report.terminal {
		return
	}
	filled := barWidth
	if b.total > 0 {
		filled = min(done, b.total) * barWidth / b.total
	}
	text := fmt.Sprintf("    %s %s%s %d/%d", b.label,
		b.report.styled(green, strings.Repeat("█", filled)), b.report.styled(dim, strings.Repeat("░", barWidth-filled)), done, b.total)
	b.mu.Lock()
	defer b.mu.Unlock()
	if text == b.shown {
		return
	}
	b.shown = text
	fmt.Fprintf(b.report.out, "\r%s", text)
}

// Done takes the bar away.
func (b *Bar) Done() {
	if b.report.terminal {
		fmt.Fprint(b.report.out, "\r\x1b[K")
	}
}
