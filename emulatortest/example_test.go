package emulatortest_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// inTest runs what stands in a test of its own elsewhere: examples have no *testing.T.
func inTest(name string, f func(t *testing.T)) {
	verbose := flag.Lookup("test.v").Value.String()
	_ = flag.Set("test.v", "false") // an example's output is compared
	defer func() { _ = flag.Set("test.v", verbose) }()
	all := func(string, string) (bool, error) { return true, nil }
	// An example is run once, and a test as often as -count and -cpu say.
	ran := false
	testing.RunTests(all, []testing.InternalTest{{Name: name, F: func(t *testing.T) {
		if !ran {
			ran = true
			f(t)
		}
	}}})
}

// printing is a test whose failures are printed.
type printing struct{ testing.TB }

func (printing) Helper()                      {}
func (printing) Errorf(f string, args ...any) { fmt.Printf(f, args...) }

// An account of its own, for a client of the SDK.
func ExampleNew() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.WithPartitions(2))
		items := newContainer(t, e.Client(nil), "/pk")
		answer := create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		fmt.Printf("created for %.2f RU\n", answer.RequestCharge)
	})
	// Output:
	// created for 6.40 RU
}

// A fault is armed, and tells how often it happened.
func ExampleEmulator_Fault() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.Calm())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		// snippet: fault
		outage := e.Fault(emulator.Answer(http.StatusForbidden, 5300).On(emulator.ReadItem).Times(2))
		for range 3 {
			_, err := items.ReadItem(t.Context(), pk("a"), "1", nil)
			fmt.Println(err == nil, outage.Fired())
		}
		// end snippet
	})
	// Output:
	// false 1
	// false 2
	// true 2
}

// The context that f is given tells its requests from those of others.
func ExampleAssertPointRead() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.Calm())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		w := printing{t}
		// snippet: cost
		emulatortest.AssertPointRead(w, e, func(ctx context.Context) {
			_, err := items.NewQueryItemsPager("SELECT * FROM c WHERE c.id = '1'", pk("a"), nil).NextPage(ctx)
			if err != nil {
				w.Error(err)
			}
		})
		// end snippet
	})
	// Output:
	// want one point read, got
	//   query items db/items: 200, 2.49 RU
	// to change: read one item by its id and full partition key instead of querying for it
}

// A query without its partition key is served from all of them.
func ExampleAssertSinglePartition() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.Calm())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		emulatortest.AssertSinglePartition(printing{t}, e, func(ctx context.Context) {
			_, _ = items.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil).NextPage(ctx)
		})
	})
	// Output:
	// query items on db/items was served from more than one logical partition, of
	//   query items db/items: 200, 2.49 RU, several logical partitions
	// to change: give the full partition key, or bind the query to one tenant and type
}

// What costs little in a container of one physical partition costs more with every split.
func ExampleAssertNoFanOut() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.WithPartitions(3), emulatortest.Calm())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		emulatortest.AssertNoFanOut(printing{t}, e, func(ctx context.Context) {
			_, _ = items.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil).NextPage(ctx)
		})
	})
	// Output:
	// query items on db/items visited 3 physical partitions, of
	//   query items db/items: 200, 7.03 RU, 3 physical partitions, several logical partitions
	// to change: give the full partition key, or bind the query to one tenant and type
}

// The charges are right in their order of magnitude, so that a bound should leave some room.
func ExampleAssertRequestUnits() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.Calm())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
		emulatortest.AssertRequestUnits(printing{t}, e, 1.5, func(ctx context.Context) {
			for range 2 {
				_, _ = items.ReadItem(ctx, pk("a"), "1", nil)
			}
		})
	})
	// Output:
	// want at most 1.50 request units, got 2.00 for
	//   read item db/items/1: 200, 1.00 RU
	//   read item db/items/1: 200, 1.00 RU
	// to change: several point reads: read many at once (GetMany), or keep what was read
}

// A request more than there should be is shown where it comes.
func ExampleAssertRequests() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.Calm())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a","n":1}`)
		want := []emulator.Operation{emulator.ReadItem, emulator.ReplaceItem}
		emulatortest.AssertRequests(printing{t}, e, want, func(ctx context.Context) {
			_, _ = items.ReadItem(ctx, pk("a"), "1", nil)
			_, _ = items.ReadItem(ctx, pk("a"), "1", nil)
			_, _ = items.ReplaceItem(ctx, pk("a"), "1", []byte(`{"id":"1","pk":"a","n":2}`), nil)
		})
	})
	// Output:
	// other requests than wanted (- is missing, + is too much):
	//     read item
	//   + read item
	//     replace item
	// to change: several point reads: read many at once (GetMany), or keep what was read
}

// Two processes add one each, and the one that writes last has not looked.
func ExampleFind() {
	inTest("TestLostUpdate", func(t *testing.T) {
		finding, _ := emulatortest.Find(t, countingScenario(false), emulatortest.ExploreOptions{Budget: time.Second})
		fmt.Println(finding)
	})
	// Output:
	// broken promise: 2 increments were acknowledged, 0 are unknown, and the counter is 1
	//
	// #  who       request       item  fault  answer
	// 1  first:1   read item     1            200
	// 2  second:1  read item     1            200
	// 3  second:2  replace item  1            200
	// 4  first:2   replace item  1            200
	//
	// replay: EXPLORE_SEED='start=first,first:2>second' go test -run '^TestLostUpdate$'
}

// With the etag that it has read, no increment is lost, whatever becomes of a request. Explore fails the test with what Find returns.
func ExampleExplore() {
	inTest("TestCounter", func(t *testing.T) {
		coverage := emulatortest.Explore(t, countingScenario(true), emulatortest.ExploreOptions{Budget: time.Millisecond})
		fmt.Println(coverage.Faults == coverage.FaultsPossible, coverage.Overtakings, "overtakings")
	})
	// Output:
	// true 4 overtakings
}

// The same seed brings the same disturbances: here a query comes in more pages than it would need.
func ExampleUnkind() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.Unkind(7))
		items := newContainer(t, e.Client(nil), "/pk")
		for i := range 40 {
			createPatiently(t, items, fmt.Sprintf(`{"id":"%d","pk":"a"}`, i))
		}
		var pages []string
		pager := items.NewQueryItemsPager("SELECT * FROM c", pk("a"), &azcosmos.QueryOptions{PageSizeHint: 10})
		for pager.More() {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, fmt.Sprint(len(page.Items)))
		}
		fmt.Println(strings.Join(pages, " "))
	})
	// Output:
	// 10 10 10 1 9
}

// A service that only reads is given a role that only reads, in its tests as in production.
func ExampleWithIdentity() {
	inTest("TestMine", func(t *testing.T) {
		e := emulatortest.New(t, emulatortest.WithIdentity(emulator.DataReader("/dbs/db")))
		newContainer(t, e.KeyClient(nil), "/pk") // what the service's identity may not do
		items, err := e.Client(nil).NewContainer("db", "items")
		if err != nil {
			t.Fatal(err)
		}
		_, err = items.CreateItem(t.Context(), pk("a"), []byte(`{"id":"1","pk":"a"}`), nil)
		wantStatus(t, err, 403)
		fmt.Println("refused:", err != nil)
	})
	// Output:
	// refused: true
}
