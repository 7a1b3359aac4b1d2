package changefeed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
)

// A replica that lags behind shows the leases some time after they were made:
// CatchUp does not take that for having none.
func TestCatchUpBehindALaggingReplica(t *testing.T) {
	t.Parallel()
	const lag = 100 * time.Millisecond
	b := setup(t, emulatortest.WithReplicaLag(lag), emulatortest.WithPartitions(3))
	b.fill(30)
	b.emu.Clock().Advance(lag)
	var s seen
	p := b.processor(b.config("lagging"), s.handle)
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.count() != 30 {
		t.Errorf("%d of 30 documents", s.count())
	}
}

// A lease that somebody removed can't be waited for.
func TestCatchUpTellsOfKeysWithoutALease(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(2))
	b.fill(5)
	var s seen
	cfg := b.config("gap")
	cfg.LeaseDuration = 200 * time.Millisecond
	if err := b.processor(cfg, s.handle).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, _ := b.leaseDocuments()[0]["id"].(string)
	if _, err := b.leases.DeleteItem(t.Context(), azcosmos.NewPartitionKeyString(id), id, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.processor(cfg, s.handle).CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "no lease stands for the keys") {
		t.Errorf("%v", err)
	}
}
