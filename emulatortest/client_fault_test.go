package emulatortest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// named gives the container to a client of that name, which retries nothing by itself.
func named(t *testing.T, e *emulatortest.Emulator, name string) *azcosmos.ContainerClient {
	t.Helper()
	o := azcosmos.ClientOptions{}
	o.Retry = policy.RetryOptions{MaxRetries: -1}
	client := e.ClientNamed(name, &o)
	container, err := client.NewContainer("db", "items")
	if err != nil {
		t.Fatal(err)
	}
	return container
}

func exists(t *testing.T, items *azcosmos.ContainerClient, id string) bool {
	t.Helper()
	_, err := items.ReadItem(t.Context(), pk("a"), id, nil)
	if err == nil {
		return true
	}
	wantStatus(t, err, http.StatusNotFound)
	return false
}

func TestLateRequestTakesEffectBehindLaterOnes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		fault emulator.Fault
		reads int // of the same client until the item is there; 0 for never
		code  int // of the answer; 0 for a broken connection
	}{
		{"before the next", emulator.Cut().Later(1), 1, 0},
		{"before the third", emulator.Cut().Later(3), 3, 0},
		{"behind an answer", emulator.Answer(http.StatusRequestTimeout, 0).Later(2), 2, http.StatusRequestTimeout},
		{"at the end", emulator.Cut().Later(0), 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := emulatortest.New(t)
			newContainer(t, e.Client(nil), "/pk")
			mine, theirs := named(t, e, "mine"), named(t, e, "theirs")
			exists(t, mine, "1") // warms the client, whose reads of the container would count
			e.Fault(c.fault.On(emulator.CreateItem).Client("mine"))
			_, err := mine.CreateItem(t.Context(), pk("a"), []byte(`{"id":"1","pk":"a"}`), nil)
			if c.code != 0 {
				wantStatus(t, err, c.code)
			} else if !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("want a broken connection, got %v", err)
			}
			for i := range 5 {
				if exists(t, theirs, "1") != (c.reads > 0 && i >= c.reads) {
					t.Fatalf("before read %d of its client, the other client sees another state", i+1)
				}
				if exists(t, mine, "1") != (c.reads > 0 && i+1 >= c.reads) {
					t.Fatalf("read %d sees another state", i+1)
				}
			}
			if applied := e.Faults().ApplyLate(); (applied == 1) != (c.reads == 0) || !exists(t, mine, "1") {
				t.Errorf("%d applied at the end", applied)
			}
		})
	}
}

// A create that is sent again beside its first copy meets what the first copy made, whichever comes first.
func TestLateRequestIsRefusedWhenOvertaken(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	newContainer(t, e.Client(nil), "/pk")
	mine := named(t, e, "mine")
	e.Fault(emulator.Cut().Later(0).On(emulator.CreateItem).Item("1"))
	create := func(text string) error {
		_, err := mine.CreateItem(t.Context(), pk("a"), []byte(text), nil)
		return err
	}
	if err := create(`{"id":"1","pk":"a","copy":1}`); !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	if err := create(`{"id":"1","pk":"a","copy":2}`); err != nil {
		t.Fatal(err)
	}
	e.Faults().ApplyLate()
	log := e.Requests().All()
	if last := log[len(log)-1]; !last.Late || last.Status != http.StatusConflict || last.Client != "mine" {
		t.Errorf("the late create ended as %+v", last)
	}
}

func TestKilledClientGetsNothingAnyMore(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{"before": emulator.Kill(), "after": emulator.Kill().AfterEffect()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := emulatortest.New(t)
			newContainer(t, e.Client(nil), "/pk")
			first, second := named(t, e, "first"), named(t, e, "second")
			e.Fault(fault.Client("first").On(emulator.CreateItem))
			for range 3 {
				if _, err := first.CreateItem(t.Context(), pk("a"), []byte(`{"id":"1","pk":"a"}`), nil); !errors.Is(err, syscall.ECONNRESET) {
					t.Fatalf("the killed client got %v", err)
				}
			}
			if exists(t, second, "1") != (name == "after") {
				t.Error("the request of the killed client has the wrong effect")
			}
			e.Faults().Revive("first")
			exists(t, first, "1")
		})
	}
}

