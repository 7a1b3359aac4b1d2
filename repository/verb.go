package repository

import (
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// To add a verb, write
//
//  1. a method of scope that does the work, in a file of its own, with an engine.Call (get.go, patch.go), and
//     before it a typed method of ScopeOf with the same name, which must not be inlined; for a
//     read, of reader, whose methods the comment of Reader (scope.go) lists.
//  2. its name in operationName (internal/engine/telemetry.go), or telemetry calls it a query.
//  3. the verb in Batch (batch.go), and in parented's ScopeOf, where it makes sense there.
//  4. tests that go through all verbs: bad input (badinput_test.go), malformed documents
//     (registry/malformed_verbs_test.go), lost answers (emulatortest/scenarios/verb_test.go).
//  5. an Example, a line in doc.go, the roles in docs/operations.md, the changelog.
//
// What becomes of a write is not the verb's matter: internal/engine/transaction.go and
// internal/engine/retry.go send it, and internal/engine/outcome.go decides about a lost answer.

// scope is a scope without its entity's Go type. What the verbs do is done
// here; entities are pointers to the collection's type.
type scope struct {
	c  *engine.Collection
	at engine.Partition
}

// bindEntity makes an entity one of this scope: it fills the tenant, the entity type,
// the id and the key's fields where they are empty, and refuses what
// contradicts the scope. It returns the partition that the entity lives in,
// which differs from the scope's when it is stored under an older name.
func (s *scope) bindEntity(entity any, newID bool) (engine.Partition, error) {
	c := s.c
	if isNil(entity) {
		return engine.Partition{}, &tenantitem.InvalidError{What: "entity", Reason: "it is nil", Hint: "pass a pointer to a filled struct"}
	}
	meta := engine.MetaOf(entity)
	switch meta.TenantID {
	case "":
		meta.TenantID = s.at.Tenant
	case s.at.Tenant:
	default:
		return engine.Partition{}, engine.ErrTenantMismatch
	}
	at := s.at
	switch {
	case meta.EntityType == "" || meta.EntityType == c.EntityType():
		meta.EntityType = c.EntityType()
	case c.IsEntityType(meta.EntityType):
		at = c.Renamed(at, meta.EntityType)
	default:
		return engine.Partition{}, &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its entityType is %q", meta.EntityType), Hint: fmt.Sprintf("leave it empty; this repository stores %q", c.EntityType())}
	}
	if meta.ID == "" && newID {
		id, err := tenantitem.NewID()
		if err != nil {
			return engine.Partition{}, err
		}
		meta.ID = id
	}
	if err := tenantitem.ValidateID(meta.ID); err != nil {
		return engine.Partition{}, err
	}
	value := reflect.ValueOf(entity).Elem()
	if err := c.BindKey(value, at, meta.ETag == ""); err != nil {
		return at, err
	}
	return c.PlaceOfEntity(at, value)
}

// isNil reports that an entity is a nil pointer.
func isNil(entity any) bool { return entity == nil || reflect.ValueOf(entity).IsNil() }

// located returns the scope of the one logical partition in which a document
// lies, see engine.Call.Locate.
func (s *scope) located(at engine.Partition) *scope { return &scope{s.c, at} }
