package repository

import (
	"context"
	"encoding/json"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// Reading is a part of a [ReadTogether]: what to look for in one scope, and
// where to put it. It is for Grove's own packages; its shape may change.
type Reading interface {
	place() (*core, *partition)
	query() Query
	// take puts one document where it belongs, and reports whether there was
	// still room for it.
	take(raw []byte) (bool, error)
	// alone reads the part by itself.
	alone(ctx context.Context) error
}

// Lot is the [Reading] of one scope. A lot is used once.
type Lot[T any] struct {
	// Items are what was found, at most as many as asked for.
	Items []*T
	// More says that there was more than that.
	More bool

	from *Reader[T]
	q    Query
	size int
}

// Tenant returns the tenant that the scope is bound to.
func (r *Reader[T]) Tenant() string { return r.at.tenant }

// Key returns the scope's further key values, as they were given to In.
func (r *Reader[T]) Key() []any { return r.repo.core.given(r.at.values) }

// Lot prepares to read up to size documents.
func (r *Reader[T]) Lot(q Query, size int) *Lot[T] { return &Lot[T]{from: r, q: q, size: size} }

func (l *Lot[T]) place() (*core, *partition) { return l.from.repo.core, &l.from.at }
func (l *Lot[T]) query() Query               { return l.q }

func (l *Lot[T]) take(raw []byte) (bool, error) {
	entity, err := l.from.decode(raw)
	if err != nil {
		return true, err
	}
	if len(l.Items) == l.size {
		l.More = true
		return false, nil
	}
	l.Items = append(l.Items, entity)
	return true, nil
}

func (l *Lot[T]) alone(ctx context.Context) error {
	for entity, err := range l.from.Query(ctx, l.q.Limit(l.size+1)) {
		if err != nil {
			return err
		}
		if len(l.Items) == l.size {
			l.More = true
			return nil
		}
		l.Items = append(l.Items, entity)
	}
	return nil
}

// sharePartition reports whether all parts lie in one logical partition of one
// container, so that one query can find them.
func sharePartition(parts []Reading) bool {
	first, at := parts[0].place()
	for _, p := range parts {
		c, where := p.place()
		if where.err != nil || !where.full || c.container != first.container || keyText(where.values) != keyText(at.values) || len(c.partitionsOf(*where)) != 1 {
			return false
		}
		// An order or a limit would be that of all parts together, and two
		// parts may have chosen one name for their parameters.
		if q := p.query(); len(q.order) > 0 || q.limit > 0 || len(q.raw) > 0 {
			return false
		}
	}
	return true
}

// ReadTogether reads the parts: with one query where they share a logical
// partition and none of them is sorted, else each by itself.
func ReadTogether(ctx context.Context, parts ...Reading) error {
	if len(parts) == 0 {
		return nil
	}
	if !sharePartition(parts) {
		for _, p := range parts {
			if err := p.alone(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	c, at := parts[0].place()
	k := call{core: c, op: "ReadTogether", at: at}
	return k.fail(k.readTogether(ctx, parts))
}

func (k *call) readTogether(ctx context.Context, parts []Reading) error {
	if err := k.start(ctx); err != nil {
		return err
	}
	st, err := compileTogether(parts)
	if err != nil {
		return err
	}
	full := make(map[Reading]bool, len(parts))
	for from := ""; ; {
		rows, next, err := fetchPage[json.RawMessage](ctx, k, k.at, st, from, 0)
		if err != nil {
			return err
		}
		for _, raw := range rows {
			p, err := readingOf(parts, raw)
			if err != nil {
				return err
			}
			room, err := p.take(raw)
			if err != nil {
				return err
			}
			full[p] = full[p] || !room
		}
		if next == "" || len(full) == len(parts) && !hasRoom(full) {
			return nil
		}
		from = next
	}
}

func hasRoom(full map[Reading]bool) bool {
	for _, f := range full {
		if !f {
			return true
		}
	}
	return false
}

// readingOf finds the part that a document belongs to by its species.
func readingOf(parts []Reading, raw []byte) (Reading, error) {
	meta := documents.ReadHeader(raw)
	for _, p := range parts {
		if c, _ := p.place(); c.isSpecies(meta.EntityType) {
			return p, nil
		}
	}
	return nil, ErrEntityMismatch
}

// compileTogether writes one statement that finds what any of the parts does.
func compileTogether(parts []Reading) (statement, error) {
	w := &sqlWriter{}
	w.text.WriteString(selectAll)
	word := " WHERE ("
	for _, p := range parts {
		c, at := p.place()
		q := p.query()
		if q.broken != nil {
			return statement{}, q.broken
		}
		w.model = c.model
		if err := c.writeConditions(w, word, at, q); err != nil {
			return statement{}, err
		}
		word = ") OR ("
	}
	w.text.WriteByte(')')
	return statement{text: w.text.String(), params: w.params}, nil
}
