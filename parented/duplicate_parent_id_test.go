package parented_test

import (
	"context"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Shop lies in a city, and its number is unique there only.
type Shop struct {
	tenantitem.TenantItem[Shop]
	City string `json:"city"`
}

type Shelf struct {
	parented.ParentedItem[Shelf, Shop]
	Name string `json:"name"`
}

// openShops is shops under a key, and the container of their children.
func openShops(t *testing.T, key []string, l *layout.Layout) (*repository.Repository[Shop], *azcosmos.ContainerClient) {
	t.Helper()
	g := plant(t, planting{client: emulatortest.Client(t)})
	kind, forever := azcosmos.PartitionKeyKindMultiHash, int32(-1)
	if len(key) == 1 {
		kind = azcosmos.PartitionKeyKindHash
	}
	_, err := g.database.CreateContainer(context.Background(), azcosmos.ContainerProperties{
		ID: "shops", DefaultTimeToLive: &forever,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: key, Kind: kind, Version: 2},
	}, nil)
	must(t, err)
	container, err := g.database.NewContainer("shops")
	must(t, err)
	items, err := g.database.NewContainer("items")
	must(t, err)
	shops, err := repository.New[Shop](container, repository.Config{PartitionKey: key, Layout: l})
	must(t, err)
	return shops, items
}

