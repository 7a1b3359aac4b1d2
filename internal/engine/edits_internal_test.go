package engine

import (
	"testing"

	"github.com/cosmosgrove/grove/tenantitem"
)

type cart struct {
	tenantitem.TenantItem[cart]
	Lines []line         `json:"lines"`
	Grid  [][]int        `json:"grid"`
	Tags  []string       `json:"tags"`
	Open  map[string]int `json:"open"`
}

type line struct {
	Count int `json:"count"`
}

func TestPatchPathsIntoArrays(t *testing.T) {
	t.Parallel()
	model, err := tenantitem.ModelOf[cart]()
	if err != nil {
		t.Fatal(err)
	}
	c := &Collection{model: model}
	for pointer, want := range map[string]string{
		"lines/0":       "lines[]",
		"lines/-":       "lines[]",
		"lines/0/count": "lines[].count",
		"tags/3":        "tags[]",
		"open/x":        "open.x",
	} {
		if name, _, err := c.fieldAt(pointer); err != nil || name != want {
			t.Errorf("%s: %q, %v; want %q", pointer, name, err, want)
		}
	}
	for _, pointer := range []string{"lines/x", "lines/0/price", "tags/0/x", "lines/count"} {
		if name, _, err := c.fieldAt(pointer); err == nil {
			t.Errorf("%s led to %q", pointer, name)
		}
	}
}
