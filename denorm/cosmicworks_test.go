package denorm_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// cosmicWorks is a folder with Microsoft's normalised CosmicWorks files. The
// test makes data of the same shape when there is none.
var cosmicWorks = flag.String("cosmicworks", "", "folder with product, productCategory, productTag and productTags .jsonl")

type Category struct {
	tenantitem.TenantItem[Category]
	Name string `json:"name"`
}

type Tag struct {
	tenantitem.TenantItem[Tag]
	Name string `json:"name"`
}

type Product struct {
	tenantitem.TenantItem[Product]
	CategoryID   tenantitem.Ref[Category] `json:"categoryId"`
	CategoryName string                   `json:"categoryName" denorm:"sync,ref=categoryId,field=name"`
	SKU          string                   `json:"sku"`
	Name         string                   `json:"name"`
	Description  string                   `json:"description"`
	Price        float64                  `json:"price"`
	Tags         []ProductTag             `json:"tags"`
}

type ProductTag struct {
	ID   tenantitem.Ref[Tag] `json:"id"`
	Name string              `json:"name" denorm:"sync,ref=id,field=name"`
}

// shop is the normalised catalogue, joined as an import would.
type shop struct {
	categories []*Category
	tags       []*Tag
	products   []*Product
}

func loadShop(t testing.TB) shop {
	t.Helper()
	if *cosmicWorks == "" {
		return makeShop()
	}
	s := shop{categories: lines[Category](t, "productCategory"), tags: lines[Tag](t, "productTag"), products: lines[Product](t, "product")}
	byID := map[string]*Product{}
	for _, p := range s.products {
		byID[p.ID] = p
	}
	for _, link := range lines[struct {
		ProductID    string              `json:"productId"`
		ProductTagID tenantitem.Ref[Tag] `json:"productTagId"`
	}](t, "productTags") {
		byID[link.ProductID].Tags = append(byID[link.ProductID].Tags, ProductTag{ID: link.ProductTagID})
	}
	return s
}

