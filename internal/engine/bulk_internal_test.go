package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestLimiterGrowsAndHalves(t *testing.T) {
	t.Parallel()
	l := newLimiter(10)
	fill := func() int {
		n := 0
		for l.take() {
			n++
		}
		return n
	}
	empty := func() {
		for l.inFlight > 0 {
			l.release()
		}
	}
	var rounds []int
	for range 4 {
		rounds = append(rounds, fill())
		empty()
	}
	if rounds[0] != firstConcurrency || !slices.IsSorted(rounds) || rounds[3] == rounds[0] {
		t.Errorf("rounds without throttling: %v", rounds)
	}
	for range 50 {
		fill()
		empty()
	}
	if n := fill(); n != 10 {
		t.Errorf("%d at most, want 10", n)
	}
	for range 10 {
		l.throttled() // all of one round are refused together: one cut
	}
	empty()
	if n := fill(); n < 5 || n > 7 {
		t.Errorf("%d after a cut from 10", n)
	}
	for range 20 {
		l.throttled()
		empty()
		fill()
	}
	if l.limit < 1 {
		t.Errorf("the limit fell to %f", l.limit)
	}
}

func TestLimiterWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1)
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(l.acquire(t.Context()))
		done := make(chan error)
		go func() { done <- l.acquire(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("two places of one: %v", err)
		default:
		}
		l.release()
		must(<-done)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting without an end: %v", err)
		}
	})
}

func TestBulkIDsSortByTheirPlace(t *testing.T) {
	t.Parallel()
	run := newBulkRun()
	last := ""
	for _, index := range []int{0, 1, 2, 1 << 19, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1 << 31} {
		id := run.ID(index)
		if id <= last || len(id) != 36 || id[14] != '7' || id[19] < '8' || id[19] > 'b' {
			t.Errorf("%d: %s after %s", index, id, last)
		}
		last = id
	}
}

func FuzzBulkToken(f *testing.F) {
	signer, err := newCursorSigner([]byte("0123456789abcdef"))
	if err != nil {
		f.Fatal(err)
	}
	run := newBulkRun()
	f.Add(run.token(signer, "scope", 7), "scope")
	f.Add("nonsense", "")
	f.Add(strings.Replace(run.token(signer, "scope", 7), "b", "b\n", 1), "scope")
	f.Add(run.token(signer, "scope", 7)+"\r\n", "scope")
	f.Fuzz(func(t *testing.T, token, boundTo string) {
		got, position, err := openBulkToken(signer, boundTo, token)
		if err == nil && got.token(signer, boundTo, position) != token {
			t.Errorf("%q is not what it opens to", token)
		}
		if err != nil && !errors.Is(err, ErrInvalid) {
			t.Error(err)
		}
	})
}
