package eval

import (
	"fmt"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxPlaces is the largest geometry that is looked at; comparing two takes time with the product of their sizes.
const maxPlaces = 1024

// geometry is a GeoJSON Point, LineString, Polygon or MultiPolygon.
type geometry struct {
	points   []vec
	lines    [][]vec
	polygons []polygon
}

// polygon is a region: what lies to the left of its first ring, without what the other rings enclose. Rings are without
// the repetition of their first place at the end.
type polygon [][]vec

// parseGeometry reads GeoJSON; reason says what is wrong with it, empty if nothing is.
func parseGeometry(v value.Value) (g *geometry, reason string) {
	kind, _ := v.Get("type").Str()
	coordinates := v.Get("coordinates")
	g = &geometry{}
	left := maxPlaces
	switch kind {
	case "Point":
		var p vec
		if p, reason = parsePlace(coordinates); reason == "" {
			g.points = []vec{p}
		}
	case "LineString":
		var line []vec
		line, reason = parsePlaces(coordinates, &left)
		if reason == "" && len(line) < 2 {
			reason = "A LineString must have at least two positions."
		}
		g.lines = [][]vec{line}
	case "Polygon":
		var p polygon
		p, reason = parsePolygon(coordinates, &left)
		g.polygons = []polygon{p}
	case "MultiPolygon":
		list, ok := coordinates.Array()
		if !ok || len(list) == 0 {
			reason = "The coordinates of a MultiPolygon must be an array of polygons."
		}
		for _, e := range list {
			if reason != "" {
				break
			}
			var p polygon
			p, reason = parsePolygon(e, &left)
			g.polygons = append(g.polygons, p)
		}
	default:
		reason = "The type must be Point, LineString, Polygon or MultiPolygon."
	}
	if reason != "" {
		return nil, reason
	}
	return g, ""
}

func parsePlace(v value.Value) (vec, string) {
	numbers, ok := numbers(v)
	if !ok || len(numbers) < 2 || len(numbers) > 4 {
		return vec{}, "A position must be an array of two to four numbers."
	}
	longitude, latitude := numbers[0], numbers[1]
	// Comparisons that NaN fails, hence the form with "not".
	if !(latitude >= -90 && latitude <= 90) {
		return vec{}, "Latitude values must be between -90 and 90 degrees."
	}
	if !(longitude >= -180 && longitude <= 180) {
		return vec{}, "Longitude values must be between -180 and 180 degrees."
	}
	return place(longitude, latitude), ""
}

func parsePlaces(v value.Value, left *int) ([]vec, string) {
	list, ok := v.Array()
	if !ok {
		return nil, "The coordinates must be an array of positions."
	}
	if *left -= len(list); *left < 0 {
		return nil, fmt.Sprintf("A geometry may have at most %d positions.", maxPlaces)
	}
	places := make([]vec, len(list))
	for i, e := range list {
		var reason string
		if places[i], reason = parsePlace(e); reason != "" {
			return nil, reason
		}
	}
	return places, ""
}

func parsePolygon(v value.Value, left *int) (polygon, string) {
	list, ok := v.Array()
	if !ok || len(list) == 0 {
		return nil, "The coordinates of a Polygon must be an array of rings."
	}
	var p polygon
	for i, e := range list {
		ring, reason := parsePlaces(e, left)
		switch {
		case reason != "":
			return nil, reason
		case len(ring) < 4:
			return nil, "Each ring of a polygon must have at least four positions."
		case ring[0] != ring[len(ring)-1]:
			return nil, fmt.Sprintf("The Polygon input is not valid because the start and end points of the ring number %d are not the same. "+
				"Each ring of a Polygon must have the same start and end points.", i+1)
		}
		ring = ring[:len(ring)-1]
		if crossesItself(ring) {
			return nil, fmt.Sprintf("The ring number %d of the polygon crosses itself.", i+1)
		}
		p = append(p, ring)
	}
	return p, ""
}
