package denorm_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	layouts "github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Owner, Page, Sigil and Word have copies of every kind.
type Owner struct {
	tenantitem.TenantItem[Owner]
	Name   string     `json:"name"`
	Pages  int        `json:"pages"`
	Latest []PageCard `json:"latest,omitempty"`
}

type PageCard struct {
	ID    tenantitem.Ref[Page] `json:"id"`
	Title string               `json:"title"`
}

type Page struct {
	tenantitem.TenantItem[Page]
	Day       string                  `json:"day"`
	Title     string                  `json:"title"`
	OwnerID   tenantitem.Ref[Owner]   `json:"ownerId,omitempty"`
	OwnerName string                  `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=name"`
	NameThen  string                  `json:"nameThen,omitempty" denorm:"snapshot,ref=ownerId,field=name"`
	Keeper    PageRow                 `json:"keeper"`
	Rows      []PageRow               `json:"rows,omitempty"`
	Bound     tenantitem.Ref[Owner]   `json:"bound,omitempty"`
	Seals     []tenantitem.Ref[Sigil] `json:"seals,omitempty"`
	Words     int                     `json:"words"`
	LastWords []WordCard              `json:"lastWords,omitempty"`
}

type PageRow struct {
	Note      string                `json:"note,omitempty"`
	OwnerID   tenantitem.Ref[Owner] `json:"ownerId,omitempty"`
	OwnerName string                `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=name"`
	NameThen  string                `json:"nameThen,omitempty" denorm:"snapshot,ref=ownerId,field=name"`
}

type Sigil struct {
	tenantitem.TenantItem[Sigil]
	Text  string                 `json:"text"`
	Pages []tenantitem.Ref[Page] `json:"pages,omitempty"`
}

type WordCard struct {
	ID   tenantitem.Ref[Word] `json:"id"`
	Text string               `json:"text"`
}

type Word struct {
	parented.ParentedItem[Word, Page]
	Text   string                `json:"text"`
	ByID   tenantitem.Ref[Owner] `json:"byId,omitempty"`
	ByThen string                `json:"byThen,omitempty" denorm:"snapshot,ref=byId,field=name"`
}

// shaped is an application whose entities have one layout each, in one container or in several.
type shaped struct {
	t      *testing.T
	keeper *denorm.Keeper
	owners *repository.Scope[Owner]
	pages  *repository.Scope[Page]
	seals  *repository.Scope[Sigil]
	words  *parented.Repository[Word, Page]
}

// shape are the layouts of Owner, Page, Sigil and Word, and the keys of the container of pages, or of each.
type shape struct {
	l    [4]layouts.Layout
	keys [4][]string
	one  bool
}

func openShaped(t *testing.T, s shape) *shaped {
	t.Helper()
	cfg := layout()
	cfg.Containers = nil
	var with [4]registry.Option
	in := [4]registry.Option{}
	for i := range 4 {
		id := "c" + strconv.Itoa(i)
		if s.one {
			id = "c0"
		}
		if i == 0 || !s.one {
			cfg.Containers = append(cfg.Containers, registry.Container{ID: id, PartitionKey: s.keys[i]})
		}
		in[i], with[i] = registry.In(id), registry.WithLayout(s.l[i])
	}
	db, keeper := openLayout(t, emulatortest.New(t).Client(quickly()), "", cfg, []registry.Declaration{
		registry.EntityOf[Owner](in[0], with[0], registry.SoftDelete(time.Hour)),
		registry.EntityOf[Page](in[1], with[1], registry.SoftDelete(time.Hour), registry.CheckRefs(), registry.UniqueIDs()),
		registry.EntityOf[Sigil](in[2], with[2]),
		registry.ChildOf[Word, Page](parented.Cascade, in[3], with[3]),
	}, []denorm.Declaration{
		denorm.OnDeleteOf[Page, Owner]("ownerId", denorm.Clear), denorm.OnDeleteOf[Page, Owner]("rows[].ownerId", denorm.Clear),
		denorm.OnDeleteOf[Page, Owner]("bound", denorm.Restrict),
		denorm.CountOf[Owner, Page]("pages", "ownerId"), denorm.RecentOf[Owner, Page]("latest", 2, "ownerId"),
		denorm.LinkOf[Page, Sigil]("seals", "pages"),
		denorm.CountOf[Page, Word]("words", "parentId"), denorm.RecentOf[Page, Word]("lastWords", 2),
	})
	noError(t, db.Prepare(t.Context()))
	words, err := registry.ChildrenOf[Word, Page](db)
	noError(t, err)
	return &shaped{t: t, keeper: keeper, owners: repo[Owner](t, db).In(acme), pages: repo[Page](t, db).In(acme), seals: repo[Sigil](t, db).In(acme), words: words}
}
