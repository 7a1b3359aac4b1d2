package engine

import (
	"context"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// keyRange is a part of a scope, and how far a query has come there.
type keyRange struct {
	// Partition says which of the scope's partitions it is part of.
	Partition int `json:"h,omitempty"`
	// Min and Max bound the part as effective partition keys, Max not
	// included. Both are empty for one logical partition.
	Min string `json:"a,omitempty"`
	Max string `json:"b,omitempty"`
	// From is the service's token of where to go on; empty is the beginning.
	From string `json:"t,omitempty"`
}

// piece is a key range that one request can be sent to.
type piece struct {
	keyRange
	at Partition
}

// plan is a query as it is sent to each partition of a scope.
type plan struct {
	partitions []Partition
	sts        []Statement
}

// PlanFor compiles a query for every partition of the scope.
func (k *Call) PlanFor(q Query, projection string) (*plan, error) {
	p := &plan{partitions: k.Collection.PartitionsOf(*k.At)}
	for i := range p.partitions {
		st, err := k.Collection.Compile(&p.partitions[i], q, projection)
		if err != nil {
			return nil, err
		}
		p.sts = append(p.sts, st)
	}
	return p, nil
}

// ranges is everything that the plan covers, from the beginning.
func (p *plan) ranges(c *Collection) []keyRange {
	out := make([]keyRange, len(p.partitions))
	for i, partition := range p.partitions {
		out[i].Partition = i
		if !partition.Full {
			out[i].Min, out[i].Max = c.bounds(partition.Values)
		}
	}
	return out
}

// bounds is the part of the key space that holds every key with that prefix.
func (c *Collection) bounds(prefix []any) (minInclusive, maxExclusive string) {
	scheme := epk.MultiHash
	if len(c.levels) == 1 {
		scheme = epk.HashV2
	}
	components := make([]epk.Component, len(prefix))
	for i, v := range prefix {
		switch v := v.(type) {
		case string:
			components[i] = epk.String(v)
		case float64:
			components[i] = epk.Number(v)
		case bool:
			components[i] = epk.Bool(v)
		}
	}
	return epk.PrefixRange(scheme, components...)
}

// pieces cuts ranges along the container's physical partitions. When one
// that was begun is cut, all pieces go on from its token, which their
// partitions understand: they took over from the one that gave it.
func (k *Call) pieces(ctx context.Context, p *plan, ranges []keyRange, gone string) ([]piece, error) {
	var out []piece
	var known []physicalPartition
	for _, s := range ranges {
		partition := p.partitions[s.Partition]
		if partition.Full {
			out = append(out, piece{keyRange: s, at: partition})
			continue
		}
		if known == nil {
			var err error
			if known, err = k.physicalPartitions(ctx, gone); err != nil {
				return nil, err
			}
		}
		for _, r := range known {
			part := s
			part.Min, part.Max = later(s.Min, r.min), earlier(s.Max, r.max)
			if epk.Compare(part.Min, part.Max) >= 0 {
				continue
			}
			at := partition
			at.Key = cosmos.NewPartitionKey()
			at.physicalPartition = &r
			at.min, at.max = part.Min, part.Max
			out = append(out, piece{keyRange: part, at: at})
		}
	}
	return out, nil
}

// maxMoves bounds how often a query follows a partition that is gone without
// getting an answer in between. With the pauses it is some ten seconds, in
// which the service completes a split.
const maxMoves = 20

// follow returns the pieces that took over from one whose partition was
// divided, joined or moved. Another cause is returned as it came.
func (k *Call) follow(ctx context.Context, p *plan, from piece, moves int, cause error) ([]piece, error) {
	if from.at.physicalPartition == nil || !isGone(cause) || moves >= maxMoves {
		return nil, cause
	}
	if moves > 0 && !Sleep(ctx, backoff(moves)) {
		return nil, cause
	}
	return k.pieces(ctx, p, []keyRange{from.keyRange}, from.at.physicalPartition.id)
}

func later(a, b string) string {
	if epk.Compare(a, b) < 0 {
		return b
	}
	return a
}

func earlier(a, b string) string {
	if epk.Compare(a, b) < 0 {
		return a
	}
	return b
}

// join puts ranges together that touch and have not been begun.
func join(ranges []keyRange) []keyRange {
	var out []keyRange
	for _, s := range ranges {
		if last := len(out) - 1; last >= 0 && s.Max != "" && out[last].Partition == s.Partition && out[last].Max == s.Min && out[last].From == "" && s.From == "" {
			out[last].Max = s.Max
			continue
		}
		out = append(out, s)
	}
	return out
}

// address is the partition's physical one, where it names one, and which part of
// its key space is meant.
func (p *Partition) address() cosmos.Range {
	if p.physicalPartition == nil {
		return cosmos.Range{}
	}
	r := cosmos.Range{ID: p.physicalPartition.id}
	if epk.Compare(p.min, p.physicalPartition.min) != 0 || epk.Compare(p.max, p.physicalPartition.max) != 0 {
		r.Min, r.Max = p.min, p.max
	}
	return r
}
