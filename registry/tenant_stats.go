package registry

import (
	"context"
	"fmt"
	"slices"
)

// StatsOptions change what is measured; nil is the defaults.
type StatsOptions struct {
	// Limit is how many bytes a logical partition may hold. Defaults to the
	// service's 20 GB.
	Limit int64
	// Near is the share of Limit from which a logical partition is reported.
	// Defaults to 0.8.
	Near float64
	// Progress, where set, is called now and then.
	Progress func(TenantProgress)
}

// TenantStats is what a tenant has in the database.
type TenantStats struct {
	// Documents and Bytes are totals. Bytes are those of the stored JSON; the
	// index, which the service counts too, comes on top.
	Documents, Bytes int64
	// EntityTypes are the parts, by container and entity type.
	EntityTypes []EntityTypeStats
	// Full are the logical partitions near the limit, the fullest first.
	Full []PartitionStats
}

// EntityTypeStats is one entity type's part of a tenant. EntityType is empty for
// documents without one.
type EntityTypeStats struct {
	Container, EntityType string
	Documents, Bytes      int64
	// Deleted counts those among Documents that are deleted and still kept.
	Deleted int64
}

// PartitionStats is one logical partition.
type PartitionStats struct {
	Container string
	// Key are the values of all levels.
	Key              []any
	Documents, Bytes int64
}

const (
	logicalPartitionLimit = 20 << 30
	nearLimit             = 0.8
)

// Stats measures a tenant by reading all of its documents, about 1 RU for each
// KB. Memory is bounded by the number of its logical partitions.
func (t *Tenants) Stats(ctx context.Context, tenant string, opts *StatsOptions) (*TenantStats, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	o := StatsOptions{Limit: logicalPartitionLimit, Near: nearLimit}
	if opts != nil {
		o.Progress = opts.Progress
		if opts.Limit > 0 {
			o.Limit = opts.Limit
		}
		if opts.Near > 0 {
			o.Near = opts.Near
		}
	}
	out := &TenantStats{}
	for _, c := range t.contents() {
		m := meter{container: c, entityTypes: map[string]*EntityTypeStats{}, partitions: map[string]*PartitionStats{}}
		for raw, err := range c.Documents(ctx, tenant) {
			if err != nil {
				return out, err
			}
			m.measure(raw)
			out.Documents++
			out.Bytes += int64(len(raw))
			if o.Progress != nil && out.Documents%progressEvery == 0 {
				o.Progress(TenantProgress{Container: c.id, Documents: out.Documents})
			}
		}
		m.report(out, int64(o.Near*float64(o.Limit)))
	}
	slices.SortStableFunc(out.Full, func(a, b PartitionStats) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
	return out, nil
}

type meter struct {
	container   tenantContainer
	entityTypes map[string]*EntityTypeStats
	order       []*EntityTypeStats
	partitions  map[string]*PartitionStats
}

func (m *meter) measure(raw []byte) {
	head := m.container.HeaderOf(raw)
	s, ok := m.entityTypes[head.EntityType]
	if !ok {
		s = &EntityTypeStats{Container: m.container.id, EntityType: head.EntityType}
		m.entityTypes[head.EntityType] = s
		m.order = append(m.order, s)
	}
	s.Documents++
	s.Bytes += int64(len(raw))
	if head.DeletedAt != "" {
		s.Deleted++
	}
	_, key, err := m.container.KeyOf(raw)
	if err != nil {
		return // another writer's, with a key that Grove writes none of
	}
	text := fmt.Sprintf("%#v", key)
	p, ok := m.partitions[text]
	if !ok {
		p = &PartitionStats{Container: m.container.id, Key: key}
		m.partitions[text] = p
	}
	p.Documents++
	p.Bytes += int64(len(raw))
}

func (m *meter) report(out *TenantStats, near int64) {
	for _, s := range m.order {
		out.EntityTypes = append(out.EntityTypes, *s)
	}
	for _, p := range m.partitions {
		if p.Bytes >= near {
			out.Full = append(out.Full, *p)
		}
	}
}
