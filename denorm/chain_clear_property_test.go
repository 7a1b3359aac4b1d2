package denorm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Port counts and lists its piers; a pier refers to ports in several places, and a berth to a pier.
type Port struct {
	tenantitem.TenantItem[Port]
	Name   string     `json:"name"`
	Piers  int        `json:"piers"`
	Newest []PierCard `json:"newest"`
	Served int        `json:"served"`
}

type PierCard struct {
	ID   tenantitem.Ref[Pier] `json:"id"`
	Text string               `json:"text"`
}

type Pier struct {
	parented.ParentedItem[Pier, Port]
	Text     string               `json:"text"`
	PortID   tenantitem.Ref[Port] `json:"portId,omitempty"`
	PortName *string              `json:"portName" denorm:"sync,ref=portId,field=name"`
	Main     Ferry                `json:"main"`
	Ferries  []Ferry              `json:"ferries,omitempty"`
}

type Ferry struct {
	FromID   tenantitem.Ref[Port] `json:"fromId,omitempty"`
	FromName string               `json:"fromName" denorm:"sync,ref=fromId,field=name"`
	ToID     tenantitem.Ref[Port] `json:"toId,omitempty"`
	ToName   string               `json:"toName,omitempty" denorm:"sync,ref=toId,field=name"`
}

type Berth struct {
	tenantitem.TenantItem[Berth]
	PierID   tenantitem.Ref[Pier] `json:"pierId,omitempty"`
	PierPort string               `json:"pierPort" denorm:"sync,ref=pierId,field=portName"`
	PierText string               `json:"pierText,omitempty" denorm:"sync,ref=pierId,field=text"`
}

// Random work on a chain of three, in which deletes clear, under former names of the types too, and that is followed one change at a
// time: at the end every copy, count and list is what the documents say.
func TestAChainThatDeletesClear(t *testing.T) {
	t.Parallel()
	for _, key := range [][]string{{"/tenantId"}, {"/tenantId", "/entityType"}} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(key, seed), func(t *testing.T) {
				t.Parallel()
				ports(t, key, seed)
			})
		}
	}
}

