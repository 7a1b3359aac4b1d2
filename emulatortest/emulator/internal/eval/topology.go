package eval

import (
	"math"
	"slices"
)

// touching is the angle below which two places count as one: some micrometres on the ground.
const touching = 1e-12

// crossing reports whether the edges ab and cd cross. A place of cd that lies on ab counts as being on its left: of two
// edges that meet on ab then exactly one crosses it or both or none, whichever keeps count of the sides right.
func crossing(a, b, c, d vec) bool {
	ab, cd := cross(a, b), cross(c, d)
	side := func(plane, p vec) bool { return dot(plane, p) >= 0 }
	cLeft, dLeft := side(ab, c), side(ab, d)
	if cLeft == dLeft {
		return false
	}
	// Both planes cut each other in two opposite places; the arcs meet only if they reach the same one.
	return side(cd, a) == dLeft && side(cd, b) == cLeft
}

// onEdge reports whether a place lies on an edge.
func onEdge(p, a, b vec) bool {
	if angle(p, a) < touching || angle(p, b) < touching {
		return true
	}
	plane := cross(a, b)
	length := norm(plane)
	if length == 0 || math.Abs(dot(plane, p))/length > touching {
		return false
	}
	return dot(cross(plane, a), p) > 0 && dot(cross(b, plane), p) > 0
}

// edges calls f with the edges of a closed ring until f returns true, and reports whether it did.
func edges(ring []vec, f func(a, b vec) bool) bool {
	for i, a := range ring {
		if f(a, ring[(i+1)%len(ring)]) {
			return true
		}
	}
	return false
}

func crossesItself(ring []vec) bool {
	n := len(ring)
	for i := range n {
		for j := i + 2; j < n; j++ {
			if i == 0 && j == n-1 {
				continue // neighbours
			}
			if crossing(ring[i], ring[(i+1)%n], ring[j], ring[(j+1)%n]) {
				return true
			}
		}
	}
	return false
}

func (p polygon) onBoundary(q vec) bool {
	return slices.ContainsFunc(p, func(ring []vec) bool {
		return edges(ring, func(a, b vec) bool { return onEdge(q, a, b) })
	})
}

// inside reports whether a place that is not on the boundary lies in the polygon: it walks there from a place that is
// known to be inside and counts the edges it crosses.
func (p polygon) inside(q vec) bool {
	within := true
	at := p.innerPlace()
	for _, next := range waypoints(at, q) {
		for _, ring := range p {
			edges(ring, func(a, b vec) bool {
				if crossing(at, next, a, b) {
					within = !within
				}
				return false
			})
		}
		at = next
	}
	return within
}

// waypoints leads from a to b in arcs that are clearly shorter than half a turn, which alone are well defined.
func waypoints(a, b vec) []vec {
	const nearlyOpposite = -0.9
	if dot(a, b) > nearlyOpposite {
		return []vec{b}
	}
	aside := cross(a, vec{1, 0, 0})
	if norm(aside) < 0.5 {
		aside = cross(a, vec{0, 1, 0})
	}
	return []vec{scale(aside, 1/norm(aside)), b}
}

// innerPlace is a place just to the left of the middle of the first ring's longest edge.
func (p polygon) innerPlace() vec {
	const offset = 1e-4 // of the edge's length
	var from, to vec
	longest := -1.0
	edges(p[0], func(a, b vec) bool {
		if length := angle(a, b); length > longest {
			longest, from, to = length, a, b
		}
		return false
	})
	left := cross(from, to)
	if n := norm(left); n > 0 {
		left = scale(left, offset*longest/n)
	}
	middle := mix(from, to, 0.5)
	return vec{middle[0] + left[0], middle[1] + left[1], middle[2] + left[2]}
}

// covers reports whether a place lies in the polygon or on its boundary.
func (p polygon) covers(q vec) bool { return p.onBoundary(q) || p.inside(q) }

// places returns every place that the geometry is drawn with.
func (g *geometry) places() []vec {
	all := slices.Clone(g.points)
	for _, l := range g.lines {
		all = append(all, l...)
	}
	for _, p := range g.polygons {
		for _, ring := range p {
			all = append(all, ring...)
		}
	}
	return all
}

