package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/denorm/changefeed"
)

// Where a name that never ran begins: with everything, with what changes from
// now on, or at a time.
func ExampleStart() {
	container, leases, done := exampleContainers("o-1")
	defer done()
	ctx := context.Background()
	for name, start := range map[string]changefeed.Start{
		"everything": changefeed.Beginning(),
		"new":        changefeed.Now(),
		"this month": changefeed.At(time.Now().AddDate(0, -1, 0)),
	} {
		p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: name, StartFrom: start},
			func(_ context.Context, changes []changefeed.Change) error {
				fmt.Println(name, "begins with", changes[0].ID)
				return nil
			})
		if err == nil {
			err = p.CatchUp(ctx)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	// Unordered output:
	// everything begins with o-1
	// this month begins with o-1
}

// A handler is a function. When what it needs is out of order, the changes wait;
// any other error puts the change that keeps failing into quarantine.
func ExampleTransient() {
	container, leases, done := exampleContainers("o-1")
	defer done()
	attempts := 0
	var mail changefeed.Handler = func(_ context.Context, changes []changefeed.Change) error {
		if attempts++; attempts < 3 {
			return changefeed.Transient(errors.New("the mail server does not answer"))
		}
		fmt.Println("sent", changes[0].ID, "at attempt", attempts)
		return nil
	}
	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "mail", Backoff: time.Millisecond}, mail)
	if err == nil {
		err = p.CatchUp(context.Background())
	}
	fmt.Println(err)
	// Output:
	// sent o-1 at attempt 3
	// <nil>
}

// A service runs a processor between Start and Stop. Should somebody delete its
// leases, the ranges go on near the others instead of at the beginning.
func ExampleProcessor_Start() {
	container, leases, done := exampleContainers("o-1")
	defer done()
	ctx := context.Background()
	handled := make(chan string, 1)
	missing := changefeed.ResumeWithNeighbours
	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "search", MissingLease: missing},
		func(_ context.Context, changes []changefeed.Change) error {
			handled <- changes[0].ID
			return nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Start(ctx))
	fmt.Println("indexed", <-handled)
	fmt.Println(p.Stop(ctx))
	// Output:
	// <nil>
	// indexed o-1
	// <nil>
}

// Quarantined versions are replayed as they are now, or each as it was read.
func ExampleAsItWas() {
	container, leases, done := exampleContainers("o-1")
	defer done()
	ctx, full := context.Background(), true
	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "journal", MaxAttempts: 1},
		func(_ context.Context, changes []changefeed.Change) error {
			if full {
				return errors.New("the journal is full")
			}
			fmt.Println("appended", changes[0].ID)
			return nil
		})
	if err == nil {
		err = p.CatchUp(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	full = false
	how := []changefeed.ReplayOption{changefeed.AsItWas()}
	n, err := p.Replay(ctx, how...)
	fmt.Println(n, err)
	// Output:
	// appended o-1
	// 1 <nil>
}

// A watch goes on behind a change that it has shown before.
func ExampleChange_Position() {
	container, _, done := exampleContainers("o-1", "o-2")
	defer done()
	opts := changefeed.WatchOptions{StartFrom: changefeed.Beginning(), MaxItems: 1}
	for range 2 {
		for change, err := range changefeed.Watch(context.Background(), container, opts) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(change.ID)
			opts.Position = change.Position() // stored where the next watch finds it
			break
		}
	}
	// Output:
	// o-1
	// o-2
}

// A configuration that operators write is checked before anything is connected.
func ExampleConfig_Validate() {
	cfg := changefeed.Config{PollInterval: time.Minute, MaxPollInterval: 5 * time.Second}
	fmt.Println(cfg.Validate())
	// Output:
	// invalid changefeed.Config.MaxPollInterval: it is 5s and PollInterval 1m0s (make it the longer one, or leave it out)
}

// Where a person's data is erased, what is in quarantine of it goes too.
func ExampleEraseQuarantined() {
	container, leases, done := exampleContainers("o-1", "o-2")
	defer done()
	ctx := context.Background()
	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "journal", MaxAttempts: 1},
		func(context.Context, []changefeed.Change) error { return errors.New("the journal is full") })
	if err == nil {
		err = p.CatchUp(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := changefeed.EraseQuarantined(ctx, leases, container, func(q changefeed.Quarantined) bool { return q.DocumentID == "o-1" })
	fmt.Println(n, err)
	for q, err := range p.Quarantined(ctx) {
		fmt.Println(q.DocumentID, "is left", err)
	}
	// Output:
	// 1 <nil>
	// o-2 is left <nil>
}
