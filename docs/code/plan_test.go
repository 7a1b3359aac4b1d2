package code

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// What PlanDelete says that a delete would cost is within a sixth of what it costs here.
func TestAPlanForetellsTheCost(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it compares with the modelled charges")
	s := setup(t)
	for _, children := range []int{0, 1, 3, 20, 100, 300} {
		n := note(t, s.notes.In("acme"), "first", 1)
		for range children {
			if err := s.comments.Under(n).Create(t.Context(), &Comment{Body: "first"}); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := s.notes.In("acme").PlanDelete(t.Context(), n.ID)
		if err != nil {
			t.Fatal(err)
		}
		ctx, tally := repository.WithTally(t.Context())
		if err := s.notes.In("acme").Delete(ctx, n.ID, nil); err != nil {
			t.Fatal(err)
		}
		if cost := tally.RequestUnits(); cost > plan.RequestUnits*7/6 || cost < plan.RequestUnits*5/6 {
			t.Errorf("%d children: planned %.0f RU, cost %.0f", children, plan.RequestUnits, cost)
		}
	}
}