func lines[T any](t testing.TB, name string) []*T {
	t.Helper()
	f, err := os.Open(filepath.Join(*cosmicWorks, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []*T
	for s := bufio.NewScanner(f); s.Scan(); {
		row := new(T)
		if err := json.Unmarshal(s.Bytes(), row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

// makeShop has the numbers of the real one: 37 categories, 200 tags, 295
// products with 0 to 6 tags each.
func makeShop() shop {
	random := rand.New(rand.NewPCG(1, 2))
	var s shop
	for i := range 37 {
		c := &Category{Name: fmt.Sprint("Category ", i)}
		c.ID = fmt.Sprint("c", i)
		s.categories = append(s.categories, c)
	}
	for i := range 200 {
		g := &Tag{Name: fmt.Sprint("Tag-", i)}
		g.ID = fmt.Sprint("g", i)
		s.tags = append(s.tags, g)
	}
	for i := range 295 {
		p := &Product{CategoryID: s.categories[random.IntN(37)].Ref(), SKU: fmt.Sprint("SKU-", i), Name: fmt.Sprint("Product ", i), Price: float64(i) + .99}
		p.ID, p.Description = fmt.Sprint("p", i), fmt.Sprintf("The product called %q", p.Name)
		for _, n := range random.Perm(200)[:random.IntN(6)] {
			p.Tags = append(p.Tags, ProductTag{ID: s.tags[n].Ref()})
		}
		s.products = append(s.products, p)
	}
	return s
}

// cost is what requests on the containers of documents took.
type cost struct {
	requests int
	units    float64
}

func (c cost) String() string { return fmt.Sprintf("%d requests, %.0f RU", c.requests, c.units) }

// spent measures f. Reading the feed and keeping leases is work of every
// processor, whatever it does with the changes, and is counted apart.
func spent(e *emulatortest.Emulator, f func()) (documents, feed cost) {
	mark := e.Service().Log().Mark()
	f()
	for _, x := range e.Service().Log().Since(mark) {
		into := &documents
		if x.Operation == emulator.ChangeFeed || x.Container == "grove-leases" {
			into = &feed
		}
		switch x.Operation {
		case emulator.ReadAccount, emulator.ReadContainer, emulator.ReadPartitionKeyRanges:
			continue
		}
		into.requests++
		into.units += x.Charge
	}
	return documents, feed
}

func TestCosmicWorks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := emulatortest.New(t, emulatortest.Calm()) // its requests are compared with those of a client without Grove
	client := e.Client(repository.ClientOptions(nil))
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{PollInterval: 5 * time.Millisecond}})
	plan, err := registry.NewPlan(
		registry.Config{Database: "cosmicworks", Provision: true, Logger: slog.New(slog.DiscardHandler)},
		[]registry.Declaration{registry.EntityOf[Category](), registry.EntityOf[Tag](), registry.EntityOf[Product]()}, copies.Extension())
	check(t, err)
	db, err := registry.Open(client, plan)
	check(t, err)
	check(t, db.Prepare(ctx))
	keeper, err := copies.Keeper()
	check(t, err)
	categories, tags, products := repo[Category](t, db).In("shop"), repo[Tag](t, db).In("shop"), repo[Product](t, db).In("shop")

	s := loadShop(t)
	imported, _ := spent(e, func() {
		_, err := categories.SaveAll(ctx, slices.Values(s.categories), nil)
		check(t, err)
		_, err = tags.SaveAll(ctx, slices.Values(s.tags), nil)
		check(t, err)
		_, err = products.SaveAll(ctx, slices.Values(s.products), nil)
		check(t, err)
	})
	t.Logf("imported %d products, %d categories, %d tags: %s", len(s.products), len(s.categories), len(s.tags), imported)
	check(t, keeper.CatchUp(ctx))
	compareShop(t, s, products)

	// By hand, on documents that look the same, in a container beside.
	hand := handmade(t, client, s.products)
	byHand, _ := spent(e, func() {
		for _, c := range s.categories {
			hand.rename(t, "SELECT * FROM p WHERE p.categoryId = @id", c.ID, func(*Product, *azcosmos.PatchOperations) {}, c.Name+" renamed")
		}
		for _, g := range s.tags {
			hand.rename(t, "SELECT * FROM p WHERE EXISTS(SELECT VALUE 1 FROM t IN p.tags WHERE t.id = @id)", g.ID, func(p *Product, ops *azcosmos.PatchOperations) {
				for i := range p.Tags {
					if p.Tags[i].ID == g.Ref() {
						ops.AppendSet(fmt.Sprintf("/tags/%d/name", i), g.Name+" renamed")
					}
				}
			}, "")
		}
	})

	for _, c := range s.categories {
		c.Name += " renamed"
		check(t, categories.Save(ctx, c))
	}
	for _, g := range s.tags {
		g.Name += " renamed"
		check(t, tags.Save(ctx, g))
	}
	followed, feed := spent(e, func() { check(t, keeper.CatchUp(ctx)) })
	compareShop(t, s, products)
	for d, err := range keeper.Audit(ctx, "shop") {
		t.Fatalf("drift: %+v, %v", d, err)
	}
	t.Logf("renaming everything: %s by hand; %s with Grove, and %s for the feed and its leases", byHand, followed, feed)
	if followed.requests*4 > byHand.requests || followed.units > byHand.units {
		t.Errorf("Grove took %s, by hand it was %s", followed, byHand)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compareShop joins the products with the catalogue by itself.
func compareShop(t *testing.T, s shop, products *repository.Scope[Product]) {
	t.Helper()
	names := map[string]string{}
	for _, c := range s.categories {
		names[c.ID] = c.Name
	}
	for _, g := range s.tags {
		names[g.ID] = g.Name
	}
	n := 0
	for p, err := range products.Query(t.Context(), repository.All()) {
		check(t, err)
		n++
		if p.CategoryName != names[string(p.CategoryID)] || p.CategoryName == "" {
			t.Fatalf("product %s: category %q, want %q", p.ID, p.CategoryName, names[string(p.CategoryID)])
		}
		for _, tag := range p.Tags {
			if tag.Name != names[string(tag.ID)] || tag.Name == "" {
				t.Fatalf("product %s: tag %q, want %q", p.ID, tag.Name, names[string(tag.ID)])
			}
		}
	}
	if n != len(s.products) {
		t.Fatalf("%d products, want %d", n, len(s.products))
	}
}

// byHand is the usual way without a library: a query for the whole documents,
// and a patch for each.
type byHand struct {
	container *azcosmos.ContainerClient
	key       azcosmos.PartitionKey
}

func handmade(t *testing.T, client *azcosmos.Client, products []*Product) byHand {
	t.Helper()
	database, err := client.NewDatabase("cosmicworks")
	check(t, err)
	_, err = database.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "hand", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2, Paths: []string{"/tenantId", "/entityType"},
	}}, nil)
	check(t, err)
	h := byHand{key: azcosmos.NewPartitionKeyString("shop").AppendString("Product")}
	h.container, err = database.NewContainer("hand")
	check(t, err)
	for _, p := range products {
		body, err := json.Marshal(p)
		check(t, err)
		_, err = h.container.CreateItem(t.Context(), h.key, body, nil)
		check(t, err)
	}
	return h
}

func (h byHand) rename(t *testing.T, query, id string, edit func(*Product, *azcosmos.PatchOperations), categoryName string) {
	t.Helper()
	pager := h.container.NewQueryItemsPager(query, h.key, &azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: id}}})
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		check(t, err)
		for _, raw := range page.Items {
			var p Product
			check(t, json.Unmarshal(raw, &p))
			var ops azcosmos.PatchOperations
			if edit(&p, &ops); categoryName != "" {
				ops.AppendSet("/categoryName", categoryName)
			}
			_, err := h.container.PatchItem(t.Context(), h.key, p.ID, ops, nil)
			check(t, err)
		}
	}
}
