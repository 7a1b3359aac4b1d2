package cosmos_test

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// headersOf keeps the headers of the requests for documents.
type headersOf struct {
	recorder
	seen []http.Header
}

func (h *headersOf) Do(req *http.Request) (*http.Response, error) {
	if req.URL.Path != "/" && req.URL.Path != "" {
		h.seen = append(h.seen, req.Header.Clone())
	}
	return h.recorder.Do(req)
}

// A header of one call is sent with that call and no other, though the call
// goes on under the context that it was begun with, and not under the SDK's.
func TestHeaderOfOneCall(t *testing.T) {
	t.Parallel()
	sent := &headersOf{}
	c := containerOver(t, sent)
	ctx := cosmos.NewAttempts().Context(t.Context(), new(cosmos.Exchange), true)
	const key = `["a","b"]`
	if _, _, err := cosmos.ReadItemUnder(ctx, c, key, "id", cosmos.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := cosmos.ReadItem(ctx, c, azcosmos.NewPartitionKeyString("k"), "id", cosmos.Options{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{key, `["k"]`} {
		if got := sent.seen[i].Get("x-ms-documentdb-partitionkey"); got != want {
			t.Errorf("request %d has the key %q, want %q", i, got, want)
		}
	}
}
