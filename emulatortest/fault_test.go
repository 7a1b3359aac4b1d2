package emulatortest_test

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// withoutRetries keeps the SDK from hiding what the emulator answered.
func withoutRetries() emulatortest.Option {
	o := azcosmos.ClientOptions{}
	o.Retry = policy.RetryOptions{MaxRetries: -1}
	return emulatortest.WithClientOptions(o)
}

func TestFaultsBeforeAndAfterTheEffect(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		fault  emulator.Fault
		status int // of the create; 0 for a broken connection
		exists bool
	}{
		{"refused before", emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.CreateItem), 503, false},
		{"refused after", emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.CreateItem).AfterEffect(), 503, true},
		{"throttled", emulator.Throttle(time.Millisecond).On(emulator.CreateItem), 429, false},
		{"cut before", emulator.Cut().On(emulator.CreateItem), 0, false},
		{"cut after", emulator.Cut().On(emulator.CreateItem).AfterEffect(), 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := emulatortest.New(t, withoutRetries())
			items := newContainer(t, e.Client(nil), "/pk")
			armed := e.Fault(c.fault)
			_, err := items.CreateItem(t.Context(), pk("a"), []byte(`{"id":"1","pk":"a"}`), nil)
			if c.status != 0 {
				answer := refusal(t, err, c.status)
				if c.status == http.StatusTooManyRequests && answer.RawResponse.Header.Get("x-ms-retry-after-ms") != "1" {
					t.Error("the throttled answer has no retry time")
				}
			} else if !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("want a broken connection, got %v", err)
			}
			if armed.Fired() != 1 {
				t.Errorf("the fault happened %d times", armed.Fired())
			}
			_, err = items.ReadItem(t.Context(), pk("a"), "1", nil)
			if c.exists && err != nil {
				t.Errorf("the effect is missing: %v", err)
			} else if !c.exists {
				wantStatus(t, err, http.StatusNotFound)
			}
		})
	}
}

func TestDelayGoesByVirtualTimeAndContext(t *testing.T) {
	t.Parallel()
	skipOnRealEndpoint(t, "a network can't be reached from virtual time")
	synctest.Test(t, func(t *testing.T) {
		e := emulatortest.New(t, withoutRetries())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		e.Fault(emulator.Delay(time.Minute).On(emulator.ReadItem).Times(2))

		began := time.Now()
		if _, err := items.ReadItem(t.Context(), pk("a"), "1", nil); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("the delayed read took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := items.ReadItem(ctx, pk("a"), "1", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the deadline, got %v", err)
		}
	})
}

// The SDK retries throttled requests by itself, after the time that the answer names.
func TestThrottledClientComesBack(t *testing.T) {
	t.Parallel()
	skipOnRealEndpoint(t, "a network can't be reached from virtual time")
	synctest.Test(t, func(t *testing.T) {
		e := emulatortest.New(t)
		items := newContainer(t, e.Client(nil), "/pk")
		armed := e.Fault(emulator.Throttle(3 * time.Second).On(emulator.CreateItem).Times(2))
		began := time.Now()
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		if d := time.Since(began); d < 6*time.Second || armed.Fired() != 2 {
			t.Errorf("came back after %v and %d refusals", d, armed.Fired())
		}
	})
}

func TestFaultOption(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t, withoutRetries(), emulatortest.WithFault(emulator.Answer(http.StatusForbidden, 5300).On(emulator.CreateDatabase)))
	_, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "db"}, nil)
	answer := refusal(t, err, http.StatusForbidden)
	if got := answer.RawResponse.Header.Get("x-ms-substatus"); got != "5300" {
		t.Errorf("substatus %q", got)
	}
}
