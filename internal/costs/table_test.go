// Package costs counts what trees, copies and the feed cost in requests, and
// keeps the table of docs/performance.md to it.
package costs

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

var update = flag.Bool("update", false, "write what was counted into docs/performance.md")

const (
	page  = "../../docs/performance.md"
	begin = "<!-- counted by internal/costs -->\n"
	end   = "<!-- end of what internal/costs counts -->\n"
)

// row is one work of the table.
type row struct {
	work   string
	least  bound
	counts map[emulator.Operation]int
	units  float64
}

// bound is what the promise of a work allows at the least.
type bound struct {
	requests int
	why      string
	// more says what promise costs more than before, where it does.
	more string
	// beyond says what today's requests are that no promise needs, where there are any.
	beyond string
}

// text is the bound as the table has it.
func (b bound) text() string {
	text := fmt.Sprintf("%s: %s", thousands(b.requests), b.why)
	if b.beyond != "" {
		text += ". Beyond that: " + b.beyond
	}
	if b.more != "" {
		text += ". More than before: " + b.more
	}
	return text
}

// all is the number of requests.
func (r row) all() (n int) {
	for _, count := range r.counts {
		n += count
	}
	return n
}

// check holds the table to its own claims: what is more than the least, or than
// before, has its reason, and nothing else has.
func (r row) check(t *testing.T) {
	t.Helper()
	was, ok := before[r.work]
	if !ok {
		t.Errorf("%s: not measured before", r.work)
	}
	if more := r.all() > was.requests || r.units > was.units*1.02; more != (r.least.more != "") {
		t.Errorf("%s: %d requests, %.2f RU, and before %d, %.2f; the reason is %q", r.work, r.all(), r.units, was.requests, was.units, r.least.more)
	}
	if beyond := r.all() - r.least.requests; beyond < 0 || beyond > 0 != (r.least.beyond != "") {
		t.Errorf("%s: %d requests, the least is said to be %d; what is beyond that is %q", r.work, r.all(), r.least.requests, r.least.beyond)
	}
}

// nouns are the operations in words, in the order of the table.
var nouns = []struct {
	operation emulator.Operation
	one, many string
}{
	{emulator.ReadItem, "point read", "point reads"},
	{emulator.QueryItems, "query", "queries"},
	{emulator.CreateItem, "create", "creates"},
	{emulator.UpsertItem, "upsert", "upserts"},
	{emulator.ReplaceItem, "replace", "replaces"},
	{emulator.PatchItem, "patch", "patches"},
	{emulator.DeleteItem, "delete", "deletes"},
	{emulator.TransactionalBatch, "batch", "batches"},
	{emulator.ChangeFeed, "read of the feed", "reads of the feed"},
}

// requests says how many there were, and of which kind.
func (r row) requests(t *testing.T) string {
	t.Helper()
	named := 0
	var kinds []string
	for _, n := range nouns {
		count := r.counts[n.operation]
		named += count
		switch count {
		case 0:
		case 1:
			kinds = append(kinds, "1 "+n.one)
		default:
			kinds = append(kinds, fmt.Sprint(count, " ", n.many))
		}
	}
	if named != r.all() {
		t.Errorf("%s: some requests have no words: %v", r.work, r.counts)
	}
	return fmt.Sprintf("%s: %s", thousands(r.all()), strings.Join(kinds, ", "))
}

// charge leaves the figure of the page as it is while it is true to a fiftieth:
// ids and marks differ in length from run to run.
func (r row) charge(said string) string {
	for line := range strings.Lines(said) {
		if *update {
			break
		}
		cells := strings.Split(line, " | ")
		if len(cells) < 3 || cells[0] != "| "+r.work {
			continue
		}
		if have, err := strconv.ParseFloat(strings.ReplaceAll(cells[2], ",", ""), 64); err == nil && math.Abs(have-r.units) <= 0.5+r.units/50 {
			return cells[2]
		}
	}
	return rounded(r.units)
}

// rounded has three digits that count at the most.
func rounded(units float64) string {
	scale := max(1, math.Pow(10, math.Floor(math.Log10(units))-2))
	return thousands(int(math.Round(units/scale) * scale))
}

// The table in the page is what is counted here: a request more or less, and
// the page has to say so.
func TestThePageSaysWhatIsCounted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(text), begin)
	have, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table: %q and %q", page, begin, end)
	}
	var b strings.Builder
	b.WriteString("| work | requests | RU | requests before | RU before | the least that the promise allows |\n|---|---|---|---|---|---|\n")
	for _, r := range slices.Concat(trees(t), copies(t), feed(t)) {
		t.Logf("%s: %s; %.2f RU", r.work, r.requests(t), r.units)
		r.check(t)
		was := before[r.work]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.work, r.requests(t), r.charge(have), thousands(was.requests), rounded(was.units), r.least.text())
	}
	if t.Failed() {
		return
	}
	switch {
	case have == b.String():
	case *update:
		if err := os.WriteFile(page, []byte(head+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says\n%s\nand counted was\n%s\nIf that is meant: go test ./internal/costs -update", page, have, b.String())
	}
}
