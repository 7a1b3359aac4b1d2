package denorm_test

import (
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Links of a chain of copies that goes to and fro between two containers.
type (
	Link0 struct {
		tenantitem.TenantItem[Link0]
		Word string `json:"word"`
	}
	Link1 struct {
		tenantitem.TenantItem[Link1]
		FromID tenantitem.Ref[Link0] `json:"fromId"`
		Word   string                `json:"word" denorm:"sync,ref=fromId,field=word"`
	}
	Link2 struct {
		tenantitem.TenantItem[Link2]
		FromID tenantitem.Ref[Link1] `json:"fromId"`
		Word   string                `json:"word" denorm:"sync,ref=fromId,field=word"`
	}
	Link3 struct {
		tenantitem.TenantItem[Link3]
		FromID tenantitem.Ref[Link2] `json:"fromId"`
		Word   string                `json:"word" denorm:"sync,ref=fromId,field=word"`
	}
	Link4 struct {
		tenantitem.TenantItem[Link4]
		FromID tenantitem.Ref[Link3] `json:"fromId"`
		Word   string                `json:"word" denorm:"sync,ref=fromId,field=word"`
	}
	Link5 struct {
		tenantitem.TenantItem[Link5]
		FromID tenantitem.Ref[Link4] `json:"fromId"`
		Word   string                `json:"word" denorm:"sync,ref=fromId,field=word"`
	}
)

// CatchUp waits for all of a chain that another process follows, however often the chain goes from one container to the other.
func TestCatchUpWaitsForAChainThatAnotherProcessFollows(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][2]string{"the first container first": {"a", "b"}, "the last container first": {"b", "a"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			even, odd := registry.In(in[0]), registry.In(in[1])
			cfg := registry.Config{Database: "chain", Provision: true, Logger: layout().Logger, Containers: []registry.Container{
				{ID: "a", PartitionKey: []string{"/tenantId"}}, {ID: "b", PartitionKey: []string{"/tenantId"}},
			}}
			types := []registry.Declaration{
				registry.EntityOf[Link0](even), registry.EntityOf[Link1](odd), registry.EntityOf[Link2](even),
				registry.EntityOf[Link3](odd), registry.EntityOf[Link4](even), registry.EntityOf[Link5](odd),
			}
			db, keeper := openLayout(t, b.client, "", cfg, types, nil)
			b.must(db.Prepare(b.ctx))
			word := func(text string) *Link0 { l := &Link0{Word: text}; l.ID = "w"; return l }
			b.must(repo[Link0](t, db).In(acme).Create(b.ctx, word("old")))
			l1 := &Link1{FromID: "w"}
			b.must(repo[Link1](t, db).In(acme).Create(b.ctx, l1))
			l2 := &Link2{FromID: l1.Ref()}
			b.must(repo[Link2](t, db).In(acme).Create(b.ctx, l2))
			l3 := &Link3{FromID: l2.Ref()}
			b.must(repo[Link3](t, db).In(acme).Create(b.ctx, l3))
			l4 := &Link4{FromID: l3.Ref()}
			b.must(repo[Link4](t, db).In(acme).Create(b.ctx, l4))
			l5 := &Link5{FromID: l4.Ref()}
			b.must(repo[Link5](t, db).In(acme).Create(b.ctx, l5))
			b.must(keeper.Start(b.ctx))
			defer func() { b.must(keeper.Stop(b.ctx)) }()
			b.must(keeper.CatchUp(b.ctx))
			other, waiting := openLayout(t, b.client, "", cfg, types, []denorm.Declaration{})
			for range 5 {
				w, err := repo[Link0](t, other).In(acme).Mutate(b.ctx, "w", func(l *Link0) error { l.Word += "!"; return nil })
				b.must(err)
				b.must(waiting.CatchUp(b.ctx))
				b.handOver(db)
				got, err := repo[Link5](t, other).In(acme).Get(b.ctx, l5.ID)
				b.must(err)
				if got.Word != w.Word {
					t.Fatalf("the last of the chain holds %q, and the first %q", got.Word, w.Word)
				}
			}
		})
	}
}
