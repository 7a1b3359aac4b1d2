package denorm_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Courier is copied into the deliveries that it carries.
type Courier struct {
	tenantitem.TenantItem[Courier]
	Name string `json:"name"`
}

type Delivery struct {
	tenantitem.TenantItem[Delivery]
	CourierID   tenantitem.Ref[Courier] `json:"courierId,omitempty"`
	CourierName string                  `json:"courierName,omitempty" denorm:"sync,ref=courierId,field=name"`
	Stops       []Stop                  `json:"stops,omitempty"`
}

type Stop struct {
	CourierID   tenantitem.Ref[Courier] `json:"courierId"`
	CourierName string                  `json:"courierName,omitempty" denorm:"sync,ref=courierId,field=name"`
}

// deliveries is an application with couriers and their deliveries.
type deliveries struct {
	*testBundle
	couriers   *repository.Scope[Courier]
	deliveries *repository.Scope[Delivery]
}

func openDeliveries(t *testing.T) *deliveries {
	t.Helper()
	emu := emulatortest.New(t, emulatortest.Calm()) // its requests are counted
	d := &deliveries{testBundle: &testBundle{t: t, emu: emu, ctx: t.Context()}}
	d.db, d.keeper = openLayout(t, emu.Client(quickly()), "", registry.Config{Database: "deliveries", Provision: true, Logger: slog.New(slog.DiscardHandler)},
		[]registry.Declaration{registry.EntityOf[Courier](), registry.EntityOf[Delivery]()}, nil)
	d.must(d.db.Prepare(d.ctx))
	d.couriers, d.deliveries = repo[Courier](t, d.db).In(acme), repo[Delivery](t, d.db).In(acme)
	return d
}

// hire stores n couriers.
func (d *deliveries) hire(n int) []*Courier {
	d.t.Helper()
	couriers := make([]*Courier, n)
	for i := range couriers {
		couriers[i] = &Courier{Name: fmt.Sprint("courier ", i)}
	}
	_, err := d.couriers.SaveAll(d.ctx, slices.Values(couriers), nil)
	d.must(err)
	return couriers
}

// load stores n deliveries.
func (d *deliveries) load(n int, fill func(i int, x *Delivery)) {
	d.t.Helper()
	all := make([]*Delivery, n)
	for i := range all {
		all[i] = &Delivery{}
		fill(i, all[i])
	}
	_, err := d.deliveries.SaveAll(d.ctx, slices.Values(all), nil)
	d.must(err)
}

func (d *deliveries) rename(c *Courier, name string) {
	d.t.Helper()
	_, err := d.couriers.Mutate(d.ctx, c.ID, func(c *Courier) error { c.Name = name; return nil })
	d.must(err)
}

// A page of 1,000 documents is compared with one read of its sources; more than 1,000 sources are asked for a
// thousand at a time.
func TestAPageIsComparedWithOneReadOfItsSources(t *testing.T) {
	t.Parallel()
	const documents = 1_200 // a page of 1,000 and one of 200
	for _, c := range []struct {
		name    string
		sources int
		fill    func(couriers []*Courier, i int, x *Delivery)
		want    map[emulator.Operation]int
	}{
		{"no source", 1, func([]*Courier, int, *Delivery) {}, map[emulator.Operation]int{emulator.QueryItems: 2}},
		{"one source", 1, func(couriers []*Courier, _ int, x *Delivery) { x.CourierID = couriers[0].Ref() }, map[emulator.Operation]int{emulator.QueryItems: 2, emulator.ReadItem: 2}},
		{"two sources", 2, func(couriers []*Courier, i int, x *Delivery) { x.CourierID = couriers[i%2].Ref() }, map[emulator.Operation]int{emulator.QueryItems: 4}},
		{"a source for each", documents, func(couriers []*Courier, i int, x *Delivery) { x.CourierID = couriers[i].Ref() }, map[emulator.Operation]int{emulator.QueryItems: 4}},
		{"three sources for each", 3 * documents, func(couriers []*Courier, i int, x *Delivery) {
			for _, courier := range couriers[3*i : 3*i+3] {
				x.Stops = append(x.Stops, Stop{CourierID: courier.Ref()})
			}
		}, map[emulator.Operation]int{emulator.QueryItems: 2 + 3 + 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := openDeliveries(t)
			couriers := d.hire(c.sources)
			d.load(documents, func(i int, x *Delivery) { c.fill(couriers, i, x) })
			if got := d.requests(d.noDrift); !maps.Equal(got, c.want) {
				t.Errorf("an audit asked for %v, want %v", got, c.want)
			}
			var progress denorm.RepairProgress
			got := d.requests(func() {
				var err error
				progress, err = d.keeper.Repair(d.ctx, acme, nil)
				d.must(err)
			})
			if !maps.Equal(got, c.want) || progress.Compared != documents || progress.Repaired != 0 {
				t.Errorf("a repair asked for %v, want %v: %+v", got, c.want, progress)
			}
		})
	}
}

// A page is compared as a whole and written in halves. A source that changes between them leaves the second half with its
// newest value, whether the change was followed before that half is written or after it.
func TestASourceThatChangesBetweenTheHalvesOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		followed bool // before the second half is written
		repaired int64
	}{
		{"followed before", true, 500},
		{"followed after", false, 1_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := openDeliveries(t)
			courier := d.hire(1)[0]
			d.load(1_000, func(_ int, x *Delivery) { x.CourierID = courier.Ref() })
			d.catchUp()
			d.rename(courier, "second")
			var compared []int64
			progress, err := d.keeper.Repair(d.ctx, acme, &denorm.RepairOptions{Progress: func(p denorm.RepairProgress) {
				if compared = append(compared, p.Compared); p.Compared != 500 {
					return
				}
				d.rename(courier, "third")
				if c.followed {
					d.catchUp()
				}
			}})
			d.must(err)
			if !slices.Equal(compared, []int64{500, 1_000}) || progress.Repaired != c.repaired {
				t.Errorf("told after %v documents; %d were repaired, want %d", compared, progress.Repaired, c.repaired)
			}
			d.catchUp()
			d.noDrift()
			for x, err := range d.deliveries.Query(d.ctx, repository.All()) {
				d.must(err)
				if x.CourierName != "third" {
					t.Fatalf("delivery %s: %q", x.ID, x.CourierName)
				}
			}
		})
	}
}

// A repair that is stopped between the halves of a page goes on with the second one.
func TestARepairGoesOnWithinAPage(t *testing.T) {
	t.Parallel()
	d := openDeliveries(t)
	courier := d.hire(1)[0]
	d.load(1_000, func(_ int, x *Delivery) { x.CourierID = courier.Ref() })
	d.rename(courier, "second")
	var first string
	var after int
	_, err := d.keeper.Repair(d.ctx, acme, &denorm.RepairOptions{Progress: func(p denorm.RepairProgress) {
		if p.Compared == 500 {
			first, after = p.Resume, len(d.audit())
		}
	}})
	d.must(err)
	if after != 500 {
		t.Errorf("%d documents were stale when 500 of 1,000 were told of", after)
	}
	rest, err := d.keeper.Repair(d.ctx, acme, &denorm.RepairOptions{Resume: first})
	d.must(err)
	if rest.Compared != 501 {
		t.Errorf("%d documents were compared by the rest, want the other 500 and the last one told of", rest.Compared)
	}
}
