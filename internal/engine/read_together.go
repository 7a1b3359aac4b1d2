package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Lookup is a part of a [ReadTogether]: what to look for in one scope, and what
// was found. It is used once.
type Lookup struct {
	// Items are what was found, at most as many as asked for: pointers to the
	// collection's entity type.
	Items []any
	// More says that there was more than that.
	More bool

	core *Collection
	at   *Partition
	q    Query
	size int
	one  bool // at most one document can be found
}

// ScopeHandle is embedded by a typed scope and leads to where it looks.
type ScopeHandle struct {
	c  *Collection
	at *Partition
}

// Reach makes the handle of a scope.
func Reach(c *Collection, at *Partition) ScopeHandle { return ScopeHandle{c, at} }

func (h *ScopeHandle) where() (*Collection, *Partition) { return h.c, h.at }

// BoundScope is a typed scope.
type BoundScope interface {
	where() (*Collection, *Partition)
}

// LookFor prepares to read up to size documents of a scope.
func LookFor(scope BoundScope, q Query, size int) *Lookup {
	c, at := scope.where()
	return &Lookup{core: c, at: at, q: q, size: size}
}

// LookFor is [LookFor] of a tenant and further values of the key, as In takes them.
func (c *Collection) LookFor(tenant string, key []any, q Query, size int) *Lookup {
	at := c.Resolve(c.EntityType(), tenant, key)
	return &Lookup{core: c, at: &at, q: q, size: size}
}

// LookForID is LookFor of one document, whose id may tell its partition.
func LookForID(scope BoundScope, id string) *Lookup {
	l := LookFor(scope, Where(Eq("id", id)), 1)
	l.one = true
	if at, ok := l.core.CompletedByID(*l.at, id); ok {
		l.at = &at
	}
	return l
}

// KeyOf returns a scope's further key values, as they were given to In.
func KeyOf(scope BoundScope) []any {
	c, at := scope.where()
	return c.Given(at.Values)
}

// take puts one document where it belongs, and reports whether there was still
// room for it.
func (l *Lookup) take(raw []byte) (bool, error) {
	entity, err := l.core.decodeIn(l.at, raw)
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

// decodeIn turns stored bytes into an entity and checks that it belongs to the
// scope.
func (c *Collection) decodeIn(at *Partition, raw []byte) (any, error) {
	h := documents.ReadHeader(raw)
	if err := c.CheckNames(at, h.TenantID, h.EntityType); err != nil {
		return nil, err
	}
	if c.Tombstones && !at.Deleted && h.DeletedAt != "" {
		return nil, ErrNotFound
	}
	entity, err := c.decode(raw)
	if err != nil {
		return nil, Undecodable(raw, err)
	}
	return entity, nil
}

// alone reads the part by itself.
func (l *Lookup) alone(ctx context.Context) error {
	k := Call{Collection: l.core, Op: "Query", At: l.at}
	ctx = k.Begin(ctx)
	return k.End(l.read(ctx, &k))
}

func (l *Lookup) read(ctx context.Context, k *Call) error {
	if err := k.StartQuery(ctx); err != nil {
		return err
	}
	if id, ok := l.q.OnlyID(l.at); ok {
		return l.readOne(ctx, k, id)
	}
	var failed error
	err := ProjectAs(ctx, k, l.q.Limit(l.size+1), "SELECT VALUE "+RootAlias+" FROM "+RootAlias, func(raw json.RawMessage) bool {
		var room bool
		room, failed = l.take(raw)
		return room && failed == nil
	})
	return errors.Join(failed, err)
}

// readOne is read for one id, which a point read finds.
func (l *Lookup) readOne(ctx context.Context, k *Call, id string) error {
	k.ID = id
	for _, partition := range k.Collection.PartitionsOf(*l.at) {
		raw, err := k.ReadItem(ctx, &partition)
		if StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err == nil {
			_, err = l.take(raw)
		}
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrEntityMismatch) {
			return nil
		}
		return err
	}
	return nil
}

// apart says why one query can't find all parts; "" where it can.
func apart(parts []*Lookup) string {
	first, at := parts[0].core, parts[0].at
	for i, p := range parts {
		c, where := p.core, p.at
		switch {
		case !where.Full:
			return "the scope of " + c.entityType + " is not one logical partition"
		case c.Container != first.Container:
			return first.entityType + " and " + c.entityType + " lie in different containers"
		case where.Tenant != at.Tenant || where.global != at.global || KeyText(where.Values) != KeyText(at.Values):
			return "the scopes of " + first.entityType + " and " + c.entityType + " are different logical partitions"
		case len(c.PartitionsOf(*where)) != 1:
			return c.entityType + " lies in a partition for each of its names"
		}
		// An order or a limit would be that of all parts together, and two
		// parts may have chosen one name for their parameters.
		switch q := p.q; {
		case len(q.order) > 0 || q.limit > 0:
			return "the query of " + c.entityType + " has an order or a limit, which would be that of all documents together"
		case len(q.raw) > 0:
			return "the query of " + c.entityType + " has a condition in SQL, whose parameters may be called as another one's"
		}
		// A document is told from others by its type alone.
		for _, other := range parts[:i] {
			if other.core.IsEntityType(c.entityType) {
				return c.entityType + " is read by two parts"
			}
		}
	}
	return ""
}

