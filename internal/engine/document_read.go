package engine

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// in resolves a tenant and further key values to a partition that shows
// deleted documents too.
func (c *Collection) in(tenant string, key []any) Partition {
	if c.IsGlobal() {
		tenant = "" // referred to from documents of any tenant
	}
	at := c.Resolve(c.entityType, tenant, key)
	at.Deleted = true
	return at
}

// partitionOf returns where a document lies.
func (c *Collection) partitionOf(outline Document) (Partition, error) {
	return c.placeOf(outline.Key)
}

// Documents reads a tenant's documents, deleted ones included, under the rules
// of [Reader.Query]. Key values beyond the tenant may be left out.
func (c *Collection) Documents(ctx context.Context, tenant string, key []any, q Query, p Projection) iter.Seq2[Document, error] {
	return c.documents(ctx, c.in(tenant, key), q, p)
}

// DocumentsOfAllTenants is Documents across tenants. It visits every physical
// partition of the container.
func (c *Collection) DocumentsOfAllTenants(ctx context.Context, q Query, p Projection) iter.Seq2[Document, error] {
	at := Partition{All: true, Deleted: true, global: c.IsGlobal(), underTenant: c.underTenant, Key: cosmos.NewPartitionKey()}
	return c.documents(ctx, at, q, p)
}

func (c *Collection) documents(ctx context.Context, at Partition, q Query, p Projection) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if !p.outline {
			q.page = MaxIDsPerQuery
		}
		k := Call{Collection: c, Op: "Documents", At: &at}
		err := k.StartQuery(ctx)
		if err == nil {
			err = ProjectAs(ctx, &k, q, p.sql(c), func(d Document) bool { return yield(d, nil) })
		}
		if err != nil {
			yield(Document{}, k.Fail(err))
		}
	}
}

// DocumentsByID reads documents by their ids, deleted ones included; those
// that do not exist are left out. One id costs a point read where the
// key is complete, others a query for every 1,000. Under a prefix of the key
// an id may not be unique; two documents with one id are an error then.
func (c *Collection) DocumentsByID(ctx context.Context, tenant string, key []any, ids []string, fields ...string) (map[string]Document, error) {
	at := c.in(tenant, key)
	return c.documentsIn(ctx, at, c.PartitionsOf(at), ids, fields)
}

// documentsAt is DocumentsByID in one logical partition, without those of older
// names.
func (c *Collection) documentsAt(ctx context.Context, at Partition, ids, fields []string) (map[string]Document, error) {
	at.Deleted = true
	return c.documentsIn(ctx, at, []Partition{at}, ids, fields)
}

func (c *Collection) documentsIn(ctx context.Context, at Partition, partitions []Partition, ids, fields []string) (map[string]Document, error) {
	found := make(map[string]Document, len(ids))
	if len(ids) == 1 && !at.Full && c.Derives() {
		if complete, err := c.completed(at, c.fieldsByID(at, ids[0])); err == nil {
			at, partitions = complete, []Partition{complete}
		}
	}
	if len(ids) == 1 && at.Full {
		d, err := c.document(ctx, at, partitions, ids[0])
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrEntityMismatch) {
			return found, nil
		}
		found[ids[0]] = d
		return found, err
	}
	for chunk := range slices.Chunk(ids, MaxIDsPerQuery) {
		for d, err := range c.documents(ctx, at, Where(In("id", Anys(chunk)...)), Fields(fields...)) {
			if err != nil {
				return nil, err
			}
			if _, twice := found[d.ID]; twice {
				k := Call{Collection: c, Op: "DocumentsByID", At: &at, ID: d.ID}
				return nil, k.Fail(&tenantitem.InvalidError{What: "reference to " + c.entityType, Reason: "two documents of the tenant have this id, in different partitions", Hint: "give documents that are referred to ids of their own"})
			}
			found[d.ID] = d
		}
	}
	return found, nil
}

// document is a point read.
func (c *Collection) document(ctx context.Context, at Partition, partitions []Partition, id string) (Document, error) {
	k := Call{Collection: c, Op: "Document", At: &at, ID: id}
	err := k.Start(ctx)
	if err == nil {
		err = tenantitem.ValidateID(id)
	}
	if err != nil {
		return Document{}, k.Fail(err)
	}
	for _, partition := range partitions {
		var raw []byte
		if raw, err = k.ReadItem(ctx, &partition); StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			break
		}
		var d Document
		if d, _, err = c.ReadForm(raw); err == nil {
			return d, nil
		}
	}
	return Document{}, k.Fail(err)
}

// Outline reads the outline of one document, deleted or not: a point read where
// the key is known, else a query by id over the tenant. It fails with
// [ErrNotFound].
func (c *Collection) Outline(ctx context.Context, tenant string, key []any, id string) (Document, error) {
	at := c.in(tenant, key)
	k := Call{Collection: c, Op: "Outline", At: &at, ID: id}
	if err := k.Start(ctx); err != nil {
		return Document{}, k.Fail(err)
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return Document{}, k.Fail(err)
	}
	if c.Derives() && !at.Full {
		if complete, err := c.completed(at, c.fieldsByID(at, id)); err == nil {
			at = complete
		}
	}
	if !at.Full {
		for outline, err := range c.documents(ctx, at, Where(Eq("id", id)).Limit(1), Outline()) {
			return outline, err
		}
		return Document{}, k.Fail(ErrNotFound)
	}
	var err error
	for _, partition := range c.PartitionsOf(at) {
		var raw []byte
		var header http.Header
		if raw, header, err = k.readItem(ctx, &partition); StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			break
		}
		d, of := c.readOutline(raw)
		d.ReadAt = serviceTime(header)
		if err = c.CheckNames(&at, of, d.EntityType); err != nil {
			break
		}
		d.Key = c.outlineKey(partition)
		return d, nil
	}
	return Document{}, k.Fail(err)
}

// Count counts a tenant's documents, deleted ones included.
func (c *Collection) Count(ctx context.Context, tenant string, key []any, q Query) (int64, error) {
	at := c.in(tenant, key)
	return c.CountIn(ctx, &at, q)
}

// CountBy counts a tenant's documents, deleted ones included, by the value of
// a text field.
func (c *Collection) CountBy(ctx context.Context, tenant, field string, q Query) (map[string]int64, error) {
	at := c.in(tenant, nil)
	k := Call{Collection: c, Op: "CountBy", At: &at}
	if err := k.StartQuery(ctx); err != nil {
		return nil, k.Fail(err)
	}
	type row struct {
		By string `json:"by"`
		N  int64  `json:"n"`
	}
	k.Into = reflect.TypeFor[row]()
	counts := map[string]int64{}
	err := groupWith(ctx, &k, q, &grouping{
		by:         []groupMember{{name: "by", path: field, column: fieldSQL(field)}},
		aggregates: []groupMember{{name: "n", function: countOf}},
	}, func(found any) bool {
		r := found.(*row)
		counts[r.By] = r.N
		return true
	})
	return counts, k.Fail(err)
}
