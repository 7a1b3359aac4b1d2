// Package report prints what the sample does: tables of steps, each with what
// it cost, and a bar for what takes longer. Nothing it prints is wider than 80
// columns.
package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/cosmosgrove/grove/repository"
)

// Width is the width of everything that is printed, in columns.
const Width = 80

// Report writes to one output. It is used by one goroutine.
type Report struct {
	out      io.Writer
	terminal bool // bars make sense
	color    bool
	steps    int
	rows     cost // the sum of all rows
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

// cost is what is printed: request units in hundredths, so that the rows of a
// table add up to its sum.
type cost struct{ requests, hundredths int64 }

func costOf(requests int64, units float64) cost {
	return cost{requests, int64(math.Round(units * 100))}
}

func (c cost) plus(d cost) cost  { return cost{c.requests + d.requests, c.hundredths + d.hundredths} }
func (c cost) minus(d cost) cost { return cost{c.requests - d.requests, c.hundredths - d.hundredths} }

func (c cost) String() string {
	return fmt.Sprintf("%8d %8.2f", c.requests, float64(c.hundredths)/100)
}

const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
)

func (r *Report) styled(style, text string) string {
	if !r.color {
		return text
	}
	return style + text + plain
}

// Title prints a heading and lines below it.
func (r *Report) Title(heading, lines string) {
	fmt.Fprintf(r.out, "\n%s\n", r.styled(bold, heading))
	for line := range strings.Lines(lines) {
		for _, part := range wrap(strings.TrimRight(line, "\n"), Width) {
			fmt.Fprintln(r.out, r.styled(dim, part))
		}
	}
}

// The columns of a table of steps: 3 for the number, and the last two of 8.
const (
	titleWidth = 35
	verbWidth  = 8
	scopeWidth = 13
	costHead   = "requests       RU"
)

// Section begins a table of steps.
func (r *Report) Section(name string) {
	r.head(pad(name, titleWidth+4) + " " + pad("verb", verbWidth) + " " + pad("scope", scopeWidth) + " " + costHead)
}

func (r *Report) head(text string) {
	fmt.Fprintf(r.out, "\n%s\n%s\n", r.styled(bold, text), r.rule())
}

func (r *Report) rule() string { return r.styled(dim, strings.Repeat("─", Width)) }

// The scopes that the table names, from the cheapest to the dearest.
const (
	Point        = "point"
	OnePartition = "one partition"
	Tenant       = "tenant"
	Partitions   = "partitions"
	AllTenants   = "all tenants"
)

// refusal is a result of a step, and not a failure.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// Refused is what a step returns as its error when it was refused, as it should
// have been. It is printed with a sign of its own.
func Refused(text string) error { return &refusal{text} }

// Step does something, counts its requests, and prints a row with them and the
// result that it returned, which may be [Refused].
func (r *Report) Step(ctx context.Context, title, verb, scope string, do func(ctx context.Context) (string, error)) error {
	ctx, tally := repository.WithTally(ctx)
	result, err := do(ctx)
	sign := r.styled(green, "→")
	var refused *refusal
	if errors.As(err, &refused) {
		sign, result, err = r.styled(red, "✗"), refused.text, nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	r.steps++
	c := costOf(tally.Requests(), tally.RequestUnits())
	r.rows = r.rows.plus(c)
	fmt.Fprintf(r.out, "%3d %s %s %s %s\n", r.steps, pad(title, titleWidth), pad(verb, verbWidth), pad(scope, scopeWidth), c)
	r.result(sign, result)
	return nil
}

// result prints what a row led to, behind a sign.
func (r *Report) result(sign, text string) {
	for line := range strings.Lines(text) {
		for _, part := range wrap(strings.TrimRight(line, "\n"), Width-6) {
			fmt.Fprintf(r.out, "    %s %s\n", sign, r.styled(dim, part))
			sign = " "
		}
	}
}

// Rest prints the sum of the rows, what the account counted beyond them, and
// both together.
func (r *Report) Rest(what string, requests int64, units float64) {
	all := costOf(requests, units)
	line := func(text string, c cost) string { return pad("    "+text, Width-18) + " " + c.String() }
	fmt.Fprintf(r.out, "%s\n%s\n%s\n%s\n", r.rule(), line("the rows above", r.rows), line(what, all.minus(r.rows)), r.styled(bold, line("together", all)))
}

// Text prints lines behind an empty one.
func (r *Report) Text(lines string) { fmt.Fprintf(r.out, "\n%s\n", lines) }

// pad fills a text up to a width in characters, or cuts it there.
func pad(text string, width int) string {
	n := utf8.RuneCountInString(text)
	if n > width {
		return string([]rune(text)[:width-1]) + "…"
	}
	return text + strings.Repeat(" ", width-n)
}

// wrap breaks a text into lines at spaces. What stands before the first word
// stays; a word that is longer than a line is cut.
func wrap(text string, width int) []string {
	var lines []string
	for utf8.RuneCountInString(text) > width {
		runes := []rune(text)
		at := strings.LastIndexByte(string(runes[:width+1]), ' ')
		if at <= 0 || strings.TrimSpace(text[:at]) == "" {
			lines, text = append(lines, string(runes[:width])), string(runes[width:])
			continue
		}
		lines, text = append(lines, strings.TrimRight(text[:at], " ")), text[at+1:]
	}
	return append(lines, text)
}
