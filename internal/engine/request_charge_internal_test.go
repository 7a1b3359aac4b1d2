package engine

import (
	"math"
	"testing"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// The more a budget leaves, the more a page may hold, up to all that a page can.
func TestPagesFitTheBudget(t *testing.T) {
	t.Parallel()
	var c rowCost
	if got := c.pageSize(1000, 0); got != firstBudgetPage {
		t.Errorf("the first page has %d rows", got)
	}
	c.add(10, 5)
	for _, tc := range []struct {
		left         float64
		wanted, want int
	}{
		{0, 0, 1}, {1, 0, 1}, {20, 0, 10}, {20, 3, 3}, {1e6, 0, cosmos.MaxPageSize}, {1e300, 0, cosmos.MaxPageSize}, {math.Inf(1), 0, cosmos.MaxPageSize}, {math.Inf(1), 7, 7},
	} {
		if got := c.pageSize(tc.left, tc.wanted); got != tc.want {
			t.Errorf("with %g RU left and %d wanted: %d rows, want %d", tc.left, tc.wanted, got, tc.want)
		}
	}
}
