package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// A create whose parent lies in its logical partition, in layouts of several forms: the parent stays, goes while the create
// is held up, comes back, or the answer is lost.
func TestJoinedReadsInLayouts(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	own := map[string]string{"entityType": "type", "deletedAt": "gone", "tenantId": "org"}
	names := map[string]string{"entityType": "type", "deletedAt": "gone", "tenantId": "org", "parentId": "of"}
	for i, l := range [][2]*layout.Layout{
		{nil, nil},
		{{IDPrefix: "N|"}, {IDPrefix: "C|"}},
		{{IDPrefix: "N|"}, nil},
		{nil, {IDPrefix: "C|"}},
		{{Envelope: "data"}, {Envelope: "data"}},
		{{Names: own}, {Names: names}},
		{{NoMarks: true}, {NoMarks: true}},
		{{IDPrefix: "N|", Envelope: "data", Names: own}, {IDPrefix: "C|", Envelope: "data", Names: names}},
	} {
		for _, how := range []string{"stays", "softly", "for good", "restored", "lost"} {
			t.Run(fmt.Sprint(i, " ", how), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				path := "/tenantId"
				if l[0] != nil && l[0].Names != nil {
					path = "/org"
				}
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				client := e.Client(nil)
				_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "l"}, nil)
				must(t, err)
				db, err := client.NewDatabase("l")
				must(t, err)
				forever := int32(-1)
				_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "items", DefaultTimeToLive: &forever, PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{path}, Version: 2}}, nil)
				must(t, err)
				wire := func(client *azcosmos.Client) onePartition {
					container, err := client.NewContainer("l", "items")
					must(t, err)
					p := onePartition{forest: parented.NewForest(parented.ForestConfig{})}
					p.notes, err = repository.New[Note](container, repository.Config{PartitionKey: []string{path}, Layout: l[0]})
					must(t, err)
					must(t, parented.Register(p.forest, p.notes, parented.Policy{Retain: time.Hour}))
					p.comments, err = parented.New[Comment](p.forest, p.notes, container, parented.Config{Config: repository.Config{PartitionKey: []string{path}, Layout: l[1]}, Rule: parented.Cascade})
					must(t, err)
					return p
				}
				p := wire(client)
				p.note(t, "a")
				slow := pauseAt(2)
				other := wire(clientOf(e, slow))
				c := commentOf("a", "new")
				writing := slow.until(func() { err = other.comments.In("acme").Create(ctx, c) })
				switch how {
				case "softly":
					must(t, p.notes.In("acme").Delete(ctx, "a", nil))
				case "for good":
					must(t, p.notes.In("acme").Delete(ctx, "a", nil))
					must(t, p.notes.In("acme").Purge(ctx, "a"))
				case "restored":
					must(t, p.notes.In("acme").Delete(ctx, "a", nil))
					must(t, p.notes.In("acme").Restore(ctx, "a"))
				case "lost":
					must(t, p.notes.In("acme").Delete(ctx, "a", nil))
					e.Fault(emulator.Cut().AfterEffect().On(emulator.TransactionalBatch).Times(1))
				}
				close(slow.goOn)
				<-writing
				n, cerr := p.comments.In("acme").Count(ctx, repository.All())
				must(t, cerr)
				switch {
				case (how == "stays" || how == "restored") && (err != nil || n != 1 || c.ETag == ""):
					t.Errorf("%v, %d, %q", err, n, c.ETag)
				case (how == "softly" || how == "for good" || how == "lost") && (err == nil || n != 0 && !(l[0] != nil && l[0].NoMarks)):
					t.Errorf("%v, %d", err, n)
				}
			})
		}
	}
}
