package code

import (
	"testing"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// What PlanDelete says that a delete would cost is within a sixth of what it costs here.
func TestAPlanForetellsTheCost(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it compares with the modelled charges")
	var (
		all      *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
	)
	emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{
			Database:  "notes",
			Provision: true,
			Upkeep:    -1, // it could finish a delete that is measured here
		}),
		registry.Entity[Person](), registry.Entity[Note](), registry.Child[Comment, Note](parented.Cascade),
		fx.Populate(&all, &comments),
	))
	notes := all.In("acme")
	for _, children := range []int{0, 1, 3, 20, 100, 300} {
		n := note(t, notes, "first", 1)
		for range children {
			if err := comments.Under(n).Create(t.Context(), &Comment{Body: "first"}); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := notes.PlanDelete(t.Context(), n.ID)
		if err != nil {
			t.Fatal(err)
		}
		ctx, tally := repository.WithTally(t.Context())
		if err := notes.Delete(ctx, n.ID, nil); err != nil {
			t.Fatal(err)
		}
		if cost := tally.RequestUnits(); cost > plan.RequestUnits*7/6 || cost < plan.RequestUnits*5/6 {
			t.Errorf("%d children: planned %.0f RU, cost %.0f", children, plan.RequestUnits, cost)
		}
	}
}
