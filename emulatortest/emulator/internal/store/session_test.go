package store_test

import (
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

func TestSessionTokens(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t) // LSN 2
	must(b.c.Split("0"))(t)                            // now 1 and 2
	tests := []struct {
		token             string
		status, substatus int
	}{
		{"", 0, 0},
		{"0:-1#2", 0, 0},
		{"0:-1#2#3=2", 0, 0},
		{"0:-1#2#3=-1", 0, 0},
		{"0:0#1", 404, 1002}, // of a version that is not here yet
		{"0:-2#1", 400, 0},
		{"0:2", 0, 0},
		{"1:-1#2,2:-1#2", 0, 0},
		{"0:-1#3", 404, 1002},
		{"1:-1#3,2:-1#3", 404, 1002},
		{"7:-1#1", 410, 1002},
		{"junk", 400, 0},
		{"0:", 400, 0},
		{"0:x#1", 400, 0},
		{"0:-1#1#x", 400, 0},
		{"0:-1#1#1=y", 400, 0},
		{"-1:-1#1", 400, 0},
		{"0:-1#1,", 400, 0},
	}
	for _, tt := range tests {
		t.Run(tt.token, func(t *testing.T) {
			t.Parallel()
			_, err := b.c.ReadItem(store.Call{Key: key("p"), SessionToken: tt.token}, "a")
			wantError(t, err, tt.status, tt.substatus)
			_, err = b.c.Snapshot(store.Scope{Key: key("p")}, tt.token)
			wantError(t, err, tt.status, tt.substatus)
		})
	}
}

func TestReplicaLag(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	b.account.SetReplicaLag(time.Second)
	w := must(b.c.UpsertItem(at("p"), doc("a", "p", 2)))(t)
	tracked := store.Call{Key: key("p"), SessionToken: w.SessionToken}

	read := func(call store.Call) float64 {
		n, _ := parse(t, must(b.c.ReadItem(call, "a"))(t).Body).Get("n").Number()
		return n
	}
	if n := read(at("p")); n != 1 {
		t.Errorf("a read without a token sees %v, not the old state", n)
	}
	_, err := b.c.ReadItem(tracked, "a")
	wantError(t, err, 404, 1002)
	_, err = b.c.Snapshot(store.Scope{}, w.SessionToken)
	wantError(t, err, 404, 1002)
	_, err = b.c.LatestVersions(store.FeedRequest{SessionToken: w.SessionToken})
	wantError(t, err, 404, 1002)
	b.clock.Advance(time.Second)
	if n := read(tracked); n != 2 {
		t.Errorf("once the write has arrived a read sees %v", n)
	}

	b.c.SetReplicaLag(-1)
	must(b.c.UpsertItem(at("p"), doc("a", "p", 3)))(t)
	b.clock.Advance(time.Hour)
	if n := read(at("p")); n != 2 {
		t.Errorf("a held replica shows %v", n)
	}
	must(b.c.Split("0"))(t)
	b.c.SetReplicaLag(0)
	if n := read(at("p")); n != 3 {
		t.Errorf("without a lag a read sees %v", n)
	}
}

func TestReplicaLag_ofLaterContainers(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	b.account.SetReplicaLag(-1)
	c := must(b.db.CreateContainer([]byte(`{"id":"later","partitionKey":{"paths":["/pk"]}}`), store.Throughput{}))(t)
	must(c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	_, err := c.ReadItem(at("p"), "a")
	wantError(t, err, 404, 0)
}

func TestThroughputLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts store.Options
		set  func(*store.Container)
		rate float64
	}{
		{"none", store.Options{}, func(*store.Container) {}, 0},
		{"offer", store.Options{EnforceThroughput: true}, func(*store.Container) {}, 400},
		{"forced", store.Options{}, func(c *store.Container) { c.LimitThroughput(50) }, 50},
		{"forced and taken away", store.Options{}, func(c *store.Container) { c.LimitThroughput(50); c.LimitThroughput(0) }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.opts, "")
			tt.set(b.c)
			if err := b.c.Admit(); err != nil {
				t.Fatal(err)
			}
			b.c.Spend(tt.rate + 10 + tt.rate/2)
			err := b.c.Admit()
			if tt.rate == 0 {
				wantError(t, err, 0, 0)
				return
			}
			wantError(t, err, 429, 3200)
			var e *store.Error
			if e = err.(*store.Error); e.RetryAfter <= 0 || e.RetryAfter > 2*time.Second { //nolint:errorlint,forcetypeassert // wantError looked
				t.Errorf("retry after %v", e.RetryAfter)
			}
			b.clock.Advance(e.RetryAfter + time.Millisecond)
			wantError(t, b.c.Admit(), 0, 0)
		})
	}
}

func TestThroughputLimit_isSharedInADatabase(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{EnforceThroughput: true}, "")
	db := must(b.account.CreateDatabase([]byte(`{"id":"shared"}`), store.Throughput{Manual: 400}))(t)
	a := must(db.CreateContainer([]byte(`{"id":"a","partitionKey":{"paths":["/pk"]}}`), store.Throughput{}))(t)
	c := must(db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Throughput{}))(t)
	own := must(db.CreateContainer([]byte(`{"id":"own","partitionKey":{"paths":["/pk"]}}`), store.Throughput{AutoscaleMax: 1000}))(t)
	a.Spend(500)
	wantError(t, c.Admit(), 429, 3200)
	wantError(t, own.Admit(), 0, 0)
}
