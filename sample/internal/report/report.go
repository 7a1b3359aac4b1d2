// Package report prints what the sample does: a table of steps, each with what
// it cost, and a bar for what takes longer.
package report

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/cosmosgrove/grove/repository"
)

// Report writes to one output. It is used by one goroutine.
type Report struct {
	out      io.Writer
	terminal bool // bars make sense
	color    bool
	steps    int
}

// New looks at whether the output is a terminal, and at NO_COLOR.
func New(out io.Writer, getenv func(string) string) *Report {
	r := &Report{out: out}
	if file, ok := out.(*os.File); ok && getenv("TERM") != "dumb" {
		r.terminal = term.IsTerminal(int(file.Fd()))
		r.color = r.terminal && getenv("NO_COLOR") == ""
	}
	return r
}

const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	green = "\x1b[32m"
)

func (r *Report) styled(style, text string) string {
	if !r.color {
		return text
	}
	return style + text + plain
}

// Title prints a heading and a line below it.
func (r *Report) Title(heading, line string) {
	fmt.Fprintf(r.out, "\n%s\n%s\n", r.styled(bold, heading), r.styled(dim, line))
}

const (
	stepWidth  = 42
	verbWidth  = 12
	scopeWidth = 14
)

// Section begins a table.
func (r *Report) Section(name string) {
	head := fmt.Sprintf("%s %s %s %8s %9s", pad(name, stepWidth+4), pad("operation", verbWidth), pad("scope", scopeWidth), "requests", "RU")
	fmt.Fprintf(r.out, "\n%s\n%s\n", r.styled(bold, head), r.styled(dim, strings.Repeat("─", utf8.RuneCountInString(head))))
}

// The scopes that the table names, from the cheapest to the dearest.
const (
	Point        = "point"
	OnePartition = "one partition"
	Tenant       = "tenant"
	AllTenants   = "all tenants"
)

// Step does something, counts its requests, and prints a row with them and the
// result that it returned.
func (r *Report) Step(ctx context.Context, title, verb, scope string, do func(ctx context.Context) (string, error)) error {
	ctx, tally := repository.WithTally(ctx)
	result, err := do(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	r.steps++
	fmt.Fprintf(r.out, "%3d %s %s %s %8d %9.2f\n", r.steps, pad(title, stepWidth), pad(verb, verbWidth), pad(scope, scopeWidth), tally.Requests(), tally.RequestUnits())
	mark := r.styled(green, "→")
	for line := range strings.Lines(result) {
		fmt.Fprintf(r.out, "    %s %s\n", mark, r.styled(dim, strings.TrimRight(line, "\n")))
		mark = " "
	}
	return nil
}

// Total prints what everything together cost.
func (r *Report) Total(tally *repository.Tally) {
	text := fmt.Sprintf("%s %8d %9.2f", pad("    together", stepWidth+verbWidth+scopeWidth+6), tally.Requests(), tally.RequestUnits())
	fmt.Fprintf(r.out, "%s\n%s\n\n", r.styled(dim, strings.Repeat("─", utf8.RuneCountInString(text))), r.styled(bold, text))
}

// pad fills a text up to a width in characters, or cuts it there.
func pad(text string, width int) string {
	n := utf8.RuneCountInString(text)
	if n > width {
		return string([]rune(text)[:width-1]) + "…"
	}
	return text + strings.Repeat(" ", width-n)
}
