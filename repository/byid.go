package repository

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/cosmosgrove/grove/tenantitem"
)

// onlyID returns the id that the query is about when it asks for nothing else
// and the scope knows the whole partition key, so that a point read answers it.
func (q Query) onlyID(at *partition) (string, bool) {
	if !at.full || q.broken != nil || len(q.raw) > 0 || len(q.where) != 1 || len(q.order) > 0 {
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

// eachByID is each for one id. What a query would not find, a document of
// another species or a deleted one, is not found here either.
func (r *Reader[T]) eachByID(ctx context.Context, k *call, id string, yield func(*T, error) bool) error {
	k.id = id
	entity, _, err := (&Scope[T]{*r}).get(ctx, k)
	switch {
	case err == nil:
		yield(entity, nil)
		return nil
	case isUndecodable(err):
		yield(nil, err)
		return nil
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrEntityMismatch), statusOf(err) == http.StatusNotFound:
		return nil
	}
	return err
}
