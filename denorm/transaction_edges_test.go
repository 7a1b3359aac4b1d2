package denorm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestCardsWithoutIDsInABatch(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	o := b.order("c1", "one")
	var ids []string
	for _, text := range []string{"a", "b", "c"} {
		l := &Line{CustomerID: "c1", Text: text}
		b.must(b.lines.UnderID(acme, o.Ref()).Create(b.ctx, l))
		ids = append(ids, l.ID)
	}
	b.must(b.lines.In(acme, "c1").Batch().Patch(ids[1], repository.Set("/text", "B")).Patch(ids[2], repository.Set("/text", "C")).Commit(b.ctx))
	got, err := b.orders.In(acme, "c1").Get(b.ctx, o.ID)
	b.must(err)
	if !slices.Equal(got.LastLines, []LineCard{{"C"}, {"B"}}) {
		t.Errorf("patched: %v", got.LastLines)
	}
	b.must(b.lines.In(acme, "c1").Batch().Patch(ids[0], repository.Set("/text", "A")).Patch(ids[1], repository.Set("/text", "BB")).Commit(b.ctx))
	got, err = b.orders.In(acme, "c1").Get(b.ctx, o.ID)
	b.must(err)
	if !slices.Equal(got.LastLines, []LineCard{{"C"}, {"BB"}}) {
		t.Errorf("patched: %v", got.LastLines)
	}
}

func TestAReferenceToTheIDOfAnotherEntityType(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	s := &Sticker{Text: "s"}
	s.ID = "x"
	b.must(b.stickers.In(acme, "c1").Create(b.ctx, s))
	o := &Order{Title: "t", PreviousID: "x"}
	if err := b.orders.In(acme, "c1").Create(b.ctx, o); err != nil {
		t.Errorf("Create: %v", err)
	}
	// and the key's own value is another entity type's id
	s = &Sticker{Text: "s"}
	s.ID = "c2"
	b.must(b.stickers.In(acme, "c2").Create(b.ctx, s))
	if err := b.calls.In(acme, "c2").Create(b.ctx, &Call{}); err != nil {
		t.Errorf("Create of a call: %v", err)
	}
}

func TestErasingATenantWhoseEntityTypesSharePartitions(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	b.customer("c2")
	s := &Sticker{Text: "s"}
	s.ID = "c3"
	b.must(b.stickers.In(acme, "c3").Create(b.ctx, s))
	b.order("c4", "x")
	_, err := b.db.Tenants().Erase(b.ctx, acme, nil)
	if err != nil {
		t.Errorf("%v", err)
	}
}

// Paper and Mark list each other.
type Paper struct {
	tenantitem.TenantItem[Paper]
	Tags []tenantitem.Ref[Mark] `json:"tags"`
}

type Mark struct {
	tenantitem.TenantItem[Mark]
	Docs []tenantitem.Ref[Paper] `json:"docs"`
}

func linked(t testing.TB, emu *emulatortest.Emulator) (*registry.Database, *denorm.Keeper) {
	t.Helper()
	return openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{
		registry.EntityOf[Paper](registry.In("shop"), registry.SoftDelete(time.Hour)),
		registry.EntityOf[Mark](registry.In("shop"), registry.SoftDelete(time.Hour)),
	}, denorm.LinkOf[Paper, Mark]("tags", "docs"))
}

