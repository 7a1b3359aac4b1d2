package changefeed_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
)

// frozen is a network that can stand still: requests wait until it thaws, as
// those of a suspended process do.
type frozen struct {
	next policy.Transporter
	mu   sync.Mutex
	ice  chan struct{} // nil while it flows
}

func (f *frozen) Do(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	ice := f.ice
	f.mu.Unlock()
	if ice != nil {
		<-ice
	}
	return f.next.Do(r)
}

func (f *frozen) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ice = make(chan struct{})
}

func (f *frozen) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ice != nil {
		close(f.ice)
		f.ice = nil
	}
}

// clientOver makes a client whose answers the test's session notes.
func (b *testBundle) clientOver(endpoint string, transport policy.Transporter) *azcosmos.Client {
	b.t.Helper()
	credential, err := azcosmos.NewKeyCredential(b.emu.Key())
	if err != nil {
		b.t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: b.session.over(transport)}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(client.Close)
	return client
}

// through gives the containers over another transport.
func (b *testBundle) through(endpoint string, transport policy.Transporter) (items, leases *azcosmos.ContainerClient) {
	b.t.Helper()
	client := b.clientOver(endpoint, transport)
	var err error
	if items, err = client.NewContainer(database, monitored); err != nil {
		b.t.Fatal(err)
	}
	if leases, err = client.NewContainer(database, "leases"); err != nil {
		b.t.Fatal(err)
	}
	return items, leases
}

// A process stands still in the midst of a batch until another has taken its
// range over and gone further. When it goes on, it finishes the batch, and
// nothing that it stores afterwards is accepted: also not when the lease bears
// its name, because both instances were given the same one.
func TestSuspendedOwnerStoresNothing(t *testing.T) {
	t.Parallel()
	for name, successor := range map[string]string{"another instance": "two", "an instance of the same name": "one"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { suspendedOwner(t, successor) })
		})
	}
}

func suspendedOwner(t *testing.T, successor string) {
	b := setup(t)
	b.put("t", "a", 1)
	b.put("t", "b", 2)
	book := newLedger(b.emu.Handler())
	network := &frozen{next: book}

	cfg := b.config("suspended")
	cfg.Instance, cfg.MaxItems = "one", 1
	cfg.LeaseDuration = time.Hour // it does not learn from a renewal that it is late
	cfg.Container, cfg.Leases = b.through(b.emu.Endpoint(), network)
	inside, goOn := make(chan changefeed.Change, 100), make(chan struct{})
	first := b.processor(cfg, func(_ context.Context, changes []changefeed.Change) error {
		inside <- changes[0]
		<-goOn
		return nil
	})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := <-inside
	network.freeze()
	next := make(chan changefeed.Change, 100)
	other := b.hasty("suspended")
	other.Instance, other.MaxItems = successor, 1
	other.Container, other.Leases = b.through(b.emu.Endpoint(), book)
	second := b.processor(other, func(_ context.Context, changes []changefeed.Change) error {
		next <- changes[0]
		return nil
	})
	letGo := sync.OnceFunc(func() { close(goOn); network.thaw() })
	t.Cleanup(func() {
		letGo()
		for _, p := range []*changefeed.Processor{first, second} {
			if err := p.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, further := <-next, <-next
	if err := second.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held.ID != "a" || held.Epoch != 1 || again.ID != "a" || again.Epoch != 2 || further.ID != "b" || further.Epoch != 2 {
		t.Fatalf("held %s of epoch %d; %s of %d and %s of %d came then", held.ID, held.Epoch, again.ID, again.Epoch, further.ID, further.Epoch)
	}

	letGo()
	b.eventually(func() bool {
		book.mu.Lock()
		defer book.mu.Unlock()
		return book.refused > 0
	}, "a late write is refused")
	for _, p := range []*changefeed.Processor{first, second} {
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, v := range book.violations {
		t.Error(v)
	}
}
