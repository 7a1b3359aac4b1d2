package catalog_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/sample/internal/account"
	"github.com/cosmosgrove/grove/sample/internal/catalog"
	"github.com/cosmosgrove/grove/sample/internal/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// line is what a document of either form may hold.
type line struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	CategoryID   string `json:"categoryId"`
	CategoryName string `json:"categoryName"`
	ProductID    string `json:"productId"`
	TagID        string `json:"productTagId"`
	Tags         []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"tags"`
}

// The products of the WebStore are what joining the files gives.
func TestProductsHaveTheNamesOfTheFiles(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]string{"ours": "../../testdata/catalog", "CosmicWorks": "../../../../shared/data/cosmicworks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(folder); err != nil {
				t.Skip("the files are not here:", err)
			}
			none := func(string) string { return "" }
			at, err := account.Open(t.Context(), none)
			if err != nil {
				t.Fatal(err)
			}
			defer at.Client.Close()
			if err := catalog.Run(t.Context(), at, folder, report.New(io.Discard, none)); err != nil {
				t.Fatal(err)
			}

			names, tags := map[string]string{}, map[string][]string{}
			for _, file := range []string{"productCategory.jsonl", "productTag.jsonl"} {
				for _, l := range read(t, folder, file) {
					names[l.ID] = l.Name
				}
			}
			for _, pair := range read(t, folder, "productTags.jsonl") {
				tags[pair.ProductID] = append(tags[pair.ProductID], names[pair.TagID])
			}
			want := map[string]line{}
			for _, p := range read(t, folder, "product.jsonl") {
				want[p.ID] = p
			}
			stored := products(t, at.Client)
			if len(stored) != len(want) {
				t.Errorf("%d products are stored of %d", len(stored), len(want))
			}
			for _, p := range stored {
				var have []string
				for _, tag := range p.Tags {
					have = append(have, tag.Name)
				}
				if source := want[p.ID]; p.CategoryID != source.CategoryID || p.CategoryName != names[source.CategoryID] || p.Name != source.Name || !slices.Equal(have, tags[p.ID]) {
					t.Errorf("product %s is of %q, with %q", p.ID, p.CategoryName, have)
				}
			}
		})
	}
}

func read(t *testing.T, folder, name string) (out []line) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var l line
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func products(t *testing.T, client *azcosmos.Client) (out []line) {
	t.Helper()
	container, err := client.NewContainer("grove-sample", "product")
	if err != nil {
		t.Fatal(err)
	}
	for pager := container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil); pager.More(); {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			var l line
			if err := json.Unmarshal(item, &l); err != nil {
				t.Fatal(err)
			}
			out = append(out, l)
		}
	}
	return out
}
