package durable_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/durable"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// How often the process is killed. Each round goes on with the folder that the last one left.
var crashRounds = flag.Int("crash.rounds", 4, "how many times the writing process is killed") //nolint:gochecknoglobals // a flag

const workers = 4

// acknowledged is the last thing that a worker was told was done.
type acknowledged struct {
	single, pair, created, deleted int
}

// TestKill runs writers in a process of their own, kills it with SIGKILL at a random moment, and looks at what is left:
// everything acknowledged, and no half of a batch.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acks := make([]acknowledged, workers)
	total := 0
	for round := range *crashRounds {
		lines := runUntilKilled(t, dir)
		for _, line := range lines {
			var kind string
			var worker, n int
			if _, err := fmt.Sscanf(line, "%s %d %d", &kind, &worker, &n); err != nil {
				t.Fatalf("the child said %q: %v", line, err)
			}
			acks[worker].note(kind, n)
		}
		total += len(lines)
		verify(t, dir, acks)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d acknowledged writes over %d kills", total, *crashRounds)
	if total == 0 {
		t.Error("no write was acknowledged before a kill, so nothing was tested")
	}
}

func (a *acknowledged) note(kind string, n int) {
	switch kind {
	case "single":
		a.single = n
	case "pair":
		a.pair = n
	case "create":
		a.created = n
	case "delete":
		a.deleted = n
	}
}

// runUntilKilled returns the complete lines that the child wrote before it was killed.
func runUntilKilled(t *testing.T, dir string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+dir)
	var complaints bytes.Buffer
	child.Stderr = &complaints
	out, err := child.StdoutPipe()
	check(t, err)
	check(t, child.Start())
	reader := bufio.NewReader(out)
	var lines []string
	killAfter := 1 + rand.IntN(400)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			break // what has no end of line was not acknowledged
		}
		if lines = append(lines, line); len(lines) == killAfter {
			check(t, child.Process.Kill())
		}
	}
	if err := child.Wait(); err == nil || complaints.Len() > 0 {
		t.Fatalf("the child ended by itself: %v\n%s", err, complaints.String())
	}
	return lines
}

// verify opens the folder as a restarted emulator would.
func verify(t *testing.T, dir string, acks []acknowledged) {
	t.Helper()
	j, err := durable.Open(dir)
	check(t, err)
	a, err := store.Open(store.Options{Journal: j})
	check(t, err)
	defer func() { check(t, a.Close()) }()
	c, err := container(a)
	check(t, err)
	for w, ack := range acks {
		if n := number(c, w, "single"); n < ack.single {
			t.Errorf("worker %d: acknowledged single %d, found %d", w, ack.single, n)
		}
		left, right := number(c, w, "left"), number(c, w, "right")
		if left != right || left < ack.pair {
			t.Errorf("worker %d: acknowledged pair %d, found %d and %d", w, ack.pair, left, right)
		}
		for n := ack.deleted + 2; n <= ack.created; n++ { // the delete behind the last acknowledged one may have happened
			if number(c, w, fmt.Sprint("item", n)) != n {
				t.Errorf("worker %d: acknowledged item %d is lost (deleted up to %d, created up to %d)", w, n, ack.deleted, ack.created)
			}
		}
		for n := 1; n <= ack.deleted; n++ {
			if number(c, w, fmt.Sprint("item", n)) != 0 {
				t.Errorf("worker %d: item %d came back", w, n)
			}
		}
	}
	verifyFeed(t, c)
}

// verifyFeed checks that the feed tells each item exactly once and that the ranges know their LSNs.
func verifyFeed(t *testing.T, c *store.Container) {
	t.Helper()
	told := 0
	ranges, _ := c.Ranges()
	for _, r := range ranges {
		page, err := c.LatestVersions(store.FeedRequest{Scope: store.Scope{RangeID: r.ID}, MaxItems: 1 << 20, MaxBytes: 1 << 30})
		check(t, err)
		told += len(page.Documents)
	}
	if u := c.Usage(); told != u.Documents {
		t.Errorf("the feed tells %d items of %d", told, u.Documents)
	}
	snapshot, err := c.Snapshot(store.Scope{}, "")
	check(t, err)
	for d := range snapshot.Items("") {
		if d.LSN > snapshot.LSN {
			t.Errorf("an item has LSN %d and its range %d", d.LSN, snapshot.LSN)
		}
	}
}

func container(a *store.Account) (*store.Container, error) {
	db, err := a.Database("db")
	if err != nil {
		if db, err = a.CreateDatabase([]byte(`{"id":"db"}`), store.Throughput{}); err != nil {
			return nil, err
		}
	}
	c, err := db.Container("c")
	if err != nil {
		return db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Throughput{})
	}
	return c, nil
}

func workerKey(w int) store.Key { return store.Key{epk.String(fmt.Sprint("w", w))} }

// number reads a worker's counter; 0 when there is none.
func number(c *store.Container, w int, id string) int {
	snapshot, err := c.Snapshot(store.Scope{Key: workerKey(w)}, "")
	if err != nil {
		return -1
	}
	for d := range snapshot.Items("") {
		if d.ID == id {
			n, _ := d.Value().Get("n").Number()
			return int(n)
		}
	}
	return 0
}

// runChild is the process that gets killed. It says on standard output what was acknowledged.
func runChild(dir string) int {
	j, err := durable.Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	a, err := store.Open(store.Options{Journal: j})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c, err := container(a)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			if err := work(c, w, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	group.Wait()
	return 1
}

// work writes for ever. It repeats the round in which a killed process stopped, since any step of it may be missing.
func work(c *store.Container, w int, out io.Writer) error {
	call := store.Call{Key: workerKey(w)}
	body := func(id string, n int) []byte { return fmt.Appendf(nil, `{"id":%q,"pk":"w%d","n":%d}`, id, w, n) }
	for n := max(number(c, w, "single"), 1); ; n++ {
		if _, err := c.UpsertItem(call, body("single", n)); err != nil {
			return err
		}
		fmt.Fprintln(out, "single", w, n)
		batch, err := c.Batch(call, []store.Operation{
			{Kind: store.OpUpsert, Body: body("left", n)}, {Kind: store.OpUpsert, Body: body("right", n)},
		})
		if err != nil || batch.Failed {
			return fmt.Errorf("batch: %v, %w", batch.Status, err)
		}
		fmt.Fprintln(out, "pair", w, n)
		if _, err := c.UpsertItem(call, body(fmt.Sprint("item", n), n)); err != nil {
			return err
		}
		fmt.Fprintln(out, "create", w, n)
		if old := n - 3; old > 0 {
			if _, err := c.DeleteItem(call, fmt.Sprint("item", old)); err != nil && number(c, w, fmt.Sprint("item", old)) != 0 {
				return err
			}
			fmt.Fprintln(out, "delete", w, old)
		}
		if ranges, _ := c.Ranges(); w == 0 && n%20 == 0 && len(ranges) < 6 {
			if _, err := c.Split(ranges[len(ranges)/2].ID); err != nil {
				return err
			}
		}
	}
}
