package changefeed_test

import (
	"encoding/json"
	"maps"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
)

// The processor for .NET has a lease for each physical partition, whose id begins as those of a processor of the
// same name do here, and which names its range too (DocumentServiceLeaseCore, version 0). It is another application's
// position: taken for one's own, it hides every change that the other one has handled, and takes its work away.
func TestLeasesOfAnotherProcessorOfTheSameName(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"there first": true, "there later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, emulatortest.WithPartitions(2), emulatortest.Calm()) // it writes into the lease container itself
				b.fill(20)
				var before seen
				if err := b.processor(b.config("shared"), before.handle).CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				var others []map[string]any
				for i, own := range b.leaseDocuments() {
					id, _ := own["id"].(string)
					other := maps.Clone(own)
					if token, ok := own["LeaseToken"].(string); ok {
						other["id"] = id[:len(id)-len(token)] + string(rune('0'+i))
					}
					other["LeaseToken"], other["version"], other["Owner"], other["properties"] = string(rune('0'+i)), 0, "worker-7", map[string]any{}
					delete(other, "_etag")
					others = append(others, other)
				}
				if first { // as if nothing of this name had run here before
					b.forgetLeases()
				}
				for _, other := range others {
					id, _ := other["id"].(string)
					if _, err := b.leases.CreateItem(t.Context(), azcosmos.NewPartitionKeyString(id), encode(t, other), nil); err != nil {
						t.Fatal(err)
					}
				}
				want := 20
				if !first {
					b.fill(20)
				}
				var s seen
				p := b.processor(b.config("shared"), s.handle)
				if err := p.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if s.count() != want {
					t.Errorf("%d of %d documents were seen", s.count(), want)
				}
				if lags, err := p.Lag(t.Context()); err != nil || len(lags) != 2 {
					t.Errorf("%d ranges, %v", len(lags), err)
				}
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.fill(want + 10)
				b.eventually(func() bool { return s.count() == want+10 }, "what is written then is seen")
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				owned := 0
				for _, doc := range b.leaseDocuments() {
					if doc["version"] == 0.0 && doc["Owner"] == "worker-7" {
						owned++
					}
				}
				if owned != 2 {
					t.Errorf("%d of the other processor's 2 leases are its own", owned)
				}
			})
		})
	}
}

// forgetLeases empties the lease container.
func (b *testBundle) forgetLeases() {
	b.t.Helper()
	for _, raw := range b.find(b.leases, "SELECT * FROM c") {
		var doc struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			b.t.Fatal(err)
		}
		b.drop(doc.ID)
	}
}
