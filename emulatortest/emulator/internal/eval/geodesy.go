package eval

import "math"

// The WGS84 ellipsoid, in metres.
const (
	equatorialRadius = 6_378_137.0
	flattening       = 1 / 298.257223563
	polarRadius      = equatorialRadius * (1 - flattening)
)

// vec is a place on the ellipsoid, scaled so that the ellipsoid becomes the unit sphere (its latitude is the parametric
// one). Edges between places are great elliptic arcs: the sections of the ellipsoid with planes through its centre. The
// scaling makes great circles of them, so that questions of inside and outside are answered on the sphere, exactly.
type vec [3]float64

func place(longitude, latitude float64) vec {
	const degree = math.Pi / 180
	b := math.Atan((1 - flattening) * math.Tan(latitude*degree))
	sinLon, cosLon := math.Sincos(longitude * degree)
	sinLat, cosLat := math.Sincos(b)
	return vec{cosLat * cosLon, cosLat * sinLon, sinLat}
}

func dot(a, b vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross(a, b vec) vec {
	return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func norm(a vec) float64 { return math.Sqrt(dot(a, a)) }

// mix returns the place that lies at a+s(b-a), pulled out to the sphere.
func mix(a, b vec, s float64) vec {
	m := vec{a[0] + (b[0]-a[0])*s, a[1] + (b[1]-a[1])*s, a[2] + (b[2]-a[2])*s}
	return scale(m, 1/norm(m))
}

func scale(a vec, by float64) vec { return vec{a[0] * by, a[1] * by, a[2] * by} }

// angle is the angle between two places as seen from the centre of the sphere, in radians.
func angle(a, b vec) float64 { return math.Atan2(norm(cross(a, b)), dot(a, b)) }

// distance is the length of the great elliptic arc between two places, in metres.
//
// Microsoft's published results follow this arc on WGS84 to ten digits for far places. For near ones they carry the error
// of a one-point integration over the chord, a few parts in 10^8; shortArc is where this function changes to that, chosen
// so that the step between the two is below a millimetre.
func distance(a, b vec) float64 {
	const shortArc = 1e-3 // radians
	theta := angle(a, b)
	if theta == 0 {
		return 0
	}
	// The arc is a·cos φ + w·sin φ; a step along it is longest at the equator's radius and shrinks with its share of z.
	w := scale(cross(cross(a, b), a), 1/norm(cross(a, b)))
	step := func(phi float64) float64 {
		sin, cos := math.Sincos(phi)
		z := w[2]*cos - a[2]*sin
		return math.Sqrt(equatorialRadius*equatorialRadius - (equatorialRadius*equatorialRadius-polarRadius*polarRadius)*z*z)
	}
	if theta < shortArc {
		return 2 * math.Tan(theta/2) * step(theta/2)
	}
	return integrate(step, theta)
}

// integrate is the integral of f from 0 to end by five-point Gauss-Legendre rules on eight equal parts: for the smooth
// functions here that is exact to the last digits.
func integrate(f func(float64) float64, end float64) float64 {
	const parts = 8
	nodes := [5]float64{0, -0.5384693101056831, 0.5384693101056831, -0.9061798459386640, 0.9061798459386640}
	weights := [5]float64{0.5688888888888889, 0.4786286704993665, 0.4786286704993665, 0.2369268850561891, 0.2369268850561891}
	half := end / parts / 2
	total := 0.0
	for p := range parts {
		middle := half * float64(2*p+1)
		for i, x := range nodes {
			total += weights[i] * f(middle+half*x)
		}
	}
	return total * half
}

// nearest returns the smallest distance in metres from a place to an edge.
func nearest(p, a, b vec) float64 {
	// Golden-section search: along an edge of less than half a turn the distance falls and then rises.
	const ratio = 0.6180339887498949
	const rounds = 60
	low, high := 0.0, 1.0
	left, right := high-ratio*(high-low), low+ratio*(high-low)
	atLeft, atRight := distance(p, mix(a, b, left)), distance(p, mix(a, b, right))
	for range rounds {
		if atLeft < atRight {
			high, right, atRight = right, left, atLeft
			left = high - ratio*(high-low)
			atLeft = distance(p, mix(a, b, left))
		} else {
			low, left, atLeft = left, right, atRight
			right = low + ratio*(high-low)
			atRight = distance(p, mix(a, b, right))
		}
	}
	return min(atLeft, atRight, distance(p, a), distance(p, b))
}

// ringArea is the area to the left of a closed ring, in square metres. It maps the ring to the sphere of equal area and
// takes the spherical excess there.
func ringArea(ring []vec) float64 {
	const pieces = 8 // of an edge: on the sphere of equal area the edges are not quite great circles
	var outline []vec
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		for k := range pieces {
			outline = append(outline, equalArea(mix(a, b, float64(k)/pieces)))
		}
	}
	excess := 0.0
	for i := 1; i+1 < len(outline); i++ {
		excess += triangleExcess(outline[0], outline[i], outline[i+1])
	}
	const sphere = 4 * math.Pi
	if excess = math.Mod(excess, sphere); excess < 0 {
		excess += sphere
	}
	return excess * surface() / sphere
}

func triangleExcess(a, b, c vec) float64 {
	return 2 * math.Atan2(dot(a, cross(b, c)), 1+dot(a, b)+dot(b, c)+dot(c, a))
}

// eccentricity of the ellipsoid's meridians.
func eccentricity() float64 { return math.Sqrt(flattening * (2 - flattening)) }

// zone is proportional to the area between the equator and a geographic latitude, given by its sine.
func zone(sinLatitude float64) float64 {
	e := eccentricity()
	es := e * sinLatitude
	return (1 - e*e) * (sinLatitude/(1-es*es) + math.Atanh(es)/e)
}

// surface is the area of the ellipsoid in square metres.
func surface() float64 { return 2 * math.Pi * equatorialRadius * equatorialRadius * zone(1) }

// equalArea maps a place to the sphere on which every region has its share of the area.
func equalArea(p vec) vec {
	r := math.Hypot(p[0], p[1])
	if r == 0 {
		return p
	}
	latitude := math.Atan2(p[2], r*(1-flattening))
	z := zone(math.Sin(latitude)) / zone(1)
	factor := math.Sqrt(1-z*z) / r
	return vec{p[0] * factor, p[1] * factor, z}
}