// ReadTogether reads the parts: with one query where they share a logical
// partition and none of them is sorted, else each by itself.
func ReadTogether(ctx context.Context, parts ...*Lookup) error {
	if err := startTogether(ctx, parts); err != nil || len(parts) == 0 {
		return err
	}
	if apart(parts) != "" {
		for _, p := range parts {
			if err := p.alone(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return readOnce(ctx, parts)
}

// ReadInOneQuery is [ReadTogether] that refuses what takes more than one query.
func ReadInOneQuery(ctx context.Context, parts ...*Lookup) error {
	if err := startTogether(ctx, parts); err != nil || len(parts) == 0 {
		return err
	}
	if reason := apart(parts); reason != "" {
		k := Call{Collection: parts[0].core, Op: "ReadTogether", At: parts[0].at}
		return k.Fail(&tenantitem.InvalidError{What: "read of one partition", Reason: reason, Hint: "query that entity type by itself"})
	}
	return readOnce(ctx, parts)
}

// startTogether is the part that comes before any request.
func startTogether(ctx context.Context, parts []*Lookup) error {
	for _, p := range parts {
		k := Call{Collection: p.core, Op: "ReadTogether", At: p.at}
		if err := k.Start(ctx); err != nil {
			return k.Fail(err)
		}
	}
	return nil
}

func readOnce(ctx context.Context, parts []*Lookup) error {
	k := Call{Collection: parts[0].core, Op: "ReadTogether", At: parts[0].at}
	return k.Fail(k.readTogether(ctx, parts))
}

func (k *Call) readTogether(ctx context.Context, parts []*Lookup) error {
	st, err := compileTogether(parts)
	if err != nil {
		return err
	}
	full := make(map[*Lookup]bool, len(parts))
	var undecodable []error
	err = EachPage(ctx, k, k.At, st, 0, func(rows []json.RawMessage) (bool, error) {
		for _, raw := range rows {
			p, err := lookupOf(parts, raw)
			if err != nil {
				return false, err
			}
			if p.core.layout != nil {
				raw, _ = p.core.layout.Canonical(raw) // it was found by its key
			}
			room, err := p.take(raw)
			var unread *DecodeError
			if errors.As(err, &unread) {
				undecodable = append(undecodable, err)
			} else if err != nil {
				return false, err
			}
			full[p] = full[p] || !room || p.one
		}
		return len(full) < len(parts) || hasRoom(full), nil
	})
	if err != nil {
		return err
	}
	return errors.Join(undecodable...)
}

func hasRoom(full map[*Lookup]bool) bool {
	for _, f := range full {
		if !f {
			return true
		}
	}
	return false
}

// lookupOf finds the part that a document belongs to by its entity type.
func lookupOf(parts []*Lookup, raw []byte) (*Lookup, error) {
	for _, p := range parts {
		if p.core.Owns(raw) {
			return p, nil
		}
	}
	return nil, ErrEntityMismatch
}

// compileTogether writes one statement that finds what any of the parts does.
func compileTogether(parts []*Lookup) (Statement, error) {
	w := &SQLWriter{}
	w.Text.WriteString(SelectAll)
	word := " WHERE ("
	for _, p := range parts {
		c, at := p.core, p.at
		q := p.q
		if q.broken != nil {
			return Statement{}, q.broken
		}
		// Each part names its members in its own form.
		part := &SQLWriter{model: c.model, layout: c.layout, Params: w.Params}
		if err := c.writeConditions(part, "", at, q); err != nil {
			return Statement{}, err
		}
		w.Text.WriteString(word + c.layout.SQL(part.Text.String()))
		w.Params = part.Params
		word = ") OR ("
	}
	w.Text.WriteByte(')')
	return Statement{Text: w.Text.String(), Params: w.Params, stored: true}, nil
}

// Found returns what a lookup found as pointers P to the entity type.
func Found[P any](l *Lookup) []P {
	out := make([]P, 0, len(l.Items))
	for _, item := range l.Items {
		if entity, ok := item.(P); ok {
			out = append(out, entity)
		}
	}
	return out
}
