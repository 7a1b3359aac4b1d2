package repository_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Product is a document of about 1 KB, of the shapes that applications store:
// texts, numbers, a time, a list, a nested object.
type Product struct {
	tenantitem.TenantItem[Product]
	Name        string            `json:"name"`
	SKU         string            `json:"sku"`
	Description string            `json:"description"`
	Price       float64           `json:"price"`
	Stock       int               `json:"stock"`
	Active      bool              `json:"active"`
	Since       time.Time         `json:"since"`
	Tags        []string          `json:"tags"`
	Labels      map[string]string `json:"labels"`
	Supplier    struct {
		Name    string `json:"name"`
		Street  string `json:"street"`
		City    string `json:"city"`
		Country string `json:"country"`
	} `json:"supplier"`
}

func productJSON(i int) []byte {
	p := Product{
		Name: fmt.Sprintf("Road-%d frame", i), SKU: fmt.Sprintf("FR-R92B-%05d", i), Description: strings.Repeat("A light frame for long days. ", 10),
		Price: 1431.5 + float64(i), Stock: i % 100, Active: true, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Tags: []string{"bike", "frame", "road", "blue"}, Labels: map[string]string{"color": "blue", "size": "58", "season": "summer"},
	}
	p.ID, p.TenantID, p.EntityType = fmt.Sprintf("0199a0b1-7a2b-7000-8000-%012d", i), "acme", "Product"
	p.Supplier.Name, p.Supplier.Street, p.Supplier.City, p.Supplier.Country = "Frames & Sons", "1 Long Road", "Leeds", "United Kingdom"
	body, err := json.Marshal(&p)
	if err != nil {
		panic(err)
	}
	tail := fmt.Sprintf(`,"_rid":"K4dvAIClggAEAAAAAAAA%02d==","_self":"dbs/K4dvAA==/colls/K4dvAIClggA=/docs/K4dvAIClggAEAAAAAAAA==/","_etag":"\"0000d826-0000-0700-0000-%012d\"","_attachments":"attachments/","_ts":1767225600}`, i%100, i)
	return append(body[:len(body)-1], tail...)
}

// stub answers every request from memory: it is what both arms of a benchmark
// talk to, so that only the client's work is measured.
type stub struct {
	document, page []byte

	mu      sync.Mutex
	results map[int][]byte // of batches, by their length
}

func newStub(pageSize int) *stub {
	s := &stub{document: productJSON(0)}
	var b bytes.Buffer
	b.WriteString(`{"_rid":"K4dvAIClggA=","Documents":[`)
	for i := range pageSize {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(productJSON(i))
	}
	fmt.Fprintf(&b, `],"_count":%d}`, pageSize)
	s.page = b.Bytes()
	return s
}

const stubAccount = `{"id":"stub","writableLocations":[{"name":"Here","databaseAccountEndpoint":"https://stub.example/"}],` +
	`"readableLocations":[{"name":"Here","databaseAccountEndpoint":"https://stub.example/"}],"userConsistencyPolicy":{"defaultConsistencyLevel":"Session"}}`

// Do answers one request.
func (s *stub) Do(req *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, []byte(stubAccount)
	switch {
	case req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/docs/"):
		body = s.document
	case req.Header.Get("x-ms-documentdb-query") != "":
		body = s.page
	case strings.Contains(req.URL.Path, "/docs"):
		status, body = s.answerWrite(req)
	}
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Request: req,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Header: header(len(body)),
	}, nil
}

func (s *stub) container(t testing.TB, o *azcosmos.ClientOptions) *azcosmos.ContainerClient {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(base64.StdEncoding.EncodeToString([]byte("no secret")))
	must(t, err)
	options := azcosmos.ClientOptions{}
	if o != nil {
		options = *o
	}
	options.Transport = policy.Transporter(s)
	client, err := azcosmos.NewClientWithKey("https://stub.example/", credential, &options)
	must(t, err)
	t.Cleanup(client.Close)
	container, err := client.NewContainer("db", "products")
	must(t, err)
	return container
}

