package emulatortest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
)

// ids runs a query to its end and gives the ids in order, with the sizes of the pages.
func ids(t testing.TB, c *azcosmos.ContainerClient, text string, key azcosmos.PartitionKey, o *azcosmos.QueryOptions) (found []string, pages []int) {
	t.Helper()
	pager := c.NewQueryItemsPager(text, key, o)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		pages = append(pages, len(page.Items))
		for _, raw := range page.Items {
			var doc struct{ ID string }
			if err := json.Unmarshal(raw, &doc); err != nil {
				t.Fatal(err)
			}
			found = append(found, doc.ID)
		}
	}
	return found, pages
}

func forest(t testing.TB, opts ...emulatortest.Option) (*emulatortest.Emulator, *azcosmos.ContainerClient) {
	t.Helper()
	e := emulatortest.New(t, append(opts, withoutRetries())...)
	c := newContainer(t, e.Client(nil), "/tenant", "/kind")
	for i := range 12 {
		tenant, kind := fmt.Sprint("t", i%2), fmt.Sprint("k", i%3)
		create(t, c, pk(tenant, kind), fmt.Sprintf(`{"id":"%02d","tenant":%q,"kind":%q,"n":%d}`, i, tenant, kind, i))
	}
	return e, c
}

func TestQueryScopes(t *testing.T) {
	t.Parallel()
	no := false
	for _, partitions := range []int{1, 4} {
		_, c := forest(t, emulatortest.WithPartitions(partitions))
		for _, q := range []struct {
			name, text string
			key        azcosmos.PartitionKey
			options    azcosmos.QueryOptions
			want       string
			pages      int
		}{
			{"key in the header", "SELECT * FROM c ORDER BY c.n DESC", pk("t0", "k0"), azcosmos.QueryOptions{}, "06 00", 1},
			{"key in WHERE", "SELECT * FROM c WHERE c.tenant = 't0' AND c.kind = 'k0' ORDER BY c.n DESC", pk(), azcosmos.QueryOptions{EnableCrossPartitionQuery: &no}, "06 00", 1},
			{"key in parameters", "SELECT * FROM c WHERE c.tenant = @t AND c.kind = @k", pk(), azcosmos.QueryOptions{EnableCrossPartitionQuery: &no,
				QueryParameters: []azcosmos.QueryParameter{{Name: "@t", Value: "t1"}, {Name: "@k", Value: "k1"}}}, "01 07", 1},
			{"prefix in WHERE", "SELECT * FROM c WHERE c.tenant = 't1'", pk(), azcosmos.QueryOptions{}, "01 03 05 07 09 11", 1},
			{"everything", "SELECT * FROM c", pk(), azcosmos.QueryOptions{PageSizeHint: 5}, "00 01 02 03 04 05 06 07 08 09 10 11", 3},
			{"a full last page", "SELECT * FROM c", pk(), azcosmos.QueryOptions{PageSizeHint: 6}, "00 01 02 03 04 05 06 07 08 09 10 11", 3},
			{"a contradiction", "SELECT * FROM c WHERE c.tenant = 't0' AND c.tenant = 't1'", pk(), azcosmos.QueryOptions{}, "", 1},
			{"another tenant in WHERE than in the header", "SELECT * FROM c WHERE c.tenant = 't1'", pk("t0", "k0"), azcosmos.QueryOptions{}, "", 1},
		} {
			found, pages := ids(t, c, q.text, q.key, &q.options)
			if strings.Join(found, " ") != q.want || len(pages) != q.pages {
				t.Errorf("%d partitions, %s: %v in pages %v, want %q in %d", partitions, q.name, found, pages, q.want, q.pages)
			}
		}
	}
}

