package denorm_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// openOf opens other entities in one container, under a key of their own.
func openOf(t testing.TB, emu *emulatortest.Emulator, key []string, entities []registry.Declaration, d ...denorm.Declaration) (*registry.Database, *denorm.Keeper) {
	t.Helper()
	db, keeper := openLayout(t, emu.Client(quickly()), "", sharedLayout(key...), entities, d)
	noError(t, db.Prepare(t.Context()))
	return db, keeper
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Pal is linked with, and liked by, others of its entity type.
type Pal struct {
	tenantitem.TenantItem[Pal]
	Follows   []tenantitem.Ref[Pal] `json:"follows,omitempty"`
	Followers []tenantitem.Ref[Pal] `json:"followers,omitempty"`
	Likes     []tenantitem.Ref[Pal] `json:"likes,omitempty"`
	Liked     int                   `json:"liked,omitempty"`
}

func TestAnEntityTypeThatRefersToItself(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t)
	ctx := t.Context()
	db, keeper := openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Pal](registry.In("shop"), registry.SoftDelete(time.Hour))},
		denorm.LinkOf[Pal, Pal]("follows", "followers"), denorm.CountOf[Pal, Pal]("liked", "likes"))
	pals := repo[Pal](t, db).In(acme)
	ids := []string{`a"u`, "b<&>", "cé😀", "d'\t"[:2], "e"}
	check := func(what string) {
		t.Helper()
		all := map[string]*Pal{}
		for p, err := range pals.Query(ctx, repository.All()) {
			noError(t, err)
			all[p.ID] = p
		}
		for id, p := range all {
			n := 0
			for _, q := range all {
				if slices.Contains(q.Likes, p.Ref()) {
					n++
				}
			}
			if n != p.Liked {
				t.Errorf("%s: %s is liked by %d, says %d", what, id, n, p.Liked)
			}
			for _, r := range p.Follows {
				if q := all[string(r)]; q == nil || !slices.Contains(q.Followers, p.Ref()) {
					t.Errorf("%s: %s follows %s, one-sided", what, id, r)
				}
			}
			for _, r := range p.Followers {
				if q := all[string(r)]; q == nil || !slices.Contains(q.Follows, p.Ref()) {
					t.Errorf("%s: %s followed by %s, one-sided", what, id, r)
				}
			}
		}
	}
	for _, id := range ids {
		p := &Pal{}
		p.ID = id
		noError(t, pals.Create(ctx, p))
	}
	for i := range 60 {
		id, to := ids[(i*7)%5], tenantitem.Ref[Pal](ids[(i*3+i/5)%5])
		_, err := pals.Mutate(ctx, id, func(p *Pal) error {
			switch i % 3 {
			case 0:
				p.Follows = toggle(p.Follows, to)
			case 1:
				p.Followers = toggle(p.Followers, to)
			default:
				p.Likes = append(toggle(p.Likes, to), tenantitem.Ref[Pal](id), tenantitem.Ref[Pal](id))
			}
			return nil
		})
		noError(t, err)
		check(fmt.Sprint("mutate ", i, " ", i%3))
	}
	noError(t, pals.Delete(ctx, ids[0], nil))
	check("delete")
	noError(t, pals.Restore(ctx, ids[0]))
	check("restore")
	for _, id := range ids {
		p := &Pal{Follows: []tenantitem.Ref[Pal]{"e"}, Likes: []tenantitem.Ref[Pal]{"e", tenantitem.Ref[Pal](ids[0])}}
		p.ID = id
		noError(t, pals.Upsert(ctx, p))
		check("put " + id)
	}
	noError(t, keeper.CatchUp(ctx))
	check("feed")
}

// Many has more counts than one patch can change.
type Many struct {
	tenantitem.TenantItem[Many]
	N0, N1, N2, N3, N4, N5, N6, N7, N8, N9 int
	Last                                   []ManyCard `json:"last"`
}

type ManyCard struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type One struct {
	tenantitem.TenantItem[One]
	ManyID tenantitem.Ref[Many] `json:"manyId"`
	Title  string               `json:"title"`
}

