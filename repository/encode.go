package repository

import (
	"fmt"
	"math"
	"reflect"

	"github.com/cosmosgrove/grove/internal/codec"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// encode returns the document to store, with the hidden members that hooks
// added. System fields stay out: the service
// sets them, and they would only cost bytes.
func (s *scope) encode(entity any, marks []string, hidden []byte) ([]byte, error) {
	copied := reflect.New(reflect.TypeOf(entity).Elem())
	copied.Elem().Set(reflect.ValueOf(entity).Elem())
	shallow := copied.Interface()
	meta := engine.MetaOf(shallow)
	if meta.DeletedAt != nil {
		return nil, &tenantitem.InvalidError{What: "entity", Reason: "its DeletedAt is set, which no write of an entity can do", Hint: "use Delete and Restore; leave DeletedAt nil"}
	}
	if ttl := meta.TTL; ttl != nil && *ttl != -1 && (*ttl < 1 || *ttl > math.MaxInt32) {
		return nil, &tenantitem.InvalidError{What: "ttl", Reason: fmt.Sprintf("it is %d", *ttl), Hint: "give 1 to 2147483647 seconds, -1 for never, or nil for the container's default"}
	}
	if err := s.c.CheckExpiry(shallow); err != nil {
		return nil, err
	}
	meta.ETag, meta.TS = "", 0
	body, err := codec.Encode(shallow)
	if err != nil {
		return nil, engine.RefusedValue("entity", err)
	}
	return s.c.MarkBody(documents.WithUnknown(entity, body), marks, hidden)
}
