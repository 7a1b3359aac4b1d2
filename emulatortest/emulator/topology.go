package emulator

import (
	"fmt"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Range is one physical partition of a container: its id and its bounds in effective partition keys, hexadecimal,
// MinInclusive up to but without MaxExclusive.
type Range struct {
	ID           string
	MinInclusive string
	MaxExclusive string
	Parents      []string // the ranges that it came from, oldest first
}

// Ranges gives the physical partitions of a container in the order of their bounds.
func (s *Service) Ranges(database, container string) ([]Range, error) {
	c, err := s.container(database, container)
	if err != nil {
		return nil, err
	}
	ranges, _ := c.Ranges()
	return rangesOf(ranges...), nil
}

// Split cuts a physical partition in two at the middle of its hashes, as the service does when it grows. Requests that name
// the old range are 410/1002 from then on. It returns the two new ranges.
func (s *Service) Split(database, container, rangeID string) ([]Range, error) {
	return s.split(database, container, rangeID)
}

// SplitAt is [Service.Split] at a bound of the caller's, an effective partition key in hexadecimal (package tenantitem/epk
// computes them). At the key of a full hierarchical value it cuts inside of what shares the first level, as the service does
// when one tenant outgrows a partition.
func (s *Service) SplitAt(database, container, rangeID, bound string) ([]Range, error) {
	return s.split(database, container, rangeID, bound)
}

func (s *Service) split(database, container, rangeID string, at ...string) ([]Range, error) {
	c, err := s.container(database, container)
	if err != nil {
		return nil, err
	}
	children, err := c.Split(rangeID, at...)
	if err != nil {
		return nil, fmt.Errorf("emulator: split range %s of %s/%s: %w", rangeID, database, container, err)
	}
	return rangesOf(children...), nil
}

// Merge joins two neighbouring physical partitions. Requests that name one of them are 410/1002 from then on.
func (s *Service) Merge(database, container, rangeA, rangeB string) (Range, error) {
	c, err := s.container(database, container)
	if err != nil {
		return Range{}, err
	}
	merged, err := c.Merge(rangeA, rangeB)
	if err != nil {
		return Range{}, fmt.Errorf("emulator: merge ranges %s and %s of %s/%s: %w", rangeA, rangeB, database, container, err)
	}
	return rangesOf(merged)[0], nil
}

// LimitThroughput holds the requests on a container to so many request units a second, whatever its offer says; above that
// they are 429/3200 with a retry time. Zero takes the limit away.
func (s *Service) LimitThroughput(database, container string, unitsPerSecond float64) error {
	c, err := s.container(database, container)
	if err != nil {
		return err
	}
	c.LimitThroughput(unitsPerSecond)
	return nil
}

func (s *Service) container(database, container string) (*store.Container, error) {
	db, err := s.account.Database(database)
	if err != nil {
		return nil, fmt.Errorf("emulator: find database %s: %w", database, err)
	}
	c, err := db.Container(container)
	if err != nil {
		return nil, fmt.Errorf("emulator: find container %s/%s: %w", database, container, err)
	}
	return c, nil
}

func rangesOf(ranges ...store.Range) []Range {
	plain := make([]Range, len(ranges))
	for i, r := range ranges {
		plain[i] = Range{ID: r.ID, MinInclusive: r.Min, MaxExclusive: r.Max, Parents: r.Parents}
	}
	return plain
}