func TestSuspendedClientGoesOnLater(t *testing.T) {
	t.Parallel()
	skipOnRealEndpoint(t, "a network can't be reached from virtual time")
	synctest.Test(t, func(t *testing.T) {
		e := emulatortest.New(t)
		newContainer(t, e.Client(nil), "/pk")
		first, second := named(t, e, "first"), named(t, e, "second")
		exists(t, first, "1")
		e.Fault(emulator.Suspend(time.Minute).Client("first").On(emulator.CreateItem))
		began := time.Now()
		ended := make(chan time.Duration, 2)
		go func() {
			create(t, first, pk("a"), `{"id":"1","pk":"a"}`)
			ended <- time.Since(began)
		}()
		synctest.Wait()
		go func() { // another goroutine of the same process
			exists(t, first, "1")
			ended <- time.Since(began)
		}()
		if exists(t, second, "1") || time.Since(began) != 0 {
			t.Error("the other client was held back, or the suspended one was not")
		}
		if one, two := <-ended, <-ended; one != time.Minute || two != time.Minute {
			t.Errorf("the suspended client went on after %v and %v", one, two)
		}
		if !exists(t, second, "1") {
			t.Error("the suspended request took no effect")
		}
	})
}

func numberIn(t *testing.T, document []byte) int {
	t.Helper()
	var d struct {
		N int `json:"n"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatalf("%q: %v", document, err)
	}
	return d.N
}

func TestReadsFromAReplicaThatIsBehind(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a","n":1}`)
	response, err := items.ReplaceItem(t.Context(), pk("a"), "1", []byte(`{"id":"1","pk":"a","n":2}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(o *azcosmos.ItemOptions) (azcosmos.ItemResponse, error) {
		return items.ReadItem(t.Context(), pk("a"), "1", o)
	}
	e.Fault(emulator.Behind(1).On(emulator.ReadItem))
	if old, err := read(nil); err != nil || numberIn(t, old.Value) != 1 {
		t.Errorf("one write behind: %s, %v", old.Value, err)
	}
	if now, err := read(nil); err != nil || numberIn(t, now.Value) != 2 {
		t.Errorf("the next read: %s, %v", now.Value, err)
	}
	e.Fault(emulator.Behind(2).On(emulator.ReadItem))
	_, err = read(nil)
	wantStatus(t, err, http.StatusNotFound)

	e.Fault(emulator.Behind(1).On(emulator.ReadItem).Keep())
	_, err = read(&azcosmos.ItemOptions{SessionToken: response.SessionToken})
	if answer := refusal(t, err, http.StatusNotFound); answer.RawResponse.Header.Get("x-ms-substatus") != "1002" {
		t.Errorf("with the session token of the write: %v", err)
	}
	e.Faults().Clear()

	e.Fault(emulator.Behind(2).On(emulator.QueryItems))
	page, err := items.NewQueryItemsPager("SELECT * FROM c", pk("a"), nil).NextPage(t.Context())
	if err != nil || len(page.Items) != 0 {
		t.Errorf("a query two writes behind: %d items, %v", len(page.Items), err)
	}
}

func TestEmptyAndShortPagesHideNothing(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	for _, id := range []string{"1", "2", "3"} {
		create(t, items, pk("a"), `{"id":"`+id+`","pk":"a"}`)
	}
	cases := []struct {
		name   string
		faults []emulator.Fault
		pages  []int
	}{
		{"an empty first page", []emulator.Fault{emulator.EmptyPage()}, []int{0, 3}},
		{"two empty pages", []emulator.Fault{emulator.EmptyPage().Times(2)}, []int{0, 0, 3}},
		{"a short page", []emulator.Fault{emulator.ShortPage(1)}, []int{1, 2}},
		{"short, empty, whole", []emulator.Fault{emulator.ShortPage(2), emulator.EmptyPage()}, []int{2, 0, 1}},
	}
	for _, query := range []string{"SELECT * FROM c", "SELECT VALUE c.id FROM c ORDER BY c.id DESC"} {
		for _, c := range cases { // one after the other: they share the faults
			for _, f := range c.faults {
				e.Fault(f.On(emulator.QueryItems))
			}
			var sizes []int
			pager := items.NewQueryItemsPager(query, pk("a"), nil)
			for pager.More() {
				page, err := pager.NextPage(t.Context())
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				sizes = append(sizes, len(page.Items))
			}
			if len(sizes) != len(c.pages) {
				t.Errorf("%s, %s: pages of %v items, want %v", query, c.name, sizes, c.pages)
				continue
			}
			for i := range sizes {
				if sizes[i] != c.pages[i] {
					t.Errorf("%s, %s: pages of %v items, want %v", query, c.name, sizes, c.pages)
				}
			}
		}
	}
}

func TestSplitAndMergeRightBeforeARequest(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	create(t, items, pk("a"), `{"id":"1","pk":"a"}`)
	e.Fault(emulator.Split().On(emulator.ReadItem))
	if !exists(t, items, "1") || len(e.Ranges("db", "items")) != 2 {
		t.Errorf("after the split: %v", e.Ranges("db", "items"))
	}
	e.Fault(emulator.Merge().On(emulator.ReadItem).Times(2))
	for range 2 { // the second finds nothing to merge with
		if !exists(t, items, "1") || len(e.Ranges("db", "items")) != 1 {
			t.Errorf("after the merge: %v", e.Ranges("db", "items"))
		}
	}
}

func TestFaultsOnOneRequestCompose(t *testing.T) {
	t.Parallel()
	skipOnRealEndpoint(t, "a network can't be reached from virtual time")
	synctest.Test(t, func(t *testing.T) {
		e := emulatortest.New(t, withoutRetries())
		items := newContainer(t, e.Client(nil), "/pk")
		create(t, items, pk("a"), `{"id":"1","pk":"a","n":1}`)
		armed := []*emulator.ArmedFault{
			e.Fault(emulator.Behind(1).On(emulator.ReadItem)),
			e.Fault(emulator.Delay(time.Second).On(emulator.ReadItem)),
			e.Fault(emulator.Split().On(emulator.ReadItem)),
			e.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.CreateItem)),
		}
		began := time.Now()
		if !exists(t, items, "1") || time.Since(began) != time.Second || len(e.Ranges("db", "items")) != 2 {
			t.Errorf("after %v: %v; a split makes replicas that are up to date", time.Since(began), e.Ranges("db", "items"))
		}
		for i, want := range []int{1, 1, 1, 0} {
			if armed[i].Fired() != want {
				t.Errorf("fault %d happened %d times", i, armed[i].Fired())
			}
		}
	})
}

// Another form of an answer holds the same, and what comes behind it follows.
func TestAnotherFormHoldsTheSame(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	items := newContainer(t, e.Client(nil), "/pk")
	for _, id := range []string{"1", "2", "3"} {
		create(t, items, pk("a"), `{"id":"`+id+`","pk":"a","tree":{"a":[{"x":1,"y":"<>\"}"}],"b":null}}`)
	}
	usual, err := items.ReadItem(t.Context(), pk("a"), "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Fault(emulator.OtherForm().Keep())
	other, err := items.ReadItem(t.Context(), pk("a"), "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(other.Value), `"tree":{"b":null,"a":[{"y":"\u003c`) && !strings.Contains(string(other.Value), `"tree":{"b":null,"a":[{"y":"<`) {
		t.Errorf("the members are in this order: %s", other.Value)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(usual.Value, &a), json.Unmarshal(other.Value, &b)); err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%s became %s, %v", usual.Value, other.Value, err)
	}
	e.Fault(emulator.EmptyPage().Nth(2))
	sizes, tokens := []int{}, []string{}
	pager := items.NewQueryItemsPager("SELECT * FROM c", pk("a"), &azcosmos.QueryOptions{PageSizeHint: 1})
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if sizes = append(sizes, len(page.Items)); page.ContinuationToken != nil {
			tokens = append(tokens, *page.ContinuationToken)
		}
	}
	if !slices.Equal(sizes, []int{1, 0, 1, 1}) {
		t.Errorf("pages of %v items, by the tokens %q", sizes, tokens)
	}
}
