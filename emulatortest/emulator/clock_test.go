package emulator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

func TestClockFollowsAndTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		clock := emulator.NewClock()
		clock.Advance(time.Hour)
		clock.Advance(-time.Hour) // time never goes back
		if d := clock.Now().Sub(began); d != time.Hour {
			t.Errorf("the clock is %v ahead, want 1h", d)
		}
		if err := clock.Wait(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("waiting a minute took %v", d)
		}
	})
}

func TestClockAtStandsUntilAdvanced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := emulator.NewClockAt(start)
		done := make(chan error, 1)
		go func() { done <- clock.Wait(t.Context(), time.Minute) }()
		synctest.Wait()
		clock.Advance(30 * time.Second)
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("the wait ended after half its time: %v", err)
		default:
		}
		clock.Advance(30 * time.Second)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := clock.Now(); !got.Equal(start.Add(time.Minute)) {
			t.Errorf("the clock shows %v", got)
		}
	})
}

func TestClockWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := emulator.NewClockAt(time.Now()).Wait(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// An answer says the service's time, which is also that of the document it tells of.
func TestAnAnswersDateIsTheClocks(t *testing.T) {
	t.Parallel()
	service := newService(t, emulator.Options{Clock: emulator.NewClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))})
	items, err := newContainer(t.Context(), service)
	if err != nil {
		t.Fatal(err)
	}
	service.Clock().Advance(36*time.Hour + time.Second)
	r := create(t, items, "a")
	if got, want := r.RawResponse.Header.Get("Date"), "Wed, 02 Jan 2030 12:00:01 GMT"; got != want {
		t.Errorf("Date: %s, want %s", got, want)
	}
}
