package denorm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Stand is unique by its id in a city only.
type Stand struct {
	tenantitem.TenantItem[Stand]
	City    string   `json:"city"`
	Name    string   `json:"name"`
	Reviews int      `json:"reviews"`
	Newest  []string `json:"newest"`
}

// Review names its stand by id and city.
type Review struct {
	parented.ParentedItem[Review, Stand]
	City string `json:"city"`
}

// Shown is a review with a copy of its stand's name.
type Shown struct {
	parented.ParentedItem[Shown, Stand]
	City  string `json:"city"`
	Stand string `json:"stand" denorm:"sync,ref=parentId,field=name"`
}

// What follows the parentId of documents goes by the id alone, and is refused at start where that does not name the parent.
func TestDeclarationsThatFollowAWholeParentAreRefused(t *testing.T) {
	t.Parallel()
	cfg := layout()
	cfg.Containers = append(slices.Clone(cfg.Containers), registry.Container{ID: "stands", PartitionKey: []string{"/tenantId", "/city"}, DefaultTTL: registry.TTLOn})
	for name, tt := range map[string]struct {
		child    registry.Declaration
		declared []denorm.Declaration
		ok       bool
	}{
		"a count":         {registry.ChildOf[Review, Stand](parented.Cascade), []denorm.Declaration{denorm.CountOf[Stand, Review]("reviews", "parentId")}, false},
		"a synced copy":   {registry.ChildOf[Shown, Stand](parented.Cascade), nil, false},
		"what deletes do": {registry.ChildOf[Review, Stand](parented.Cascade), []denorm.Declaration{denorm.OnDeleteOf[Review, Stand]("parentId", denorm.Restrict)}, false},
		"no declaration":  {registry.ChildOf[Review, Stand](parented.Cascade), nil, true},
	} {
		for _, unique := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				options := []registry.Option{registry.In("stands")}
				if unique {
					options = append(options, registry.UniqueIDs())
				}
				copies := denorm.New(denorm.Config{}, tt.declared...)
				plan, err := registry.NewPlan(cfg, []registry.Declaration{registry.EntityOf[Stand](options...), tt.child}, copies.Extension())
				if err != nil {
					t.Fatal(err)
				}
				_, err = registry.Open(emulatortest.Client(t), plan)
				switch {
				case (tt.ok || unique) && err != nil:
					t.Fatal(err)
				case !tt.ok && !unique && (!errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "registry.UniqueIDs")):
					t.Fatalf("want ErrInvalid with the way out, got %v", err)
				}
			})
		}
	}
}
