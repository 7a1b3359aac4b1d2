package changefeed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// The environment of a child process; its standard output tells what it handled.
const (
	childEndpoint = "GROVE_CHANGEFEED_ENDPOINT"
	childKey      = "GROVE_CHANGEFEED_KEY"
)

// killedConfig is the same for the children and for the one that finishes.
func killedConfig(items, leases *azcosmos.ContainerClient) changefeed.Config {
	return changefeed.Config{
		Container: items, Leases: leases, Name: "killed", MaxItems: 30,
		PollInterval: 10 * time.Millisecond, BalanceInterval: 40 * time.Millisecond, LeaseDuration: 500 * time.Millisecond,
	}
}

// runChild is a whole process that processes until it is killed.
func runChild(endpoint, key string) error {
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return err
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, nil)
	if err != nil {
		return err
	}
	items, err := client.NewContainer(database, monitored)
	if err != nil {
		return err
	}
	leases, err := client.NewContainer(database, "leases")
	if err != nil {
		return err
	}
	// The children share one pipe, and the system keeps short writes whole and
	// in order: what is read from it is in the order of the handling.
	p, err := changefeed.New(killedConfig(items, leases), tell(func(l line) error {
		body, err := json.Marshal(l)
		if err == nil {
			_, err = os.Stdout.Write(append(body, '\n'))
		}
		return err
	}))
	if err != nil {
		return err
	}
	return p.Run(context.Background())
}

// tell is a handler that does not look at its context, as the worst ones do,
// and takes some time for each change.
func tell(to func(line) error) changefeed.Handler {
	return func(_ context.Context, changes []changefeed.Change) error {
		for _, c := range changes {
			var i item
			if err := c.Decode(&i); err != nil {
				return err
			}
			<-time.After(rand.N(400 * time.Microsecond))
			if err := to(line{c.Range, c.Epoch, i.Tenant, i.ID, i.N}); err != nil {
				return err
			}
		}
		return nil
	}
}

// Three processes share eight ranges, which split and merge. At random they are
// killed with SIGKILL and started again, or suspended for so long that their
// ranges are taken over, and continued. Meanwhile writers write documents once
// and over and over. What must hold then is said at witness and at ledger.
// GROVE_SOAK=1 makes it two minutes.
func TestOrderAndCompletenessUnderKills(t *testing.T) {
	t.Parallel()
	length, calm := 3*time.Second, 150*time.Millisecond
	if os.Getenv("GROVE_SOAK") != "" {
		length, calm = 2*time.Minute, 600*time.Millisecond
	}
	b := setup(t, emulatortest.WithPartitions(8))
	book := newLedger(b.emu.Handler())
	server := httptest.NewServer(book)
	t.Cleanup(server.Close)
	seen := newWitness(book)
	ctx, end := context.WithTimeout(t.Context(), length)
	defer end()

	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var listening, processes, writers sync.WaitGroup
	listening.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var l line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Errorf("a line that is none: %v", err)
				continue
			}
			seen.hear(l)
		}
	})
	m := mischief{t: t, endpoint: server.URL + "/", key: b.emu.Key(), out: in, calm: calm}
	for range 3 {
		processes.Go(func() {
			for ctx.Err() == nil {
				m.life(ctx)
			}
		})
	}
	written := make([]map[string]int, 4)
	for w := range written {
		written[w] = map[string]int{}
		writers.Go(func() { writeAll(ctx, b, w, written[w]) })
	}
	for ctx.Err() == nil {
		ranges := b.emu.Ranges(database, monitored)
		if i := rand.IntN(len(ranges)); len(ranges) < 24 && rand.IntN(4) > 0 {
			b.emu.Split(database, monitored, ranges[i].ID)
		} else if i > 0 {
			b.emu.Merge(database, monitored, ranges[i-1].ID, ranges[i].ID)
		}
		rest(ctx, length/20)
	}
	writers.Wait()
	processes.Wait()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	listening.Wait()
	if err := out.Close(); err != nil {
		t.Error(err)
	}

	// What the last of them left is caught up here: the leases of the dead expire.
	p := b.processor(killedConfig(b.items, b.leases), tell(func(l line) error { seen.hear(l); return nil }))
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, documents := range written {
		maps.Copy(all, documents)
	}
	seen.complete(all)
	for _, v := range append(seen.violations, book.violations...) {
		t.Error(v)
	}
	if m.killed.Load() == 0 || seen.handled < len(all) {
		t.Errorf("nothing was tried: %d kills, %d changes handled", m.killed.Load(), seen.handled)
	}
	if cannotPause != "" {
		t.Log("no process was suspended:", cannotPause)
	}
	t.Logf("%d documents, %d changes handled, %d of them again, %d by owners that were none any more (%d overwritten versions among them); %d kills, %d pauses, %d takeovers, %d late writes refused, %d leases split, %d ranges",
		len(all), seen.handled, seen.repeated, seen.late, len(seen.stale), m.killed.Load(), m.paused.Load(), book.takeovers, book.refused, book.splits, len(b.emu.Ranges(database, monitored)))
}

// writeAll writes until the context ends: in every logical partition of the
// writer every second write is a new document, the others change old ones.
func writeAll(ctx context.Context, b *testBundle, writer int, written map[string]int) {
	sequence := map[string]int{}
	for i := 0; ctx.Err() == nil; i++ {
		tenant := fmt.Sprint("t", writer, "-", i%11)
		sequence[tenant]++
		n := sequence[tenant]
		id := fmt.Sprint("once", n)
		if n%2 == 0 {
			id = fmt.Sprint("often", rand.IntN(4))
		}
		b.put(tenant, id, n)
		written[tenant+"/"+id] = n
		rest(ctx, 4*time.Millisecond)
	}
}

// rest is a pause of the test itself, which the processes of the system see.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// mischief is what befalls the processes.
type mischief struct {
	t              *testing.T
	endpoint, key  string
	out            *os.File
	calm           time.Duration
	killed, paused atomic.Int64
}

// life starts a process, suspends it now and then, and kills it.
func (m *mischief) life(ctx context.Context) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEndpoint+"="+m.endpoint, childKey+"="+m.key)
	cmd.Stdout, cmd.Stderr = m.out, os.Stderr
	if err := cmd.Start(); err != nil {
		m.t.Error(err)
		return
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for ctx.Err() == nil {
		rest(ctx, m.calm+rand.N(3*m.calm))
		if cannotPause != "" || rand.IntN(2) == 0 {
			break
		}
		m.paused.Add(1)
		if err := pause(cmd.Process); err != nil {
			m.t.Error(err)
		}
		rest(ctx, 600*time.Millisecond+rand.N(400*time.Millisecond))
		if err := resume(cmd.Process); err != nil {
			m.t.Error(err)
		}
	}
	select {
	case <-ended:
		m.t.Error("a process ended by itself")
	default:
	}
	m.killed.Add(1)
	_ = cmd.Process.Kill() // it may have ended
	<-ended
}