func TestGatewayLeavesSomeQueriesToClients(t *testing.T) {
	t.Parallel()
	_, c := forest(t)
	for _, text := range []string{
		"SELECT * FROM c ORDER BY c.n", "SELECT TOP 1 * FROM c", "SELECT * FROM c OFFSET 0 LIMIT 1", "SELECT DISTINCT c.kind FROM c",
		"SELECT c.kind FROM c GROUP BY c.kind", "SELECT VALUE COUNT(1) FROM c", "SELECT VALUE COUNT(1) FROM c WHERE c.tenant = 't0'",
	} {
		_, err := c.NewQueryItemsPager(text, pk(), nil).NextPage(t.Context())
		answer := refusal(t, err, http.StatusBadRequest)
		if got := answer.RawResponse.Header.Get("x-ms-substatus"); got != "1004" {
			t.Errorf("%s: substatus %q", text, got)
		}
		if said := answer.Error(); !strings.Contains(said, "additionalErrorInfo") || !strings.Contains(said, "queryInfo") {
			t.Errorf("%s: the answer carries no plan: %s", text, said)
		}
	}
	no := false
	_, err := c.NewQueryItemsPager("SELECT * FROM c", pk(), &azcosmos.QueryOptions{EnableCrossPartitionQuery: &no}).NextPage(t.Context())
	if said := refusal(t, err, http.StatusBadRequest).Error(); !strings.Contains(said, "Cross partition query is required but disabled") {
		t.Errorf("said %s", said)
	}
	_, err = c.NewQueryItemsPager("SELECT * FROM c", pk("t0"), nil).NextPage(t.Context())
	wantStatus(t, err, http.StatusBadRequest)
}

func TestPagesGoOnWhileItemsAreWritten(t *testing.T) {
	t.Parallel()
	_, c := forest(t)
	pager := c.NewQueryItemsPager("SELECT * FROM c", pk(), &azcosmos.QueryOptions{PageSizeHint: 4})
	var found []string
	for n := 0; pager.More(); n++ {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range page.Items {
			var doc struct{ ID string }
			if err := json.Unmarshal(raw, &doc); err != nil {
				t.Fatal(err)
			}
			found = append(found, doc.ID)
		}
		if n == 0 {
			if _, err := c.DeleteItem(t.Context(), pk("t0", "k0"), "00", nil); err != nil { // given already
				t.Fatal(err)
			}
			create(t, c, pk("t0", "k0"), `{"id":"99","tenant":"t0","kind":"k0"}`)
		}
	}
	slices.Sort(found)
	if got := strings.Join(found, " "); got != "00 01 02 03 04 05 06 07 08 09 10 11 99" {
		t.Errorf("found %s", got)
	}
}

func TestTokensAreRefusedElsewhere(t *testing.T) {
	t.Parallel()
	_, c := forest(t)
	page, err := c.NewQueryItemsPager("SELECT * FROM c", pk(), &azcosmos.QueryOptions{PageSizeHint: 4}).NextPage(t.Context())
	if err != nil || page.ContinuationToken == nil {
		t.Fatal(page.ContinuationToken, err)
	}
	garbage := "garbage"
	for _, o := range []azcosmos.QueryOptions{{ContinuationToken: page.ContinuationToken}, {ContinuationToken: &garbage}} {
		_, err = c.NewQueryItemsPager("SELECT c.id FROM c", pk(), &o).NextPage(t.Context())
		wantStatus(t, err, http.StatusBadRequest)
	}
}

func TestReadManyOverSeveralPartitions(t *testing.T) {
	t.Parallel()
	_, c := forest(t, emulatortest.WithPartitions(4))
	var wanted []azcosmos.ItemIdentity
	for i := range 12 {
		wanted = append(wanted, azcosmos.ItemIdentity{ID: fmt.Sprintf("%02d", i), PartitionKey: pk(fmt.Sprint("t", i%2), fmt.Sprint("k", i%3))})
	}
	r, err := c.ReadManyItems(t.Context(), wanted, nil)
	if err != nil || len(r.Items) != 12 {
		t.Errorf("read %d of 12 (%v)", len(r.Items), err)
	}
}
