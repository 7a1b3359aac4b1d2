package changefeed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
)

// leaseWrite is one write of a lease by its owner.
type leaseWrite struct {
	at       time.Time
	position string
	answer   int
}

// leaseWrites notes what a process writes into its only lease.
type leaseWrites struct {
	next policy.Transporter

	mu  sync.Mutex
	all []leaseWrite
}

func (w *leaseWrites) Do(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/colls/leases/docs/") {
		return w.next.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var lease struct{ ContinuationToken string }
	if err := json.Unmarshal(body, &lease); err != nil {
		return nil, err
	}
	write := leaseWrite{at: time.Now(), position: lease.ContinuationToken}
	response, err := w.next.Do(r)
	if err == nil {
		write.answer = response.StatusCode
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, write)
	return response, err
}

func (w *leaseWrites) since(mark time.Time) (all []leaseWrite) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.all {
		if !x.at.Before(mark) {
			all = append(all, x)
		}
	}
	return all
}

// Whatever the pace of changes is, an owner writes its lease at least every third of the duration, by a position or by a
// renewal, and never renews it sooner than that after either. No other instance takes the range meanwhile.
func TestAStoredPositionRenewsTheLease(t *testing.T) {
	t.Parallel()
	const minutes = 10
	for name, every := range map[string]time.Duration{
		"no change": 0, "each second": time.Second, "as often as leases are renewed": 10 * time.Second,
		"more often than leases are renewed": 7300 * time.Millisecond, "less often": 13700 * time.Millisecond, "less often than a lease lasts": 41 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.Calm()) // its requests are counted
				writes := &leaseWrites{next: b.emu.Transport()}
				items, leases := b.through(b.emu.Endpoint(), writes)
				start := func(cfg changefeed.Config, handle changefeed.Handler) {
					cfg.Name = "renewals"
					p := b.processor(cfg, handle)
					if err := p.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() {
						if err := p.Stop(context.WithoutCancel(t.Context())); err != nil {
							t.Error(err)
						}
					})
				}
				var owner, other seen
				start(changefeed.Config{Instance: "owner", Container: items, Leases: leases}, owner.handle)
				<-time.After(6 * time.Minute)
				start(changefeed.Config{Instance: "other", Container: b.items, Leases: b.leases}, other.handle)
				<-time.After(time.Minute)

				mark := time.Now()
				changes := 0
				for time.Since(mark) < minutes*time.Minute {
					if every == 0 {
						<-time.After(minutes * time.Minute)
						break
					}
					b.put("t", "d", changes)
					changes++
					<-time.After(every)
				}
				const third = 10 * time.Second
				all := writes.since(mark)
				positions := 0
				for i, x := range all {
					if x.answer != http.StatusOK {
						t.Errorf("a write of the lease was answered with %d", x.answer)
					}
					if i == 0 {
						continue
					}
					last := all[i-1]
					pause, renewal := x.at.Sub(last.at), x.position == last.position
					if !renewal {
						positions++
					}
					if pause > third || renewal && pause < third {
						t.Errorf("the lease was written after %s; that is a renewal: %v", pause, renewal)
					}
				}
				t.Logf("%d changes in %d minutes: %d writes of the lease, %d of them positions", changes, minutes, len(all), positions)
				if positions < changes-1 {
					t.Errorf("%d positions for %d changes", positions, changes)
				}
				if n := other.count(); n != 0 || b.owners()["owner"] != 1 {
					t.Errorf("another instance handled %d changes; owners: %v", n, b.owners())
				}
			})
		})
	}
}
