package eval

// CountRows adds n rows to the one group of a query without GROUP BY, whose aggregates must all count every row whatever is in it.
func (g *Groups) CountRows(n int) {
	for _, a := range g.state.groups[0].accumulators {
		if c, ok := a.(*count); ok {
			c.n += n
		}
	}
}
