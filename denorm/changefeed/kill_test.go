package changefeed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
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

// handledLine is what a child prints before its handler returns.
type handledLine struct {
	Key string `json:"key"`
	N   int    `json:"n"`
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
	out := json.NewEncoder(os.Stdout)
	var mu sync.Mutex
	p, err := changefeed.New(changefeed.Config{
		Container: items, Leases: leases, Name: "killed",
		PollInterval: 20 * time.Millisecond, BalanceInterval: 50 * time.Millisecond, LeaseDuration: time.Second,
	}, func(_ context.Context, changes []changefeed.Change) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range changes {
			var i item
			if err := c.Decode(&i); err != nil {
				return err
			}
			if err := out.Encode(handledLine{i.Tenant + "/" + i.ID, i.N}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.Run(context.Background())
}

// Three processes share eight ranges, and more after splits; each is killed
// with SIGKILL and started again at random, while writers write. What was
// written last is handled, whatever happened. GROVE_SOAK=1 makes it two minutes.
func TestKilledProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	length, pause := 3*time.Second, 300*time.Millisecond
	if os.Getenv("GROVE_SOAK") != "" {
		length, pause = 2*time.Minute, 1500*time.Millisecond
	}
	server := emulatortest.Serve(t, emulatortest.WithPartitions(8))
	b := &testBundle{t: t, emu: server.Emulator}
	b.client = server.Client(nil)
	var err error
	if b.items, b.leases, err = makeContainers(t.Context(), b.client, database); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	last := map[string]int{}
	handled := func(line handledLine) {
		mu.Lock()
		defer mu.Unlock()
		last[line.Key] = max(last[line.Key], line.N)
	}
	ctx, end := context.WithTimeout(t.Context(), length)
	defer end()
	var processes, writers sync.WaitGroup
	for range 3 {
		processes.Go(func() {
			for ctx.Err() == nil {
				life, kill := context.WithTimeout(ctx, pause+rand.N(2*pause))
				runOnce(life, t, server, handled)
				kill()
			}
		})
	}
	written := make([]map[string]int, 4)
	for w := range written {
		written[w] = map[string]int{}
		writers.Go(func() {
			for n := 1; ctx.Err() == nil; n++ {
				i := item{ID: fmt.Sprint("d", n%9), Tenant: fmt.Sprint("t", w, n%11), Kind: "k", N: n}
				put(t, b.items, i)
				written[w][i.Tenant+"/"+i.ID] = n
			}
		})
	}
	for ctx.Err() == nil {
		ranges := server.Ranges(database, monitored)
		if len(ranges) < 24 {
			server.Split(database, monitored, ranges[rand.IntN(len(ranges))].ID)
		}
		select {
		case <-ctx.Done():
		case <-time.After(length / 10):
		}
	}
	writers.Wait()
	processes.Wait()

	// What the last of them left is caught up here: the leases of the dead expire.
	cfg := b.config("killed")
	cfg.LeaseDuration = time.Second
	p := b.processor(cfg, func(_ context.Context, changes []changefeed.Change) error {
		for _, c := range changes {
			var i item
			if err := c.Decode(&i); err != nil {
				return err
			}
			handled(handledLine{i.Tenant + "/" + i.ID, i.N})
		}
		return nil
	})
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, byKey := range written {
		for key, n := range byKey {
			total++
			if last[key] != n {
				t.Errorf("%s was written as %d and last handled as %d", key, n, last[key])
			}
		}
	}
	t.Logf("%d documents over %d ranges", total, len(server.Ranges(database, monitored)))
}

// runOnce starts a child and kills it when the context ends.
func runOnce(ctx context.Context, t *testing.T, server *emulatortest.Server, handled func(handledLine)) {
	cmd := exec.CommandContext(ctx, os.Args[0]) // a context's end is a SIGKILL
	cmd.Env = append(os.Environ(), childEndpoint+"="+server.Endpoint(), childKey+"="+server.Key())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var line handledLine
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil { // the last may be cut
			handled(line)
		}
	}
	_ = cmd.Wait() // it was killed
	if ctx.Err() == nil {
		t.Error("a process ended by itself")
	}
}
