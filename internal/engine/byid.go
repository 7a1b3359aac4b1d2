package engine

import (
	"reflect"

	"github.com/cosmosgrove/grove/tenantitem"
)

// OnlyID returns the id that the query is about when it asks for nothing else
// and the scope knows the whole partition key, so that a point read answers it.
func (q Query) OnlyID(at *Partition) (string, bool) {
	if !at.Full || q.broken != nil || len(q.raw) > 0 || len(q.where) != 1 || len(q.order) > 0 {
		return "", false
	}
	p := q.where[0]
	if p.kind != compare || p.op != "=" || p.field != "id" {
		return "", false
	}
	v := reflect.ValueOf(p.values[0])
	if v.Kind() != reflect.String || tenantitem.ValidateID(v.String()) != nil {
		return "", false // nothing has such an id; the query finds that out
	}
	return v.String(), true
}

// MaxIDsPerQuery keeps a query by ids well under the service's limits on its
// text (512 KB) and on the answer to one request.
const MaxIDsPerQuery = 1000

// Anys gives ids as values of a condition.
func Anys(ids []string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}
