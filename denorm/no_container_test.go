package denorm_test

import (
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Master struct {
	tenantitem.TenantItem[Master]
	Name string `json:"name"`
}

type Aide struct {
	tenantitem.TenantItem[Aide]
	MasterID   tenantitem.Ref[Master] `json:"masterId"`
	MasterName string                 `json:"masterName" denorm:"sync,ref=masterId,field=name"`
}

// That a container can't be found for a moment (404/1003) says nothing of a source in it: no reference is cleared, no copy stays behind, and no audit tells
// of what is not there.
func TestAMissingContainerIsNoMissingSource(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(b *testBundle) error{
		"CatchUp": func(b *testBundle) error { return b.keeper.CatchUp(b.ctx) },
		"Repair": func(b *testBundle) error {
			_, err := b.keeper.Repair(b.ctx, acme, nil)
			return err
		},
		"Audit": func(b *testBundle) error {
			for d, err := range b.keeper.Audit(b.ctx, acme) {
				if err != nil {
					return err
				}
				if d.Field != "masterName" {
					b.t.Errorf("drift in %s: have %s, want %s", d.Pointer, d.Have, d.Want)
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			cfg := layout()
			cfg.Containers = nil
			db, keeper := openLayout(t, b.client, "bosses", cfg, []registry.Declaration{registry.EntityOf[Master](), registry.EntityOf[Aide]()},
				[]denorm.Declaration{denorm.OnDeleteOf[Aide, Master]("masterId", denorm.Clear)})
			b.must(db.Prepare(b.ctx))
			b.keeper = keeper
			bosses, aides := repo[Master](t, db).In(acme), repo[Aide](t, db).In(acme)
			boss := &Master{Name: "Ada"}
			b.must(bosses.Create(b.ctx, boss))
			aide := &Aide{MasterID: boss.Ref()}
			b.must(aides.Create(b.ctx, aide))
			b.catchUp()
			_, err := bosses.Mutate(b.ctx, boss.ID, func(x *Master) error { x.Name = "Countess"; return nil })
			b.must(err)
			fault := emulator.Answer(404, 1003).Container(registry.DefaultContainer).On(emulator.ReadItem).Times(2)
			armed := b.emu.Fault(fault)
			err = do(b)
			armed.Disarm()
			got, readErr := aides.Get(b.ctx, aide.ID)
			b.must(readErr)
			if got.MasterID != boss.Ref() {
				t.Errorf("the reference was cleared: %v", err)
			}
			if name != "Audit" && err == nil && got.MasterName != "Countess" {
				t.Errorf("it ended without an error, and the copy is %q", got.MasterName)
			}
			b.catchUp()
		})
	}
}
