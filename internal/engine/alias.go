package engine

import (
	"context"
	"net/http"
	"slices"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Where the container's key holds the entity type, a document that was stored
// under an older name lies in another logical partition, where the service does
// not see that its id is taken. So it is looked for before an id is used. The
// look and the write are two requests: a process that still writes under the
// older name may come between them.

// OtherPartitions returns the logical partitions, beside this one, in which the scope's
// documents may lie.
func (c *Collection) OtherPartitions(at Partition) []Partition {
	var out []Partition
	for _, name := range append([]string{c.entityType}, c.aliases...) {
		if moved := c.Renamed(at, name); !slices.Equal(moved.Values, at.Values) {
			out = append(out, moved)
		}
	}
	return out
}

// FindElsewhere finds the document that has the id of the call in another logical partition than the one that is
// about to be written to, deleted or not, and that partition. It has no id where there is none.
func (k *Call) FindElsewhere(ctx context.Context, at Partition) (found Document, where Partition, err error) {
	for _, partition := range k.Collection.OtherPartitions(at) {
		one := Call{Collection: k.Collection, Op: k.Op, At: k.At, ID: k.ID, Watch: k.Watch}
		raw, err := one.ReadItem(ctx, &partition)
		if StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			return Document{}, partition, err
		}
		if found, _ := k.Collection.readOutline(raw); k.Collection.IsEntityType(found.EntityType) {
			found.Key = k.Collection.outlineKey(partition)
			return found, partition, nil
		}
	}
	return Document{}, at, nil
}

// TakenElsewhere returns the entity type under which each of the ids is stored
// in another logical partition than the one that is about to be written to,
// also by documents that are only kept for a while.
func (k *Call) TakenElsewhere(ctx context.Context, at Partition, ids []string) (map[string]string, error) {
	taken := map[string]string{}
	for _, partition := range k.Collection.OtherPartitions(at) {
		partition.Deleted = true
		for chunk := range slices.Chunk(ids, MaxIDsPerQuery) {
			if err := k.findTaken(ctx, partition, chunk, taken); err != nil {
				return nil, err
			}
		}
	}
	return taken, nil
}

func (k *Call) findTaken(ctx context.Context, partition Partition, ids []string, taken map[string]string) error {
	type found struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	}
	st, err := k.Collection.Compile(&partition, Where(In("id", Anys(ids)...)), `SELECT VALUE {"id": `+fieldSQL("id")+`, "type": `+fieldSQL(entityField)+`} FROM `+RootAlias)
	if err != nil {
		return err
	}
	return EachPage(ctx, k, &partition, st, 0, func(rows []found) (bool, error) {
		for _, row := range rows {
			taken[row.ID] = row.Type
		}
		return true, nil
	})
}

// StoredElsewhere is TakenElsewhere for documents that are about to be stored
// under a key as they are, such as those of an import.
func (c *Collection) StoredElsewhere(ctx context.Context, tenant string, key []any, ids []string) (map[string]string, error) {
	at := Partition{Tenant: tenant, Values: key, Full: true, Key: cosmos.NewPartitionKey(key...)}
	if len(c.OtherPartitions(at)) == 0 {
		return nil, nil
	}
	k := Call{Collection: c, Op: "Insert", At: &at}
	if err := k.Start(ctx); err != nil {
		return nil, k.Fail(err)
	}
	taken, err := k.TakenElsewhere(ctx, at, ids)
	if err != nil {
		return nil, k.Fail(err)
	}
	return taken, nil
}

// UnderPresentName returns a key with the entity type's present name in it, by
// which documents of all its names meet.
func (c *Collection) UnderPresentName(key []any) []any {
	return c.Renamed(Partition{Values: key}, c.entityType).Values
}

// refuseTakenOps refuses the creates of a batch whose ids are taken under an older name.
func (k *Call) refuseTakenOps(ctx context.Context, ops []Operation) error {
	var ids []string
	for i := range ops {
		if ops[i].Kind == OpCreate || ops[i].Kind == OpUpsert {
			ids = append(ids, ops[i].ID)
		}
	}
	if len(ids) == 0 || len(k.Collection.OtherPartitions(*k.At)) == 0 {
		return nil
	}
	taken, err := k.TakenElsewhere(ctx, *k.At, ids)
	if err != nil {
		return err
	}
	for i := range ops {
		if _, ok := taken[ops[i].ID]; !ok {
			continue
		}
		switch ops[i].Kind {
		case OpCreate:
			return &BatchError{Index: i, Verb: ops[i].Kind.String(), ID: ops[i].ID, Status: http.StatusConflict}
		case OpUpsert:
			return &tenantitem.InvalidError{What: "entity", Reason: "its id is stored under an older entity type, in another logical partition", Hint: "write it on its own"}
		}
	}
	return nil
}