func TestBothSidesOfALinkAgreeAfterARestore(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t)
	ctx := t.Context()
	db, keeper := linked(t, emu)
	docs, tags := repo[Paper](t, db), repo[Mark](t, db)
	for _, side := range []string{"tag", "doc"} {
		for _, fed := range []bool{false, true} {
			g := &Mark{}
			g.ID = `g"<é>` + side
			if fed {
				g.ID += "fed"
			}
			noError(t, tags.In(acme).Create(ctx, g))
			d := &Paper{Tags: []tenantitem.Ref[Mark]{g.Ref()}}
			noError(t, docs.In(acme).Create(ctx, d))
			if fed {
				noError(t, keeper.CatchUp(ctx))
			}
			if side == "tag" {
				noError(t, tags.In(acme).Delete(ctx, g.ID, nil))
			} else {
				noError(t, docs.In(acme).Delete(ctx, d.ID, nil))
			}
			if fed {
				noError(t, keeper.CatchUp(ctx))
			}
			if side == "tag" {
				noError(t, tags.In(acme).Restore(ctx, g.ID))
			} else {
				noError(t, docs.In(acme).Restore(ctx, d.ID))
			}
			d2, err := docs.In(acme).Get(ctx, d.ID)
			noError(t, err)
			g2, err := tags.In(acme).Get(ctx, g.ID)
			noError(t, err)
			if slices.Contains(d2.Tags, g.Ref()) != slices.Contains(g2.Docs, d.Ref()) {
				t.Errorf("restored %s (fed %v): doc lists %v, tag lists %v", side, fed, d2.Tags, g2.Docs)
			}
			noError(t, keeper.CatchUp(ctx))
			d2, err = docs.In(acme).Get(ctx, d.ID)
			noError(t, err)
			g2, err = tags.In(acme).Get(ctx, g.ID)
			noError(t, err)
			if slices.Contains(d2.Tags, g.Ref()) != slices.Contains(g2.Docs, d.Ref()) {
				t.Errorf("restored %s (fed %v), after the feed: doc lists %v, tag lists %v", side, fed, d2.Tags, g2.Docs)
			}
		}
	}
}

// A document that has no room for what is kept in it does not keep others from
// being written.
func TestADocumentWithoutRoomForWhatIsKept(t *testing.T) {
	t.Parallel()
	b := setupNear(t, emulatortest.Calm()) // its requests are counted
	b.customer("c1")
	o := &Order{Title: "big", Notes: []string{strings.Repeat("x", tenantitem.MaxDocumentBytes-600)}}
	b.must(b.orders.In(acme, "c1").Create(b.ctx, o))
	for range 30 {
		asked := b.requests(func() {
			b.must(b.stickers.In(acme, "c1").Create(b.ctx, &Sticker{Text: "s", Orders: []tenantitem.Ref[Order]{o.Ref()}}))
		})
		total := 0
		for _, n := range asked {
			total += n
		}
		if total > 8 {
			t.Fatalf("%v", asked)
		}
	}
}

// Rack shows tomes.
type Rack struct {
	tenantitem.TenantItem[Rack]
	Last []TomeCard `json:"last"`
}

type TomeCard struct {
	ID    string `json:"id"`
	Pages int    `json:"pages"`
}

type Tome struct {
	tenantitem.TenantItem[Tome]
	ShelfID tenantitem.Ref[Rack] `json:"shelfId"`
	Pages   int                  `json:"pages"`
}

func TestAnIDThatGoesToAnotherEntityTypeInOneBatch(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t)
	ctx := t.Context()
	db, _ := openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{
		registry.EntityOf[Rack](registry.In("shop")), registry.EntityOf[Tome](registry.In("shop")),
	}, denorm.RecentOf[Rack, Tome]("last", 2))
	rack := &Rack{}
	rack.ID = "x"
	noError(t, repo[Rack](t, db).In(acme).Create(ctx, rack))
	s := &Rack{}
	s.ID = "s"
	noError(t, repo[Rack](t, db).In(acme).Create(ctx, s))
	tome := &Tome{ShelfID: "s"}
	tome.ID = "x"
	noError(t, partition.Commit(ctx, repo[Rack](t, db).In(acme).Batch().Delete("x", ""), repo[Tome](t, db).In(acme).Batch().Create(tome)))
	got, err := repo[Rack](t, db).In(acme).Get(ctx, "s")
	noError(t, err)
	if len(got.Last) != 1 {
		t.Errorf("%v", got.Last)
	}
}