// segments calls f with every edge until f returns true, and reports whether it did. A point is an edge without length.
func (g *geometry) segments(f func(a, b vec) bool) bool {
	for _, p := range g.points {
		if f(p, p) {
			return true
		}
	}
	for _, line := range g.lines {
		for i := 1; i < len(line); i++ {
			if f(line[i-1], line[i]) {
				return true
			}
		}
	}
	for _, p := range g.polygons {
		for _, ring := range p {
			if edges(ring, f) {
				return true
			}
		}
	}
	return false
}

func (g *geometry) covers(q vec) bool {
	return slices.ContainsFunc(g.polygons, func(p polygon) bool { return p.covers(q) })
}

func (g *geometry) intersects(other *geometry) bool {
	meet := g.segments(func(a, b vec) bool {
		return other.segments(func(c, d vec) bool {
			return crossing(a, b, c, d) || onEdge(a, c, d) || onEdge(b, c, d) || onEdge(c, a, b) || onEdge(d, a, b)
		})
	})
	// Without common boundary, one lies wholly inside or outside of each part of the other.
	return meet || slices.ContainsFunc(g.places(), other.covers) || slices.ContainsFunc(other.places(), g.covers)
}

// within reports whether each part of g lies in one part of other, and not on its boundary alone.
func (g *geometry) within(other *geometry) bool {
	for _, q := range g.points {
		if !other.holds(&geometry{points: []vec{q}}) {
			return false
		}
	}
	for _, l := range g.lines {
		if !other.holds(&geometry{lines: [][]vec{l}}) {
			return false
		}
	}
	for _, p := range g.polygons {
		if !other.holds(&geometry{polygons: []polygon{p}}) {
			return false
		}
	}
	return true
}

// holds reports whether a geometry of one part lies in one part of g.
func (g *geometry) holds(part *geometry) bool {
	if slices.ContainsFunc(g.polygons, func(p polygon) bool { return p.holds(part) }) {
		return true
	}
	if len(part.polygons) > 0 {
		return false
	}
	// On lines and points, only what is drawn along them.
	return len(g.polygons) == 0 && !slices.ContainsFunc(part.places(), func(q vec) bool {
		return !g.segments(func(a, b vec) bool { return onEdge(q, a, b) })
	})
}

func (p polygon) holds(part *geometry) bool {
	interior := false
	for _, q := range part.places() {
		switch {
		case p.onBoundary(q):
		case p.inside(q):
			interior = true
		default:
			return false
		}
	}
	boundary := &geometry{polygons: []polygon{p}}
	leaves := part.segments(func(a, b vec) bool {
		if middle := mix(a, b, 0.5); !p.onBoundary(middle) {
			if !p.inside(middle) {
				return true
			}
			interior = true
		}
		return boundary.segments(func(c, d vec) bool {
			touches := onEdge(a, c, d) || onEdge(b, c, d) || onEdge(c, a, b) || onEdge(d, a, b)
			return !touches && crossing(a, b, c, d)
		})
	})
	if leaves {
		return false
	}
	// A part with an area must not enclose a hole, or the outside.
	for _, region := range part.polygons {
		for _, q := range boundary.places() {
			if !region.onBoundary(q) && region.inside(q) {
				return false
			}
		}
		interior = true
	}
	return interior
}

// distance is the smallest distance between places of the two geometries, in metres; 0 when they intersect.
func (g *geometry) distance(other *geometry) float64 {
	if g.intersects(other) {
		return 0
	}
	return min(g.reach(other), other.reach(g))
}

// reach is the smallest distance from the places of g to the edges of other.
func (g *geometry) reach(other *geometry) float64 {
	best := math.Inf(1)
	pairs := func(f func(p, a, b vec)) {
		for _, p := range g.places() {
			other.segments(func(a, b vec) bool {
				f(p, a, b)
				return false
			})
		}
	}
	pairs(func(p, a, b vec) { best = min(best, roughly(p, a, b)) })
	const slack = 1.01 // the sphere's distances are within half a percent of the ellipsoid's
	shortest := math.Inf(1)
	pairs(func(p, a, b vec) {
		if roughly(p, a, b) <= best*slack {
			shortest = min(shortest, nearest(p, a, b))
		}
	})
	return shortest
}

// roughly is the distance from a place to an edge on the unit sphere.
func roughly(p, a, b vec) float64 {
	ends := min(angle(p, a), angle(p, b))
	plane := cross(a, b)
	length := norm(plane)
	if length == 0 || dot(cross(plane, a), p) <= 0 || dot(cross(b, plane), p) <= 0 {
		return ends
	}
	return min(ends, math.Abs(math.Asin(dot(plane, p)/length)))
}
