package repository_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// scanHeader answers with another form of the header that tells how an index was read; "" takes it away.
type scanHeader struct{ form string }

func (s scanHeader) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	const name = "X-Ms-Cosmos-Query-Execution-Info"
	if err == nil && resp.Header.Get(name) != "" && s.form != "as it is" {
		if resp.Header.Del(name); s.form != "" {
			resp.Header.Set(name, s.form)
		}
	}
	return resp, err
}

// A page that ends among documents that are equal by the order, and goes on after a split, gives each of them once: read
// either way, and in each form in which the service tells how it was read.
func TestPagesThatEndAmongEqualDocuments(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"as it is", "", `{"reverseRidEnabled":true,"reverseIndexScan":true}`, `{"reverseRidEnabled":true,"reverseIndexScan":false}`} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			b := setupNotes(t, emulatortest.WithPartitions(2))
			container, err := b.emulator.Client(repository.ClientOptions(&azcosmos.ClientOptions{
				ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{scanHeader{form}}},
			})).NewContainer(emulatortest.DatabaseID(t, b.client, "db"), "main")
			must(t, err)
			notes := newRepository(t, container, repository.Config{})
			const tenants, each = 5, 8
			for i := range tenants * each {
				must(t, notes.In(fmt.Sprint("tenant", i%tenants)).Create(t.Context(), &Note{Title: fmt.Sprint("note", i), Count: int64(i % 2)}))
			}
			for _, q := range []repository.Query{repository.All().OrderBy("count"), repository.All().OrderByDesc("count")} {
				for _, size := range []int{1, 3, 7} {
					seen := map[string]int{}
					for cursor, more := "", true; more; more = cursor != "" {
						page, err := notes.AllTenants().Page(t.Context(), q, repository.PageOptions{Size: size, Cursor: cursor})
						must(t, err)
						for _, n := range page.Items {
							seen[n.Title]++
						}
						if ranges := b.emulator.Ranges("db", "main"); len(seen) > tenants*each/2 && len(ranges) < 6 {
							b.emulator.Split("db", "main", ranges[0].ID)
						}
						cursor = page.Cursor
					}
					for title, n := range seen {
						if n != 1 {
							t.Errorf("pages of %d: %s came %d times", size, title, n)
						}
					}
					if len(seen) != tenants*each {
						t.Errorf("pages of %d: %d documents of %d", size, len(seen), tenants*each)
					}
				}
			}
		})
	}
}
