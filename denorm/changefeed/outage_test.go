package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// targetContainer is what the handlers of these tests write into.
const targetContainer = "target"

func (b *testBundle) target() *azcosmos.ContainerClient {
	b.t.Helper()
	db, err := b.client.NewDatabase(database)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := db.CreateContainer(b.t.Context(), azcosmos.ContainerProperties{
		ID: targetContainer, PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Version: 2, Paths: []string{"/id"}},
	}, nil); err != nil {
		b.t.Fatal(err)
	}
	target, err := db.NewContainer(targetContainer)
	if err != nil {
		b.t.Fatal(err)
	}
	return target
}

// copier writes every changed document into the target, and refuses one.
func (b *testBundle) copier(target *azcosmos.ContainerClient, malformed string) changefeed.Handler {
	return func(ctx context.Context, changes []changefeed.Change) error {
		for _, c := range changes {
			if c.ID == malformed {
				return errors.New("a document that fits nothing")
			}
			var i item
			if err := c.Decode(&i); err != nil {
				return err
			}
			i.ID = i.Tenant + "-" + i.ID
			body := encode(b.t, i)
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			_, err := target.UpsertItem(ctx, azcosmos.NewPartitionKeyString(i.ID), body, nil)
			cancel()
			if err != nil {
				return fmt.Errorf("copying: %w", err)
			}
		}
		return nil
	}
}

// stale counts the documents of which the target has no copy, or an old one.
func (b *testBundle) stale(target *azcosmos.ContainerClient, n, version int) (stale int) {
	b.t.Helper()
	follows := func(id string) bool {
		for {
			resp, err := target.ReadItem(b.t.Context(), azcosmos.NewPartitionKeyString(id), id, &azcosmos.ItemOptions{SessionToken: b.session.token(target)})
			if !isBehind(err) {
				return err == nil && strings.Contains(string(resp.Value), fmt.Sprintf(`"n":%d`, version))
			}
		}
	}
	for i := range n {
		if !follows(fmt.Sprintf("t%d-d%d", i%7, i)) {
			stale++
		}
	}
	return stale
}

func (b *testBundle) quarantined(p *changefeed.Processor) (ids []string) {
	b.t.Helper()
	for q, err := range p.Quarantined(b.t.Context()) {
		if err != nil {
			b.t.Fatal(err)
		}
		ids = append(ids, q.DocumentID)
	}
	return ids
}

// outageKinds are what an account may answer while it is down, or keeps this process out.
func outageKinds() map[string]emulator.Fault {
	kinds := map[string]emulator.Fault{
		"429": emulator.Throttle(time.Second),
		"cut": emulator.Cut(), "cut after the effect": emulator.Cut().AfterEffect(),
		"no answer in time": emulator.Delay(time.Minute),
		"404/1002":          emulator.Answer(http.StatusNotFound, 1002),
	}
	for _, status := range []int{500, 502, 503, 504, 408, 449, 410, 401, 403} {
		kinds[fmt.Sprint(status)] = emulator.Answer(status, 0)
	}
	return kinds
}

// However long an outage takes and whatever its kind, no change is put into
// quarantine for it, and nothing is stale soon after it. While it lasts the
// range stands still and says so.
func TestOutages(t *testing.T) {
	t.Parallel()
	for name, fault := range outageKinds() {
		for _, length := range []time.Duration{12 * time.Second, time.Minute, 10 * time.Minute} {
			t.Run(fmt.Sprint(name, " for ", length), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { outage(t, fault, length) })
			})
		}
	}
}