func ports(t *testing.T, key []string, seed uint64) {
	ctx, random := t.Context(), rand.New(rand.NewPCG(seed, 1))
	in, soft := registry.In("shop"), registry.SoftDelete(time.Hour)
	entities := []registry.Declaration{
		registry.EntityOf[Port](in, soft, registry.Named("Port", "Harbour")), registry.ChildOf[Pier, Port](parented.Cascade, in, soft, registry.Named("Pier", "Jetty")),
		registry.EntityOf[Berth](in, registry.Named("Berth", "Place")),
	}
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{
		PollInterval: 20 * time.Millisecond, BalanceInterval: 20 * time.Millisecond, Backoff: time.Millisecond, MaxItems: 1 + 99*random.IntN(2),
	}},
		denorm.CountOf[Port, Pier]("piers", "parentId"), denorm.RecentOf[Port, Pier]("newest", 2, "parentId"), denorm.CountOf[Port, Pier]("served", "portId"),
		denorm.OnDeleteOf[Pier, Port]("portId", denorm.Clear), denorm.OnDeleteOf[Pier, Port]("main.toId", denorm.Clear),
		denorm.OnDeleteOf[Pier, Port]("ferries[].toId", denorm.Clear), denorm.OnDeleteOf[Berth, Pier]("pierId", denorm.Clear),
	)
	plan, err := registry.NewPlan(sharedLayout(key...), entities, copies.Extension())
	noError(t, err)
	db, err := registry.Open(emulatortest.New(t, emulatortest.Calm()).Client(quickly()), plan)
	noError(t, err)
	noError(t, db.Prepare(ctx))
	keeper, err := copies.Keeper()
	noError(t, err)
	all, berths := repo[Port](t, db).In(acme), repo[Berth](t, db).In(acme)
	piers, err := registry.ChildrenOf[Pier, Port](db)
	noError(t, err)
	container, _ := db.Container("shop")
	stored := func(name, body string) {
		at := azcosmos.NewPartitionKeyString(acme)
		if len(key) > 1 {
			at = at.AppendString(name)
		}
		noError(t, patiently(func() error {
			_, err := container.CreateItem(ctx, at, []byte(fmt.Sprintf(`{"tenantId":"acme","entityType":%q,%s}`, name, body)), nil)
			return err
		}))
	}
	may := func(err error) {
		t.Helper()
		if err != nil && !errors.Is(err, repository.ErrNotFound) && !errors.Is(err, repository.ErrDanglingRef) && !errors.Is(err, repository.ErrConflict) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	pick := func(kind string) string { return fmt.Sprint(kind, random.IntN(4)) }
	port := func() tenantitem.Ref[Port] {
		if random.IntN(4) == 0 {
			return ""
		}
		return tenantitem.Ref[Port](pick("port"))
	}
	for i := range 4 {
		stored([]string{"Port", "Harbour"}[i%2], fmt.Sprintf(`"id":"port%d","name":"old"`, i))
		stored([]string{"Pier", "Jetty"}[i/2], fmt.Sprintf(`"id":"pier%d","text":"old","parentId":"port%d","portId":"port%d","main":{"fromId":"port0","toId":"port%d"}`, i, i, 3-i, i))
		stored([]string{"Place", "Berth"}[i%2], fmt.Sprintf(`"id":"berth%d","pierId":"pier%d"`, i, i))
	}
	for n := range 30 {
		switch random.IntN(11) {
		case 0:
			_, err := all.Mutate(ctx, pick("port"), func(p *Port) error { p.Name = fmt.Sprint("name", n); return nil })
			may(err)
		case 1, 2:
			_, err := piers.In(acme).Mutate(ctx, pick("pier"), func(p *Pier) error {
				p.Text, p.PortID, p.Main = fmt.Sprint("text", n), port(), Ferry{FromID: port(), ToID: port()}
				p.Ferries = []Ferry{{FromID: p.Main.ToID, ToID: p.Main.ToID}, {ToID: port()}, {}}[:random.IntN(4)]
				return nil
			})
			may(err)
		case 3:
			_, err := berths.Mutate(ctx, pick("berth"), func(b *Berth) error { b.PierID = tenantitem.Ref[Pier](pick("pier")); return nil })
			may(err)
		case 4:
			may(all.Delete(ctx, pick("port"), nil))
		case 5:
			may(all.Restore(ctx, pick("port")))
		case 6:
			may(piers.In(acme).Delete(ctx, pick("pier"), nil))
		case 7:
			may(piers.In(acme).Restore(ctx, pick("pier")))
		case 8, 9:
			may(piers.Move(ctx, acme, pick("pier"), tenantitem.Ref[Port](pick("port"))))
		case 10:
			noError(t, keeper.CatchUp(ctx))
		}
	}
	noError(t, keeper.CatchUp(ctx))
	for drift, err := range keeper.Audit(ctx, acme) {
		t.Errorf("seed %d: %+v %v", seed, drift, err)
	}
	for _, container := range keeper.Containers() {
		p, _ := keeper.Processor(container)
		for q, err := range p.Quarantined(ctx) {
			t.Errorf("seed %d: in quarantine: %+v, %v", seed, q, err)
		}
	}
	names, counts, served, cards, texts := map[tenantitem.Ref[Port]]string{}, map[string]int{}, map[string]int{}, map[string][]PierCard{}, map[tenantitem.Ref[Pier]]*Pier{}
	var living []*Port
	for p, err := range all.Query(ctx, repository.All()) {
		noError(t, err)
		names[p.Ref()] = p.Name
		living = append(living, p)
	}
	names[""] = ""
	for p, err := range piers.In(acme).Query(ctx, repository.All().OrderByDesc("id")) {
		noError(t, err)
		counts[string(p.ParentID)]++
		served[string(p.PortID)]++
		texts[p.Ref()] = p
		if c := cards[string(p.ParentID)]; len(c) < 2 {
			cards[string(p.ParentID)] = append(c, PierCard{p.Ref(), p.Text})
		}
		name, ok := names[p.PortID]
		have := ""
		if p.PortName != nil {
			have = *p.PortName
		}
		if !ok || have != name {
			t.Errorf("seed %d: %+v, want %q (%v)", seed, p, name, ok)
		}
		for _, f := range append(p.Ferries, p.Main) {
			from, ok := names[f.FromID]
			if ok && f.FromName != from {
				t.Errorf("seed %d: %+v, want from %q", seed, f, from)
			}
			if to, ok := names[f.ToID]; !ok || to != f.ToName {
				t.Errorf("seed %d: %+v, want to %q (%v)", seed, f, to, ok)
			}
		}
	}
	for _, p := range living {
		if p.Piers != counts[p.ID] || p.Served != served[p.ID] || !slices.Equal(p.Newest, cards[p.ID]) {
			t.Errorf("seed %d: %+v, want %d, %d, %v", seed, p, counts[p.ID], served[p.ID], cards[p.ID])
		}
	}
	for b, err := range berths.Query(ctx, repository.All()) {
		noError(t, err)
		want := Pier{}
		if p, ok := texts[b.PierID]; ok {
			want = *p
		} else if b.PierID != "" {
			t.Errorf("seed %d: %+v refers to nothing", seed, b)
		}
		name := ""
		if want.PortName != nil {
			name = *want.PortName
		}
		if b.PierText != want.Text || b.PierPort != name {
			t.Errorf("seed %d: %+v, want %q and %q", seed, b, want.Text, name)
		}
	}
}
