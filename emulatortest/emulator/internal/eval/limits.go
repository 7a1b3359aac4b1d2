package eval

// Limits bounds what the queries of one request may do. A zero field means its default.
type Limits struct {
	// Rows is how many rows all FROM clauses of a run may bind together. Defaults to 4,000,000.
	Rows int
	// Text is the size in bytes that a string or a row may reach. Defaults to 16 MB.
	Text int
	// Bytes is how much a request may hold in memory besides the items that are stored. Defaults to 256 MB.
	Bytes int
	// Steps bounds the work; a step takes about a nanosecond. Defaults to 10,000,000,000.
	Steps int
}

const (
	defaultRows  = 4_000_000
	defaultText  = 16 << 20
	defaultBytes = 256 << 20
	defaultSteps = 10_000_000_000
)

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		limit *int
		value int
	}{{&l.Rows, defaultRows}, {&l.Text, defaultText}, {&l.Bytes, defaultBytes}, {&l.Steps, defaultSteps}} {
		if *d.limit <= 0 {
			*d.limit = d.value
		}
	}
	return l
}