// A child names its parent by the id alone. Parents that the key tells apart by more than that are refused
// at start, with the way out, unless their ids are said to be unique.
func TestParentsThatAnIDDoesNotTellApartAreRefused(t *testing.T) {
	t.Parallel()
	ofKey := func(sources ...layout.KeySource) *layout.Layout { return &layout.Layout{Key: sources} }
	for name, tt := range map[string]struct {
		key    []string
		layout *layout.Layout
		ok     bool
		field  bool // a field of the child is a way out
	}{
		"Grove's own key":                  {key: []string{"/tenantId", "/entityType"}, ok: true},
		"the tenant alone":                 {key: []string{"/tenantId"}, ok: true},
		"the id in the key":                {key: []string{"/tenantId", "/id"}, ok: true},
		"a field":                          {key: []string{"/tenantId", "/city"}, field: true},
		"a field behind the entity type":   {key: []string{"/tenantId", "/entityType", "/city"}, field: true},
		"a field before the id":            {key: []string{"/tenantId", "/city", "/id"}, field: true},
		"a layout of the tenant":           {key: []string{"/pk"}, layout: ofKey(layout.FromTenant()), ok: true},
		"a layout of a constant":           {key: []string{"/pk"}, layout: ofKey(layout.Constant("all")), ok: true},
		"a layout of tenant and id":        {key: []string{"/pk"}, layout: ofKey(layout.Format("%s/%s", "tenantId", "id")), ok: true},
		"a layout of a field":              {key: []string{"/town"}, layout: ofKey(layout.FromField("city")), field: true},
		"a layout of a field and a tenant": {key: []string{"/pk"}, layout: ofKey(layout.Format("%s/%s", "tenantId", "city"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shops, items := openShops(t, tt.key, tt.layout)
			cfg := parented.Config{Rule: parented.Cascade}
			_, err := parented.New[Shelf](parented.NewForest(parented.ForestConfig{}), shops, items, cfg)
			if tt.ok {
				must(t, err)
				return
			}
			mustBe(t, err, repository.ErrInvalid)
			words := []string{"Shelf", "Shop", "UniqueIDs", "UniqueParentIDs"}
			if tt.field {
				words = append(words, `give Shelf a field "city" of type string`)
			}
			for _, word := range words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
			bucketed := parented.BucketConfig{Config: cfg}
			bucketed.EntityType = "Shelf"
			_, err = parented.NewBuckets[Line](parented.NewForest(parented.ForestConfig{}), shops, items, bucketed)
			mustBe(t, err, repository.ErrInvalid)
			if strings.Contains(err.Error(), "give Shelf") {
				t.Errorf("%q: a bucket can't have fields", err)
			}
			cfg.UniqueParentIDs = true
			_, err = parented.New[Shelf](parented.NewForest(parented.ForestConfig{}), shops, items, cfg)
			must(t, err)
		})
	}
}

// Where two shops of one number in two cities are there though ids were said to be unique, deleting one takes nothing of the other.
func TestADeleteTakesNoChildrenOfAParentWithTheSameID(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	shops, items := openShops(t, []string{"/tenantId", "/city"}, nil)
	shelves, err := parented.New[Shelf](parented.NewForest(parented.ForestConfig{}), shops, items, parented.Config{Rule: parented.Cascade, UniqueParentIDs: true})
	must(t, err)
	one := func(id, city string) *Shop {
		s := &Shop{City: city}
		s.ID = id
		must(t, shops.In("acme", city).Create(ctx, s))
		return s
	}
	bonn, single := one("1", "Bonn"), one("2", "Bonn")
	for _, s := range []*Shop{bonn, single} {
		must(t, shelves.Under(s).Create(ctx, &Shelf{Name: s.ID}))
	}
	rome := one("1", "Rome")
	for _, s := range []*Shop{rome, bonn} {
		mustBe(t, shops.In("acme", s.City).Delete(ctx, s.ID, nil), repository.ErrInvalid)
	}
	if n, err := shelves.In("acme").Count(ctx, repository.All()); err != nil || n != 2 {
		t.Fatalf("%d shelves, %v", n, err)
	}
	must(t, shops.In("acme", "Bonn").Delete(ctx, "2", nil))

	// The way out: the children get another parent, and those without go.
	three := one("3", "Bonn")
	for shelf, err := range shelves.In("acme").Query(ctx, repository.All()) {
		must(t, err)
		must(t, shelves.Move(ctx, "acme", shelf.ID, three.Ref()))
	}
	for _, s := range []*Shop{rome, bonn} {
		must(t, shops.In("acme", s.City).Delete(ctx, s.ID, nil))
	}
	if n, err := shelves.Under(three).Count(ctx, repository.All()); err != nil || n != 1 {
		t.Fatalf("%d shelves after the way out, %v", n, err)
	}
}

// A field of the child names a level of the parents' key only where it holds the same, and is stored always.
func TestFieldsThatNameNoLevel(t *testing.T) {
	t.Parallel()
	type open = func(shops *repository.Repository[Shop], items *azcosmos.ContainerClient) error
	for name, tt := range map[string]struct {
		open open
		says string
	}{
		"a number":               {openUnder[cityNumbers], "is of type int"},
		"a pointer":              {openUnder[cityPointer], "is not stored always"},
		"a copy":                 {openUnder[cityCopy], "is a copy"},
		"a text of its own form": {openUnder[cityForm], "parented_test.form"},
		"a text with a name":     {openUnder[cityNamed], ""},
		"a text left out":        {openUnder[citySpared], ""}, // an empty one is no parent's
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shops, items := openShops(t, []string{"/tenantId", "/city"}, nil)
			err := tt.open(shops, items)
			if tt.says == "" {
				must(t, err)
				return
			}
			mustBe(t, err, repository.ErrInvalid)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}

type (
	townName string
	form     string

	cityNumbers struct {
		parented.ParentedItem[cityNumbers, Shop]
		City int `json:"city"`
	}
	cityPointer struct {
		parented.ParentedItem[cityPointer, Shop]
		City *string `json:"city"`
	}
	cityCopy struct {
		parented.ParentedItem[cityCopy, Shop]
		City string `json:"city" denorm:"snapshot,ref=parentId,field=city"`
	}
	cityForm struct {
		parented.ParentedItem[cityForm, Shop]
		City form `json:"city"`
	}
	cityNamed struct {
		parented.ParentedItem[cityNamed, Shop]
		City townName `json:"city"`
	}
	citySpared struct {
		parented.ParentedItem[citySpared, Shop]
		City string `json:"city,omitempty"`
	}
)

// MarshalText is a form of its own.
func (f form) MarshalText() ([]byte, error) { return []byte("city of " + f), nil }

func openUnder[C any, PC parented.Child[C, Shop]](shops *repository.Repository[Shop], items *azcosmos.ContainerClient) error {
	_, err := parented.New[C, Shop, PC](parented.NewForest(parented.ForestConfig{}), shops, items, parented.Config{Rule: parented.Cascade})
	return err
}
