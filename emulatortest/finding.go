package emulatortest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Finding is a broken promise and the shortest schedule that was found for it.
type Finding struct {
	// Promise says what does not hold.
	Promise string
	// Schedule is the table of the requests: who made it, what it was about, which fault met it, what it was answered.
	Schedule string
	// Faults is the Go code of the faults, to be pasted into a test.
	Faults []string
	// Seed is what EXPLORE_SEED has to be for the same run.
	Seed string
	// Test is the name of the test that found it.
	Test string
	// Unstable says that the schedule did not break the promise each time.
	Unstable bool
}

// String is the finding as a text of several lines.
func (f *Finding) String() string {
	var b strings.Builder
	b.WriteString("broken promise: " + f.Promise + "\n")
	if f.Unstable {
		b.WriteString("(not each time: something in the scenario goes by chance or by the wall clock)\n")
	}
	if f.Schedule != "" {
		b.WriteString("\n" + f.Schedule)
	}
	for _, code := range f.Faults {
		b.WriteString("\nfault:  " + code)
	}
	if f.Seed != "" {
		fmt.Fprintf(&b, "\nreplay: EXPLORE_SEED='%s' go test -run '^%s$'\n", f.Seed, strings.ReplaceAll(f.Test, "/", "$/^"))
	}
	return b.String()
}

// finding describes a run that broke the promise.
func (x *explorer) finding(p plan, r result) *Finding {
	f := &Finding{Promise: r.failure, Schedule: x.table(p, r), Seed: x.encode(p), Test: x.t.Name()}
	for _, fault := range p.faults {
		f.Faults = append(f.Faults, x.kinds[fault.kind].Fault.Client(x.scenario.Actors[fault.actor].Name).Nth(fault.n).String())
	}
	return f
}

// shrink looks for a shorter plan that breaks the promise too: first switches instead of priorities, then fewer faults, then fewer switches,
// then a fixed order of what is at the same time, then the first actor first.
func (x *explorer) shrink(p plan, r result) *Finding {
	again := func(smaller plan) bool {
		got := x.run(smaller, nil)
		if got.failure == "" {
			return false
		}
		p, r = smaller, got
		return true
	}
	if len(p.priorities) > 0 {
		again(x.asSwitches(p, r))
	}
	for changed := true; changed; {
		changed = false
		for i := range p.lowered {
			smaller := p.clone()
			smaller.lowered = slices.Delete(smaller.lowered, i, i+1)
			if again(smaller) {
				changed = true
				break
			}
		}
		for i := range p.faults {
			smaller := p.clone()
			smaller.faults = slices.Delete(smaller.faults, i, i+1)
			if again(smaller) {
				changed = true
				break
			}
		}
		for i := range p.switches {
			smaller := p.clone()
			smaller.switches = slices.Delete(smaller.switches, i, i+1)
			if again(smaller) {
				changed = true
				break
			}
		}
		if p.inner != 0 {
			smaller := p.clone()
			smaller.inner = 0
			changed = again(smaller) || changed
		}
		if first := x.starts()[0]; p.start != first && len(p.priorities) == 0 {
			smaller := p.clone()
			smaller.start = first
			changed = again(smaller) || changed
		}
	}
	f := x.finding(p, r)
	for range 3 {
		if x.run(p, nil).failure == "" {
			f.Unstable = true
		}
	}
	return f
}

// table is the schedule of a run.
func (x *explorer) table(p plan, r result) string {
	lines := [][]string{{"#", "who", "request", "item", "fault", "answer"}}
	for i, row := range r.rows {
		q := row.request
		what, answer := string(q.Operation), "none"
		switch {
		case q.Late:
			what, answer = "(late) "+what, "took effect, "+strconv.Itoa(q.Status)
			if q.Status >= 400 {
				answer = "refused at last, " + statusText(q)
			}
		case row.killed:
			answer = "process killed"
		case q.Cut:
			answer = "connection broken"
		case row.answered:
			answer = statusText(q)
		}
		if row.answered && row.behind > i+1 && !q.Late {
			answer += fmt.Sprintf(", after %d", row.behind)
		}
		item := q.Item
		if item == "" {
			item = q.Container
		}
		fault := ""
		for _, f := range p.faults {
			if x.scenario.Actors[f.actor].Name == q.Actor && f.n == q.N && !q.Late {
				fault = strings.TrimSpace(fault + " " + x.kinds[f.kind].Name)
			}
		}
		lines = append(lines, []string{strconv.Itoa(i + 1), fmt.Sprintf("%s:%d", q.Actor, q.N), what, item, fault, answer})
	}
	return align(lines)
}

func statusText(q Request) string {
	if q.Substatus != 0 {
		return fmt.Sprintf("%d/%d", q.Status, q.Substatus)
	}
	return strconv.Itoa(q.Status)
}

// align writes columns of equal width.
func align(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			text += cell + strings.Repeat(" ", widths[i]-len(cell)+2)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return b.String()
}
