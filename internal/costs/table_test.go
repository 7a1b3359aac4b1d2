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
	work string
	// least is what the promise allows at the least, and why it is not less, or
	// what makes today's figure larger.
	least  string
	counts map[emulator.Operation]int
	units  float64
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
	all, named := 0, 0
	for _, count := range r.counts {
		all += count
	}
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
	if named != all {
		t.Errorf("%s: some requests have no words: %v", r.work, r.counts)
	}
	return fmt.Sprintf("%d: %s", all, strings.Join(kinds, ", "))
}

// charge rounds to two digits. Ids and marks differ in length from run to run, so
// that the figure in the page stands while it is true to a twentieth.
func (r row) charge(said string) string {
	for line := range strings.Lines(said) {
		cells := strings.Split(line, " | ")
		if len(cells) < 3 || cells[0] != "| "+r.work {
			continue
		}
		if have, err := strconv.ParseFloat(cells[2], 64); err == nil && math.Abs(have-r.units) <= 0.5+r.units/20 {
			return cells[2]
		}
	}
	if r.units < 100 {
		return fmt.Sprintf("%.0f", r.units)
	}
	scale := math.Pow(10, math.Floor(math.Log10(r.units))-1)
	return fmt.Sprintf("%.0f", math.Round(r.units/scale)*scale)
}

// The table in the page is what is counted here: a request more or less, and
// the page has to say so.
func TestThePageSaysWhatIsCounted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	have, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table: %q and %q", page, begin, end)
	}
	var b strings.Builder
	b.WriteString("| work | requests | RU | the least that the promise allows |\n|---|---|---|---|\n")
	for _, r := range slices.Concat(trees(t), copies(t), feed(t)) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.work, r.requests(t), r.charge(have), r.least)
	}
	if t.Failed() {
		return
	}
	switch {
	case have == b.String():
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says\n%s\nand counted was\n%s\nIf that is meant: go test ./internal/costs -update", page, have, b.String())
	}
}