func TestSeveralOperationsOnOneDocument(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	o := b.order("c1", "one")
	calls := b.calls.In(acme, "c1")
	c := &Call{}
	c.ID = "x"
	b.must(calls.Batch().Create(c).Delete("x", "").Commit(b.ctx))
	p := &Call{}
	p.ID = "y"
	q := &Call{}
	q.ID = "y"
	b.must(calls.Batch().Upsert(p).Upsert(q).Commit(b.ctx))
	cu, err := b.customers.In(acme, "c1").Get(b.ctx, "c1")
	b.must(err)
	if cu.Calls != 1 {
		t.Errorf("%d calls", cu.Calls)
	}
	b.must(b.orders.In(acme, "c1").Batch().Patch(o.ID, repository.Set("/title", "a")).Patch(o.ID, repository.Set("/title", "b")).Commit(b.ctx))
	b.shows("c1", 1, "b")
	// create over a tombstone
	b.must(calls.Create(b.ctx, &Call{TenantItem: tenantitem.TenantItem[Call]{Meta: tenantitem.Meta{ID: "x"}}}))
	b.must(calls.Delete(b.ctx, "y", nil))
	again := &Call{}
	again.ID = "y"
	b.must(calls.Upsert(b.ctx, again))
	cu, err = b.customers.In(acme, "c1").Get(b.ctx, "c1")
	b.must(err)
	if cu.Calls != 2 {
		t.Errorf("%d calls", cu.Calls)
	}
	b.catchUp()
	b.noDrift()
}

func TestChildrenThatMoveAndGoTogether(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	a, z := b.order("c1", "a"), b.order("c1", "z")
	var many []*Line
	for _, text := range []string{"1", "2", "3", "4"} {
		l := &Line{CustomerID: "c1", Text: text}
		l.ParentID = tenantitem.Ref[Order](a.ID)
		many = append(many, l)
	}
	_, err := b.lines.In(acme, "c1").SaveAll(b.ctx, slices.Values(many), nil)
	b.must(err)
	b.compare("save lines")
	for _, l := range many {
		b.must(b.lines.Move(b.ctx, acme, l.ID, z.Ref()))
		b.compare("move")
	}
	b.must(b.orders.In(acme, "c1").Delete(b.ctx, z.ID, nil))
	b.compare("delete the tree")
	b.must(b.orders.In(acme, "c1").Restore(b.ctx, z.ID))
	b.compare("restore the tree")
	_, err = b.lines.In(acme, "c1").DeleteAll(b.ctx, slices.Values([]string{many[0].ID, many[3].ID}), nil)
	b.must(err)
	b.compare("delete lines")
	for l, err := range b.lines.In(acme, "c1").Query(b.ctx, repository.All()) {
		b.must(err)
		l.Text += "!"
		many = append(many, l)
	}
	_, err = b.lines.In(acme, "c1").SaveAll(b.ctx, slices.Values(many[4:]), nil)
	b.must(err)
	b.compare("replace lines")
}

// Two processes whose reads lag behind each other leave out what they can't
// see; the feed brings it.
func TestWhatALaggingReadLeavesOutFollows(t *testing.T) {
	t.Parallel()
	const lag = 3 * time.Millisecond
	b := setupNear(t, emulatortest.WithReplicaLag(lag))
	b.customer("c0")
	b.customer("c1")
	second, _ := openNear(t, b.emu.Client(quickly()), "")
	ctx, end := context.WithTimeout(t.Context(), spell()/2)
	defer end()
	var group sync.WaitGroup
	for w, orders := range []*repository.Repository[Order]{b.orders, repo[Order](t, second), b.orders} {
		group.Go(func() { b.work(ctx, rand.New(rand.NewPCG(uint64(w), 9)), orders) })
	}
	group.Wait()
	b.emu.Clock().Advance(10 * lag)
	b.catchUp()
	b.noDrift()
	b.compare("catching up")
}
