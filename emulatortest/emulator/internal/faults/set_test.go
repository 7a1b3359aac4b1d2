package faults_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
)

func decide(s *faults.Set, op faults.Operation, item string) bool {
	_, ok := faults.Decide(s, faults.Target{Operation: op, Database: "db", Container: "items", Item: item})
	return ok
}

func TestSetDecides(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		fault faults.Fault
		want  []bool // for: read a, read b, create, read a, read account, read a
	}{
		{"once by default", faults.Answer(503, 0), []bool{true, false, false, false, false, false}},
		{"twice", faults.Cut().Times(2), []bool{true, true, false, false, false, false}},
		{"kept, but never for the account read", faults.Cut().Keep(), []bool{true, true, true, true, false, true}},
		{"account read by name", faults.Cut().On(faults.ReadAccount).Keep(), []bool{false, false, false, false, true, false}},
		{"one item", faults.Cut().Item("b").Keep(), []bool{false, true, false, false, false, false}},
		{"one operation", faults.Cut().On(faults.CreateItem).Keep(), []bool{false, false, true, false, false, false}},
		{"the second match", faults.Cut().On(faults.ReadItem).Item("a").Nth(2), []bool{false, false, false, true, false, false}},
		{"another container", faults.Cut().Container("other").Keep(), make([]bool, 6)},
		{"another database", faults.Cut().Database("other").Keep(), make([]bool, 6)},
		{"this container", faults.Cut().Database("db").Container("items"), []bool{true, false, false, false, false, false}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s faults.Set
			armed := s.Add(c.fault)
			got := []bool{
				decide(&s, faults.ReadItem, "a"), decide(&s, faults.ReadItem, "b"), decide(&s, faults.CreateItem, ""),
				decide(&s, faults.ReadItem, "a"), decide(&s, faults.ReadAccount, ""), decide(&s, faults.ReadItem, "a"),
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			fired := 0
			for _, hit := range c.want {
				if hit {
					fired++
				}
			}
			if armed.Fired() != fired {
				t.Errorf("Fired() = %d, want %d", armed.Fired(), fired)
			}
		})
	}
}

func TestProbabilityIsRepeatable(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (hits int, pattern []bool) {
		var s faults.Set
		s.Add(faults.Cut().Keep().Probability(0.3, seed))
		for range 1000 {
			hit := decide(&s, faults.ReadItem, "a")
			if hit {
				hits++
			}
			pattern = append(pattern, hit)
		}
		return hits, pattern
	}
	hits, first := run(7)
	_, second := run(7)
	_, other := run(8)
	if hits < 200 || hits > 400 {
		t.Errorf("%d of 1000 at probability 0.3", hits)
	}
	if !slices.Equal(first, second) || slices.Equal(first, other) {
		t.Error("the seed does not decide the pattern")
	}
}

func TestEffects(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		fault faults.Fault
		want  faults.Effect
	}{
		{"throttle", faults.Throttle(time.Second), faults.Effect{Status: http.StatusTooManyRequests, Substatus: 3200, RetryAfter: time.Second}},
		{"lost answer", faults.Cut().AfterEffect(), faults.Effect{Cut: true, After: true}},
		{"late answer", faults.Answer(503, 0).Delayed(time.Minute), faults.Effect{Status: 503, Delay: time.Minute}},
		{"delay", faults.Delay(time.Second), faults.Effect{Delay: time.Second}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s faults.Set
			s.Add(c.fault)
			if got, ok := faults.Decide(&s, faults.Target{Operation: faults.ReadItem}); !ok || got != c.want {
				t.Errorf("got %+v %v, want %+v", got, ok, c.want)
			}
		})
	}
}

func TestDisarmAndClear(t *testing.T) {
	t.Parallel()
	var s faults.Set
	first := s.Add(faults.Cut().Keep())
	second := s.Add(faults.Cut().Keep())
	first.Disarm()
	first.Disarm()
	if !decide(&s, faults.ReadItem, "a") || first.Fired() != 0 || second.Fired() != 1 || second.Matched() != 1 {
		t.Errorf("first fired %d, second %d", first.Fired(), second.Fired())
	}
	s.Clear()
	if decide(&s, faults.ReadItem, "a") {
		t.Error("a cleared set still decides")
	}
}

func TestTimesHoldsUnderConcurrency(t *testing.T) {
	t.Parallel()
	var s faults.Set
	armed := s.Add(faults.Cut().Times(50))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				decide(&s, faults.ReadItem, "a")
			}
		})
	}
	wg.Wait()
	if armed.Fired() != 50 {
		t.Errorf("fired %d times, want 50", armed.Fired())
	}
}