func TestMoreCountsThanAPatchHolds(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t)
	var decl []denorm.Declaration
	for i := range 10 {
		decl = append(decl, denorm.CountOf[Many, One](fmt.Sprint("N", i), "manyId"))
	}
	decl = append(decl, denorm.RecentOf[Many, One]("last", 2, "manyId"))
	db, keeper := openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Many](registry.In("shop")), registry.EntityOf[One](registry.In("shop"))}, decl...)
	many, one := repo[Many](t, db), repo[One](t, db)
	m := &Many{}
	m.ID = "m"
	if err := many.In(acme).Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	noError(t, one.In(acme).Create(t.Context(), &One{ManyID: "m", Title: "t"}))
	got, err := many.In(acme).Get(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	if got.N0 != 1 || got.N7 != 1 {
		t.Errorf("%+v", got)
	}
	noError(t, keeper.CatchUp(t.Context())) // which brings the rest
	if got, err = many.In(acme).Get(t.Context(), "m"); err != nil || got.N9 != 1 || len(got.Last) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// PtrParent stores null where nothing was counted yet.
type PtrParent struct {
	tenantitem.TenantItem[PtrParent]
	N    *int        `json:"n"`
	Last []*ManyCard `json:"last,omitempty"`
}

type PtrChild struct {
	tenantitem.TenantItem[PtrChild]
	ParentID *tenantitem.Ref[PtrParent] `json:"parentId,omitempty"`
	Title    string                     `json:"title"`
}

func TestCountsBehindPointers(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t)
	db, _ := openOf(t, emu, []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[PtrParent](registry.In("shop")), registry.EntityOf[PtrChild](registry.In("shop"))},
		denorm.CountOf[PtrParent, PtrChild]("n", "parentId"), denorm.RecentOf[PtrParent, PtrChild]("last", 2, "parentId"))
	ps, cs := repo[PtrParent](t, db), repo[PtrChild](t, db)
	p := &PtrParent{}
	p.ID = "p"
	if err := ps.In(acme).Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	ref := p.Ref()
	if err := cs.In(acme).Create(t.Context(), &PtrChild{ParentID: &ref, Title: "x"}); err != nil {
		t.Fatal(err)
	}
	got, err := ps.In(acme).Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if got.N == nil || *got.N != 1 || len(got.Last) != 1 {
		t.Errorf("n is %v, last %v", got.N, got.Last)
	}
}

// Reply is stored under an older name too, in another partition.
type Reply struct {
	tenantitem.TenantItem[Reply]
	To      tenantitem.Ref[Reply] `json:"to,omitempty"`
	Text    string                `json:"text"`
	Replies int                   `json:"replies"`
}

func replies(t testing.TB, emu *emulatortest.Emulator, opts ...registry.Option) (*registry.Database, *repository.Repository[Reply]) {
	t.Helper()
	db, _ := openOf(t, emu, []string{"/tenantId", "/entityType"}, []registry.Declaration{registry.EntityOf[Reply](append(opts, registry.In("shop"))...)}, denorm.CountOf[Reply, Reply]("replies", "to"))
	return db, repo[Reply](t, db)
}

func TestTransactionsUnderOlderNames(t *testing.T) {
	t.Parallel()
	emu := emulatortest.New(t)
	ctx := t.Context()
	_, old := replies(t, emu, registry.Named("oldReply"))
	for _, id := range []string{"root", "a", "b", "c", "d", "e"} {
		r := &Reply{Text: id}
		r.ID = id
		if id != "root" {
			r.To = "root"
		}
		if err := old.In(acme).Create(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	_, now := replies(t, emu, registry.Named("reply", "oldReply"))
	count := func(want int) {
		t.Helper()
		r, err := now.In(acme).Get(ctx, "root")
		if err != nil || r.Replies != want {
			t.Errorf("%v, %v; want %d", r, err, want)
		}
	}
	count(5)
	if err := now.In(acme).Delete(ctx, "a", nil); err != nil {
		t.Error("delete", err)
	}
	count(4)
	emu.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	if err := now.In(acme).Delete(ctx, "b", nil); err != nil {
		t.Error("delete", err)
	}
	if _, err := now.In(acme).Get(ctx, "b"); !errors.Is(err, repository.ErrNotFound) {
		t.Errorf("b is still there: %v", err)
	}
	count(3)
	if _, err := now.In(acme).Mutate(ctx, "c", func(r *Reply) error { r.To = ""; return nil }); err != nil {
		t.Error("mutate", err)
	}
	count(2)
	p := &Reply{Text: "new", To: "root"}
	p.ID = "d"
	if err := now.In(acme).Upsert(ctx, p); err != nil {
		t.Error("put over an alias'", err)
	}
}
