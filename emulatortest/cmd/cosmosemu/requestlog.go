package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

const (
	slowRequest = 100 * time.Millisecond // from here on a request is marked as slow
	scanFactor  = 10                     // a query that loads so many times what it gives is marked as a scan
	scanLeast   = 100                    // unless it loads fewer documents than that
)

// requestLog writes a line for each request.
type requestLog struct {
	mu     sync.Mutex
	out    io.Writer
	colour bool
}

// newRequestLog writes with colours to a terminal, unless NO_COLOR says otherwise (https://no-color.org).
func newRequestLog(out io.Writer, noColour string) *requestLog {
	file, isFile := out.(*os.File)
	return &requestLog{out: out, colour: isFile && noColour == "" && term.IsTerminal(int(file.Fd()))}
}

// watch has every request of a handler written.
func (l *requestLog) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		ctx := emulator.Observe(r.Context(), func(e emulator.Exchange) { l.write(e, begin, time.Since(begin)) })
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (l *requestLog) write(e emulator.Exchange, at time.Time, took time.Duration) {
	line := l.line(e, at, took)
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.out, line)
}

// line is one request for a person to read: time, status, operation, place, charge, partitions, what a query loaded, and marks.
func (l *requestLog) line(e emulator.Exchange, at time.Time, took time.Duration) string {
	status := fmt.Sprint(e.Status)
	if e.Substatus != 0 {
		status += fmt.Sprint("/", e.Substatus)
	}
	if e.Cut {
		status = "cut"
	}
	fields := []string{
		at.Format("15:04:05.000"), l.paint(statusColour(e), fmt.Sprintf("%-8s", status)), fmt.Sprintf("%-24s", e.Operation),
		fmt.Sprintf("%-24s", place(e)), fmt.Sprintf("%8.2f RU", e.Charge), fmt.Sprintf("%7.1f ms", float64(took.Microseconds())/1000),
	}
	if e.Partitions > 0 {
		fields = append(fields, fmt.Sprintf("%d partition(s)", e.Partitions))
	}
	if e.Loaded > 0 {
		fields = append(fields, fmt.Sprintf("loaded %d for %d", e.Loaded, e.Returned))
	}
	for _, m := range marks(e, took) {
		fields = append(fields, l.paint(yellow, m))
	}
	return strings.TrimRight(strings.Join(fields, "  "), " ")
}

// place is where a request went, as far as its link names it. Ids are the caller's data and are quoted when they hold
// what could be taken for something else.
func place(e emulator.Exchange) string {
	var names []string
	for _, name := range []string{e.Database, e.Container, e.Item} {
		if name == "" {
			continue
		}
		const most = 40
		if short := []rune(name); len(short) > most {
			name = string(short[:most]) + "…"
		}
		if quoted := fmt.Sprintf("%q", name); strings.ContainsAny(name, " /") || len(quoted) != len(name)+2 {
			name = quoted
		}
		names = append(names, name)
	}
	return strings.Join(names, "/")
}

// marks are what one would want to know of a request at a glance.
func marks(e emulator.Exchange, took time.Duration) []string {
	var list []string
	if e.FanOut {
		list = append(list, "fan-out")
	}
	if e.Loaded >= scanLeast && e.Loaded >= scanFactor*max(e.Returned, 1) {
		list = append(list, "scan")
	}
	if took >= slowRequest {
		list = append(list, "slow")
	}
	if e.Faulted {
		list = append(list, "fault")
	}
	return list
}

const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	plain  = "\x1b[0m"
)

func statusColour(e emulator.Exchange) string {
	switch {
	case e.Cut, e.Status >= http.StatusInternalServerError:
		return red
	case e.Status >= http.StatusBadRequest:
		return yellow
	}
	return green
}

func (l *requestLog) paint(colour, text string) string {
	if !l.colour {
		return text
	}
	return colour + text + plain
}
