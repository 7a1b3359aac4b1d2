package emulatortest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// createPatiently creates an item; 449 asks the client to send it again, which the SDK leaves to its user.
func createPatiently(t *testing.T, items *azcosmos.ContainerClient, body string) azcosmos.ItemResponse {
	t.Helper()
	for {
		r, err := items.CreateItem(t.Context(), pk("a"), []byte(body), nil)
		var answer *azcore.ResponseError
		if errors.As(err, &answer) && answer.StatusCode == 449 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// A client that keeps its session token and follows continuations sees everything, in more requests than it would need.
func TestUnkindHidesNothingFromACarefulClient(t *testing.T) {
	t.Parallel()
	requests := map[uint64]int{}
	for _, seed := range []uint64{1, 1, 2} {
		e := emulatortest.New(t, emulatortest.Unkind(seed))
		items := newContainer(t, e.Client(nil), "/pk")
		var token *string
		const many = 200
		for i := range many {
			token = createPatiently(t, items, fmt.Sprintf(`{"id":"%d","pk":"a"}`, i)).SessionToken
		}
		found := 0
		pager := items.NewQueryItemsPager("SELECT * FROM c", pk("a"), &azcosmos.QueryOptions{SessionToken: token, PageSizeHint: 20})
		for pager.More() {
			page, err := pager.NextPage(t.Context())
			var answer *azcore.ResponseError
			if errors.As(err, &answer) && answer.RawResponse.Header.Get("x-ms-substatus") == "1002" {
				continue // the replica has not seen what the token asks for
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			found += len(page.Items)
		}
		if found != many {
			t.Errorf("seed %d: %d of %d found", seed, found, many)
		}
		total, faulted := 0, 0
		for _, x := range e.Requests().All() {
			total++
			if x.Faulted {
				faulted++
			}
		}
		if before, ok := requests[seed]; ok && before != total {
			t.Errorf("seed %d: %d requests, then %d", seed, before, total)
		}
		if requests[seed] = total; faulted < 3 {
			t.Errorf("seed %d: only %d of %d requests were disturbed", seed, faulted, total)
		}
	}
}

// What asks every range meets the more splits the more ranges there are, so that without an end to them there would be no end at all.
func TestUnkindSplitsAnAccountAFewTimes(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, emulatortest.Unkind(1))
	items := newContainer(t, e.Client(nil), "/pk")
	for i := range 4000 {
		createPatiently(t, items, fmt.Sprintf(`{"id":"%d","pk":"a"}`, i))
	}
	if n := len(e.Ranges("db", "items")); n < 2 || n > 9 {
		t.Errorf("%d ranges after 4,000 requests, want 2 to 9", n)
	}
}

// The environment unsettles every account but the calm ones; of two options the later one holds.
func TestCalm(t *testing.T) {
	t.Setenv("GROVE_UNKIND", "1")
	for name, test := range map[string]struct {
		options   []emulatortest.Option
		disturbed bool
	}{
		"neither":         {nil, true},
		"calm":            {[]emulatortest.Option{emulatortest.Calm()}, false},
		"unkind and calm": {[]emulatortest.Option{emulatortest.Unkind(2), emulatortest.Calm()}, false},
		"calm and unkind": {[]emulatortest.Option{emulatortest.Calm(), emulatortest.Unkind(2)}, true},
	} {
		e := emulatortest.New(t, test.options...)
		items := newContainer(t, e.Client(nil), "/pk")
		for i := range 300 {
			createPatiently(t, items, fmt.Sprintf(`{"id":"%d","pk":"a"}`, i))
		}
		faulted := slices.ContainsFunc(e.Requests().All(), func(x emulator.Exchange) bool { return x.Faulted })
		if faulted != test.disturbed {
			t.Errorf("%s: disturbed is %v, want %v", name, faulted, test.disturbed)
		}
	}
}
