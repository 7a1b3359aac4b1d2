package store

import "math"

// unitsPerRange is the most, in request units a second, that one physical partition serves.
const unitsPerRange = 10_000

// ranges is the number of physical partitions that a container needs for its throughput.
func (t Throughput) ranges() int { return int(math.Ceil(t.unitsPerSecond() / unitsPerRange)) }

// Grow splits the ranges of the container that an offer is for until they can serve its throughput, as the service does
// in the background (404; 503 when the journal fails). An offer that a database shares changes no ranges. Ranges never
// go back by themselves when throughput does.
func (a *Account) Grow(offerRID string) error {
	c, throughput, err := a.containerOfOffer(offerRID)
	if c == nil || err != nil {
		return err
	}
	for need := throughput.ranges(); ; {
		ranges, _ := c.Ranges()
		if len(ranges) >= need {
			return nil
		}
		for _, r := range ranges[:min(len(ranges), need-len(ranges))] {
			if _, err := c.Split(r.ID); err != nil {
				return err
			}
		}
	}
}

// containerOfOffer finds the container that an offer is for; there is none when a database shares it.
func (a *Account) containerOfOffer(rid string) (*Container, Throughput, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	i := a.offerIndex(rid)
	if i < 0 {
		return nil, Throughput{}, notFound()
	}
	o := a.offers[i]
	for _, db := range a.databases {
		for _, c := range db.list() {
			if c.rid == o.target {
				return c, o.throughput, nil
			}
		}
	}
	return nil, o.throughput, nil
}
