package eval_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

const (
	square      = `{type: "Polygon", coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}`
	reverse     = `{type: "Polygon", coordinates: [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]}`
	ring        = `{type: "Polygon", coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]], [[4, 4], [4, 6], [6, 6], [6, 4], [4, 4]]]}`
	pair        = `{type: "MultiPolygon", coordinates: [[[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]], [[[5, 5], [6, 5], [6, 6], [5, 6], [5, 5]]]]}`
	road        = `{type: "LineString", coordinates: [[-5, 5], [15, 5]]}`
	polar       = `{type: "Polygon", coordinates: [[[0, 80], [90, 80], [180, 80], [-90, 80], [0, 80]]]}`
	meridian180 = `{type: "Polygon", coordinates: [[[170, -10], [-170, -10], [-170, 10], [170, 10], [170, -10]]]}`
)

func point(longitude, latitude float64) string {
	return fmt.Sprintf(`{type: "Point", coordinates: [%v, %v]}`, longitude, latitude)
}

func TestSpatialFunctions(t *testing.T) {
	t.Parallel()
	checkExpressions(t, []expression{
		{`ST_DISTANCE(` + point(-122.12826822304672, 47.63980239335718) + `, ` + point(-122.11758113953535, 47.66901087006131) + `)`, `3345.269817267368`},
		{`ST_DISTANCE(` + point(-96.84368664765994, 46.81297794314663) + `, ` + point(-122.11758113953535, 47.66901087006131) + `)`, `1907438.421299902`},
		{`ST_DISTANCE(` + point(1, 2) + `, ` + point(1, 2) + `)`, `0`},
		{`ST_DISTANCE(` + point(0, 0) + `, ` + point(90, 0) + `)`, `10018754.171394622`},
		{`ROUND(ST_DISTANCE(` + point(0, 0) + `, ` + point(0, 90) + `), 3)`, `10001965.729`},
		{`ST_DISTANCE(` + point(5, 5) + `, ` + square + `)`, `0`},
		{`ROUND(ST_DISTANCE(` + point(-1, 0) + `, ` + square + `), 3)`, `111319.491`},
		{`ROUND(ST_DISTANCE(` + point(5, -1) + `, ` + square + `), 3)`, `110574.389`},
		{`ST_AREA(` + point(1, 2) + `)`, `0`},
		{`ROUND((ST_AREA(` + square + `) + ST_AREA(` + reverse + `)) / 1e6)`, `510065622`},
		{`ST_AREA(` + ring + `) < ST_AREA(` + square + `)`, `true`},
		{`ST_WITHIN(` + point(5, 5) + `, ` + square + `)`, `true`},
		{`ST_WITHIN(` + point(15, 5) + `, ` + square + `)`, `false`},
		{`ST_WITHIN(` + point(15, 5) + `, ` + reverse + `)`, `true`},
		{`ST_WITHIN(` + point(5, 5) + `, ` + ring + `)`, `false`},
		{`ST_WITHIN(` + point(2, 2) + `, ` + ring + `)`, `true`},
		{`ST_WITHIN(` + point(0, 0) + `, ` + square + `)`, `false`},
		{`ST_WITHIN(` + point(30, 85) + `, ` + polar + `)`, `true`},
		{`ST_WITHIN(` + point(30, 75) + `, ` + polar + `)`, `false`},
		{`ST_WITHIN(` + point(179, 0) + `, ` + meridian180 + `)`, `true`},
		{`ST_WITHIN(` + point(-179, 0) + `, ` + meridian180 + `)`, `true`},
		{`ST_WITHIN(` + point(0, 0) + `, ` + meridian180 + `)`, `false`},
		{`ST_WITHIN(` + point(5.5, 5.5) + `, ` + pair + `)`, `true`},
		{`ST_WITHIN(` + point(3, 3) + `, ` + pair + `)`, `false`},
		{`ST_WITHIN(` + pair + `, ` + square + `)`, `true`},
		{`ST_WITHIN(` + square + `, ` + pair + `)`, `false`},
		{`ST_WITHIN(` + square + `, ` + ring + `)`, `false`},
		{`ST_WITHIN(` + road + `, ` + square + `)`, `false`},
		{`ST_INTERSECTS(` + road + `, ` + square + `)`, `true`},
		{`ST_INTERSECTS(` + road + `, ` + ring + `)`, `true`},
		{`ST_INTERSECTS(` + point(5, 5) + `, ` + ring + `)`, `false`},
		{`ST_INTERSECTS(` + point(0, 5) + `, ` + square + `)`, `true`},
		{`ST_INTERSECTS(` + polar + `, ` + square + `)`, `false`},
		{`ST_ISVALID(` + road + `)`, `true`},
		{`ST_ISVALID({type: "Circle", coordinates: [0, 0]})`, `false`},
		{`ST_ISVALID({type: "Polygon", coordinates: [[[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]]]})`, `false`},
		{`ST_ISVALIDDETAILED(` + point(133.75682784306348, -184.38876194345323) + `)`,
			`{"valid": false, "reason": "Latitude values must be between -90 and 90 degrees."}`},
		{`ST_ISVALIDDETAILED(` + square + `)`, `{"valid": true}`},
		{`ST_ISVALIDDETAILED({type: "Polygon", coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10]]]}).valid`, `false`},
		{`ST_DISTANCE(` + point(0, 91) + `, ` + square + `)`, undefined},
		{`ST_WITHIN(null, ` + square + `)`, undefined},
	})
}

// TestPlacesAreInsideOrOutside holds because a polygon and the same polygon drawn the other way round share the earth.
func TestPlacesAreInsideOrOutside(t *testing.T) {
	t.Parallel()
	inside := compile(t, `SELECT VALUE [ST_WITHIN(@p, `+square+`), ST_WITHIN(@p, `+reverse+`), ST_DISTANCE(@p, `+square+`)]`)
	rapid.Check(t, func(t *rapid.T) {
		longitude := rapid.Float64Range(-180, 180).Draw(t, "longitude")
		latitude := rapid.Float64Range(-89.9, 89.9).Draw(t, "latitude")
		place := value.FromObject([]value.Member{
			{Name: "type", Value: value.FromString("Point")},
			{Name: "coordinates", Value: value.FromArray([]value.Value{value.FromNumber(longitude), value.FromNumber(latitude)})},
		})
		got, err := results(inside, eval.Env{Parameters: map[string]value.Value{"@p": place}})
		if err != nil {
			t.Fatal(err)
		}
		in, _ := got[0].Index(0).Bool()
		out, _ := got[0].Index(1).Bool()
		meters, _ := got[0].Index(2).Number()
		if in && out || in && meters != 0 || !in && !out && meters > 1 {
			t.Fatalf("place %v %v: inside %v, outside %v, %v m away", longitude, latitude, in, out, meters)
		}
		// The square's edges bulge north and south; away from them longitude and latitude decide.
		if plainly := longitude > 0.1 && longitude < 9.9 && latitude > 0.1 && latitude < 9.9; plainly && !in {
			t.Fatalf("place %v %v must be inside", longitude, latitude)
		}
		if plainly := longitude < -0.1 || longitude > 10.1 || latitude < -0.1 || latitude > 10.2; plainly && in {
			t.Fatalf("place %v %v must be outside", longitude, latitude)
		}
	})
}