func outage(t *testing.T, fault emulator.Fault, length time.Duration) {
	const documents = 40
	b := setup(t, emulatortest.WithPartitions(3), emulatortest.Calm()) // its handler writes with a client of the SDK, which leaves 449 to it
	target := b.target()
	var log logged
	meters := sdkmetric.NewManualReader()
	p := b.processor(changefeed.Config{
		Container: b.items, Leases: b.leases, Name: "outage",
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(meters)),
	}, b.copier(target, ""))
	b.fill(documents)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	armed := b.emu.Fault(fault.On(emulator.UpsertItem).Container(targetContainer).Keep())
	for i := range documents {
		b.put(fmt.Sprint("t", i%7), fmt.Sprint("d", i), 2)
	}
	<-time.After(length)
	if length >= time.Minute {
		lags, err := p.Lag(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiting, standing := 0, 0
		for _, l := range lags {
			if l.Changes > 0 {
				waiting++
				if !l.StalledSince.IsZero() {
					standing++
				}
			}
		}
		if waiting == 0 || waiting != standing {
			t.Errorf("of %d ranges with changes %d say that they stand still", waiting, standing)
		}
		if sums := collect(t, meters); sums["grove.changefeed.stall"] == 0 {
			t.Error("no metric says that a range stands still")
		}
		if n := strings.Count(log.String(), "stands still"); n == 0 || n > len(lags) {
			t.Errorf("the log says %d times that a range stands still", n)
		}
	}
	armed.Disarm()
	<-time.After(90 * time.Second) // the longest pause, and the writing
	if n := b.stale(target, documents, 2); n != 0 {
		t.Errorf("%d of %d documents are stale after it", n, documents)
	}
	if ids := b.quarantined(p); len(ids) != 0 {
		t.Errorf("in quarantine: %v", ids)
	}
	if length >= time.Minute && !strings.Contains(log.String(), "goes on") {
		t.Error("the log does not say that a range goes on")
	}
	if strings.Contains(log.String(), "RESPONSE") || strings.Contains(log.String(), "https://") {
		t.Errorf("the log holds an answer:\n%s", log.String())
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// One malformed document among a thousand is put into quarantine, also in the midst
// of an outage, and stops none of the others.
func TestOneMalformedDocumentAmongAThousand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const documents = 1000
		b := setup(t, emulatortest.WithPartitions(3))
		target := b.target()
		p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "malformed"}, b.copier(target, "malformed"))
		b.fill(documents)
		b.put("t3", "malformed", 1)
		armed := b.emu.Fault(emulator.Answer(503, 0).On(emulator.UpsertItem).Container(targetContainer).Keep())
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		armed.Disarm()
		<-time.After(90 * time.Second)
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := b.stale(target, documents, 1); n != 0 {
			t.Errorf("%d of %d documents are stale", n, documents)
		}
		if ids := b.quarantined(p); len(ids) != 1 || ids[0] != "malformed" {
			t.Errorf("in quarantine: %v", ids)
		}
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// What the processor itself needs may be down too, from its start on.
func TestOutageOfTheFeedAndTheLeases(t *testing.T) {
	t.Parallel()
	for name, fault := range outageKinds() {
		for what, narrowed := range map[string]emulator.Fault{"the feed": fault.On(emulator.ChangeFeed), "the leases": fault.Container("leases")} {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { outageFromTheStart(t, narrowed) })
			})
		}
	}
}

func outageFromTheStart(t *testing.T, fault emulator.Fault) {
	b := setup(t, emulatortest.WithPartitions(2))
	b.fill(20)
	var s seen
	p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "down", StartFrom: changefeed.Beginning()}, s.handle)
	armed := b.emu.Fault(fault.Keep())
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- p.Run(ctx) }()
	<-time.After(10 * time.Minute)
	armed.Disarm()
	<-time.After(3 * time.Minute)
	if s.count() != 20 {
		t.Errorf("%d of 20 changes were handled", s.count())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What else a handler needs than the database is known to be an outage when the
// handler says so, or when the error is one of the network.
func TestHandlersMarkOutages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		passes bool
	}{
		"marked":            {changefeed.Transient(errors.New("the mail server is full")), true},
		"marked and joined": {errors.Join(errors.New("x"), changefeed.Transient(errors.New("y"))), true},
		"the network":       {fmt.Errorf("sending: %w", syscall.ECONNREFUSED), true},
		"a deadline":        {fmt.Errorf("sending: %w", context.DeadlineExceeded), true},
		"a cut answer":      {fmt.Errorf("asking: %w", &url.Error{Op: "Get", URL: "https://example.com/x", Err: io.ErrUnexpectedEOF}), true},
		"a member cut":      {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), false},
		"anything else":     {errors.New("the address is none"), false},
		"a bad request":     {&azcore.ResponseError{StatusCode: http.StatusBadRequest}, false},
		"too large":         {&azcore.ResponseError{StatusCode: http.StatusRequestEntityTooLarge}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.put("t", "d", 1)
				began := time.Now()
				p := b.processor(changefeed.Config{Container: b.items, Leases: b.leases, Name: "marks"}, func(context.Context, []changefeed.Change) error {
					if time.Since(began) > 5*time.Minute {
						return nil
					}
					return tt.err
				})
				if err := p.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := len(b.quarantined(p)); (n == 0) != tt.passes {
					t.Errorf("%d changes are in quarantine", n)
				}
			})
		})
	}
}
