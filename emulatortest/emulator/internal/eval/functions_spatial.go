package eval

import (
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// perPlace is the least that a position takes as JSON.
const perPlace = 20

// spatialFunctions work on GeoJSON over the WGS84 ellipsoid, which is what containers with geography data have. A
// geometry that isn't valid gives undefined.
func spatialFunctions() []builtin {
	geographic := func(call func(args []value.Value) value.Value) implementation {
		return func(r *run, args []value.Value) value.Value {
			if r.env.Planar {
				r.fail(unsupported("spatial functions in containers whose geospatialConfig is Geometry"))
				return value.Value{}
			}
			const perPair = 100
			places := 0
			for _, a := range args {
				places += sizeUpTo(a.Get("coordinates"), perPlace*maxPlaces)/perPlace + 1
			}
			if !r.work(perPair * places * places) {
				return value.Value{}
			}
			return call(args)
		}
	}
	two := func(name string, f func(g, h *geometry) value.Value) builtin {
		return fn(name, 2, 2, geographic(func(args []value.Value) value.Value {
			g, _ := parseGeometry(args[0])
			h, _ := parseGeometry(args[1])
			if g == nil || h == nil {
				return value.Value{}
			}
			return f(g, h)
		}))
	}
	return []builtin{
		fn("ST_AREA", 1, 1, geographic(area)),
		two("ST_DISTANCE", func(g, h *geometry) value.Value { return finite(g.distance(h)) }),
		two("ST_INTERSECTS", func(g, h *geometry) value.Value { return value.FromBool(g.intersects(h)) }),
		fn("ST_ISVALID", 1, 1, geographic(func(args []value.Value) value.Value {
			_, reason := parseGeometry(args[0])
			return value.FromBool(reason == "")
		})),
		fn("ST_ISVALIDDETAILED", 1, 1, geographic(func(args []value.Value) value.Value {
			_, reason := parseGeometry(args[0])
			answer := []value.Member{{Name: "valid", Value: value.FromBool(reason == "")}}
			if reason != "" {
				answer = append(answer, value.Member{Name: "reason", Value: value.FromString(reason)})
			}
			return value.FromObject(answer)
		})),
		two("ST_WITHIN", func(g, h *geometry) value.Value { return value.FromBool(g.within(h)) }),
	}
}

// area is in square metres; points and lines have none.
func area(args []value.Value) value.Value {
	g, _ := parseGeometry(args[0])
	if g == nil {
		return value.Value{}
	}
	total := 0.0
	for _, p := range g.polygons {
		for i, ring := range p {
			a := ringArea(ring)
			if i == 0 {
				total += a
				continue
			}
			total -= math.Min(a, surface()-a) // a hole, whichever way round it is drawn
		}
	}
	return finite(total)
}