const stubID = "0199a0b1-7a2b-7000-8000-000000000000"

func productKey() azcosmos.PartitionKey {
	return azcosmos.NewPartitionKeyString("acme").AppendString("Product")
}

func productsOver(t testing.TB, container *azcosmos.ContainerClient) *repository.Scope[Product] {
	t.Helper()
	products, err := repository.New[Product](container, repository.Config{})
	must(t, err)
	return products.In("acme")
}

func readWithSDK(ctx context.Context, container *azcosmos.ContainerClient) (*Product, error) {
	resp, err := container.ReadItem(ctx, productKey(), stubID, nil)
	if err != nil {
		return nil, err
	}
	var p Product
	return &p, json.Unmarshal(resp.Value, &p)
}

func BenchmarkGet(b *testing.B) {
	s := newStub(0)
	ctx := b.Context()
	b.Run("grove", func(b *testing.B) {
		acme := productsOver(b, s.container(b, repository.ClientOptions(nil)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := acme.Get(ctx, stubID); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		container := s.container(b, nil)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := readWithSDK(ctx, container); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func queryWithSDK(ctx context.Context, container *azcosmos.ContainerClient) ([]Product, error) {
	var out []Product
	pager := container.NewQueryItemsPager("SELECT * FROM c", productKey(), nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var p Product
			if err := json.Unmarshal(item, &p); err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	return out, nil
}

func BenchmarkQuery1000(b *testing.B) {
	s := newStub(1000)
	ctx := b.Context()
	b.SetBytes(int64(len(s.page)))
	grove := func(o *azcosmos.ClientOptions) func(b *testing.B) {
		return func(b *testing.B) {
			acme := productsOver(b, s.container(b, o))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range acme.Query(ctx, repository.All()) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != 1000 {
					b.Fatal(n)
				}
			}
		}
	}
	b.Run("grove", grove(repository.ClientOptions(nil)))
	b.Run("grove without its policy", grove(nil))
	b.Run("sdk", func(b *testing.B) {
		container := s.container(b, nil)
		b.ReportAllocs()
		for b.Loop() {
			if all, err := queryWithSDK(ctx, container); err != nil || len(all) != 1000 {
				b.Fatal(len(all), err)
			}
		}
	})
}

// BenchmarkCodec compares the libraries that could decode a page.
func BenchmarkCodec(b *testing.B) {
	page := newStub(1000).page
	type feed struct {
		Documents []Product
	}
	for name, decode := range map[string]func([]byte, any) error{
		"encoding_json": json.Unmarshal,
		"go_json_v2":    func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				var f feed
				if err := decode(page, &f); err != nil || len(f.Documents) != 1000 {
					b.Fatal(len(f.Documents), err)
				}
			}
		})
	}
}

func BenchmarkSaveAll1000(b *testing.B) {
	bundle := setupNotes(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bundle.acme.SaveAll(b.Context(), slices.Values(notesFrom(1000)), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestGetAllocatesLittleMoreThanTheSDK holds the goal of the benchmark.
//
//nolint:paralleltest // testing.AllocsPerRun refuses to run beside other tests
func TestGetAllocatesLittleMoreThanTheSDK(t *testing.T) {
	s := newStub(0)
	ctx := t.Context()
	acme, container := productsOver(t, s.container(t, repository.ClientOptions(nil))), s.container(t, nil)
	ours := testing.AllocsPerRun(200, func() {
		if _, err := acme.Get(ctx, stubID); err != nil {
			t.Fatal(err)
		}
	})
	theirs := testing.AllocsPerRun(200, func() {
		if _, err := readWithSDK(ctx, container); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("Get: %.0f allocations, ReadItem and json.Unmarshal: %.0f", ours, theirs)
	if ours > theirs+10 {
		t.Errorf("Get makes %.0f allocations, ReadItem and json.Unmarshal %.0f", ours, theirs)
	}
}
