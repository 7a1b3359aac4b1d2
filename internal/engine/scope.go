package engine

import (
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Partition is where a scope looks: one logical partition, a prefix of a
// hierarchical key, or everything.
type Partition struct {
	Tenant string
	// global documents belong to no tenant; underTenant allows them in a
	// tenant's context.
	global, underTenant bool
	Values              []any // of the leading levels; all of them when full
	Full                bool
	All                 bool
	// Deleted shows the documents that the entity type hides.
	Deleted bool
	// mixed shows the documents of every entity type.
	mixed bool
	Key   cosmos.PartitionKey // set when full
	// physicalPartition narrows a partition that is not full to one physical one, and
	// min and max to a part of that one's keys.
	physicalPartition *physicalPartition
	min, max          string
	Err               error // what was wrong with In's arguments
}

// AllTenants is the partition of everything.
func AllTenants() Partition { return Partition{All: true, Key: cosmos.NewPartitionKey()} }

// Global is the partition of the documents of no tenant.
func (c *Collection) Global(key []any) Partition {
	if !c.layout.Global() {
		return Partition{Err: &tenantitem.InvalidError{What: "scope", Reason: c.entityType + " belongs to tenants", Hint: "use In(tenant), or register it with a Layout that is Global"}}
	}
	return c.Resolve(c.entityType, "", key)
}

// Given is the opposite of resolve: the values that In takes beside the tenant.
func (c *Collection) Given(values []any) []any {
	var more []any
	for i, v := range values {
		if c.levels[i].isGiven() {
			more = append(more, v)
		}
	}
	return more
}

// GivenOf is Given for the Key of a [Document].
func (c *Collection) GivenOf(key []any) []any { return c.Given(key[min(c.tenantsBefore(), len(key)):]) }

// tenantsBefore is how many values the key of an outline has before those of the levels.
func (c *Collection) tenantsBefore() int {
	if c.layout != nil {
		return 1
	}
	return 0
}

// GivenFields are the fields that fill the levels which In takes values for.
func (c *Collection) GivenFields() []string {
	var fields []string
	for _, level := range c.levels {
		if level.isGiven() {
			fields = append(fields, level.source.Field)
		}
	}
	return fields
}

// RequireFull is the check of every verb that is about one document.
func (p *Partition) RequireFull(c *Collection) error {
	switch {
	case p.Err != nil:
		return p.Err
	case p.Full:
		return nil
	case p.All:
		return &tenantitem.InvalidError{What: "scope", Reason: "all tenants can only be read with queries", Hint: "use In(tenant)"}
	}
	return &tenantitem.InvalidError{
		What:   "scope",
		Reason: fmt.Sprintf("it names %d of %d levels of the partition key", len(p.Values), len(c.levels)),
		Hint:   fmt.Sprintf("give In a value for %q too; a prefix serves queries only", c.levels[len(p.Values)].path),
	}
}

// RequireWritable is the check of every verb that is about a whole entity, which
// may say for itself where it lies.
func (p *Partition) RequireWritable(c *Collection) error {
	if p.Err == nil && !p.All && c.Derives() {
		return nil
	}
	return p.RequireFull(c)
}

// BindKey compares the entity's key fields with the scope's values, and fills
// those that are empty: in a new entity a zero number or false, too. In one
// that was read these are values.
func (c *Collection) BindKey(entity reflect.Value, at Partition, isNew bool) error {
	if !c.customKey {
		return nil
	}
	for i, level := range c.levels {
		if !level.isGiven() || i >= len(at.Values) {
			continue
		}
		field, ok := level.field.Value(entity)
		if !ok {
			return &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("a nil pointer stands before its key field %q", level.path), Hint: "fill it"}
		}
		if field.CanSet() && (level.isEmpty(field) || isNew && field.IsZero()) {
			if err := level.set(field, at.Values[i]); err != nil {
				return &tenantitem.InvalidError{What: "partition key value " + level.path, Reason: err.Error(), Hint: "give In a value of the field's type"}
			}
			continue
		}
		if field.CanSet() && field.CanFloat() && field.Float() == 0 {
			field.SetFloat(0) // and not -0, which the service does not know
		}
		have, err := level.value(field.Interface())
		if err != nil {
			return err
		}
		if have != at.Values[i] {
			return &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its %q is not the one that the scope names", level.path), Hint: "open the scope with the entity's own key values"}
		}
	}
	return nil
}
