package durable_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// TestCrashAtAnyByteOfACommit takes what a commit writes to the file apart: it writes pages that nothing refers to yet and
// then, once they are on disk, the one that refers to them. Cut off at any byte of either, the file opens with what was acknowledged before
// and, where the last page is whole, with what the commit brought.
func TestCrashAtAnyByteOfACommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	commit := func(from, to int) {
		t.Helper()
		var unit []store.Mutation
		for i := from; i < to; i++ {
			unit = append(unit, store.Mutation{Key: fmt.Sprintf("i/%03d", i), Value: []byte(strings.Repeat(fmt.Sprint(i%10), 300))})
		}
		check(t, j.Append(unit)())
	}
	image := func() []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "account.db"))
		check(t, err)
		return b
	}
	commit(0, 40)
	commit(20, 60) // so that there are pages to use again
	before, stateBefore := image(), load(t, j)
	commit(50, 90)
	after, stateAfter := image(), load(t, j)
	check(t, j.Close())

	// The first two pages tell, in turn, where everything else is.
	roots := 2 * os.Getpagesize()
	before = append(before, make([]byte, len(after)-len(before))...)
	reopened := func(file []byte) map[string]string {
		t.Helper()
		dir := t.TempDir()
		check(t, os.WriteFile(filepath.Join(dir, "account.db"), file, 0o600))
		j := open(t, dir)
		state := load(t, j)
		check(t, j.Close())
		return state
	}
	cuts := 0
	for _, at := range changes(before[roots:], after[roots:], 40) {
		file := slices.Concat(before[:roots], after[roots:roots+at], before[roots+at:])
		if got := reopened(file); !maps.Equal(got, stateBefore) {
			t.Fatalf("%d bytes of the pages written: %d records, want the %d before", at, len(got), len(stateBefore))
		}
		cuts++
	}
	news := 0
	for _, at := range changes(before[:roots], after[:roots], roots) {
		file := slices.Concat(after[:at], before[at:roots], after[roots:])
		got := reopened(file)
		switch {
		case maps.Equal(got, stateAfter):
			news++
		case !maps.Equal(got, stateBefore):
			t.Fatalf("%d bytes of the root written: %d records, neither the %d before nor the %d after", at, len(got), len(stateBefore), len(stateAfter))
		}
		cuts++
	}
	if !maps.Equal(reopened(after), stateAfter) || news == 0 || cuts < 50 {
		t.Errorf("%d cuts, %d with the commit", cuts, news)
	}
	t.Logf("%d cuts, %d with the commit", cuts, news)
}

// changes gives places behind which a write may have stopped: behind each byte that it changed or, where these are more
// than most, behind that many of them, the last one among them.
func changes(before, after []byte, most int) []int {
	var all []int
	for i := range after {
		if !bytes.Equal(before[i:i+1], after[i:i+1]) {
			all = append(all, i+1)
		}
	}
	if len(all) <= most {
		return all
	}
	some := make([]int, most)
	for i := range some {
		some[i] = all[(i+1)*len(all)/most-1]
	}
	return some
}
