package engine

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Where a level of the key is computed from fields, or is the document's id, a
// scope does not name one logical partition. An entity says where it lies, an
// id sometimes does, and where it doesn't the document is looked for.

// Derives reports whether documents fill levels for themselves.
func (c *Collection) Derives() bool {
	for _, level := range c.levels {
		if level.isDerived() {
			return true
		}
	}
	return false
}

// completed fills the levels that a scope left open, by what the fields of a
// document hold. It fails with a layout.MissingError where one of them is not
// known.
func (c *Collection) completed(p Partition, field func(path string) (any, bool)) (Partition, error) {
	values := append(make([]any, 0, len(c.levels)), p.Values...)
	for _, level := range c.levels[len(values):] {
		value, err := level.fill(field)
		if err != nil {
			return p, err
		}
		if value, err = keyValue(level.path, value); err != nil {
			return p, err
		}
		values = append(values, value)
	}
	p.Values, p.Full, p.Key = values, true, cosmos.NewPartitionKey(values...)
	return p, nil
}

// fill is what fills a level, by what the fields of a document hold.
func (l keyLevel) fill(field func(path string) (any, bool)) (any, error) {
	if l.stored != nil {
		return l.stored.Value(field)
	}
	return layout.Level{Path: strings.Split(strings.TrimPrefix(l.path, "/"), "/"), Source: l.source}.Value(field)
}

// fieldsByID are the fields that are known of a document before it is read.
func (c *Collection) fieldsByID(p Partition, id string) func(string) (any, bool) {
	return func(path string) (any, bool) {
		switch path {
		case "id":
			return c.layout.StoredID(id), true
		case tenantField:
			return p.Tenant, p.Tenant != ""
		case entityField:
			return c.entityType, true
		}
		return nil, false
	}
}

// fieldsOfEntity are those of an entity, in the form in which they are stored.
func (c *Collection) fieldsOfEntity(entity reflect.Value) func(string) (any, bool) {
	return func(path string) (any, bool) {
		f, ok := c.model.Field(path)
		if !ok || strings.Contains(path, "[]") {
			return nil, false
		}
		v, ok := f.Value(entity)
		if !ok {
			return nil, false
		}
		encode := codec.Encode
		if f.Quoted {
			encode = codec.EncodeText
		}
		raw, err := encode(v.Interface())
		if err != nil {
			return nil, false
		}
		if f.Quoted {
			return string(raw), true
		}
		var out any
		if codec.Decode(raw, &out) != nil {
			return nil, false
		}
		if id, isText := out.(string); isText && path == "id" {
			out = c.layout.StoredID(id)
		}
		return out, true
	}
}

// PlaceOfEntity is where an entity of the scope lies.
func (c *Collection) PlaceOfEntity(at Partition, entity reflect.Value) (Partition, error) {
	if !c.Derives() {
		return at, nil
	}
	open := at
	for i, level := range c.levels {
		if level.isDerived() {
			open.Values, open.Full = open.Values[:min(i, len(open.Values))], false
			break
		}
	}
	place, err := c.completed(open, c.fieldsOfEntity(entity))
	var missing *layout.MissingError
	switch {
	case errors.As(err, &missing):
		return at, &tenantitem.InvalidError{What: "entity", Reason: err.Error(), Hint: "fill that field before the entity is written"}
	case err != nil:
		return at, err
	case at.Full && KeyText(at.Values) != KeyText(place.Values):
		return at, &tenantitem.InvalidError{What: "entity", Reason: "a field was changed that its partition key is made from", Hint: "create a new document and delete the old one"}
	}
	return place, nil
}

// Locate returns the one logical partition in which the call's document lies:
// what the id tells, or, for a query in every partition of the scope, what is
// found. It reports false where the scope names it already.
func (k *Call) Locate(ctx context.Context) (Partition, bool, error) {
	c, at := k.Collection, *k.At
	if at.Full || at.All || at.Err != nil || !c.Derives() {
		return at, false, nil //nolint:nilerr // the verb refuses a broken scope
	}
	place, err := c.completed(at, c.fieldsByID(at, k.ID))
	var missing *layout.MissingError
	if errors.As(err, &missing) {
		place, err = c.find(ctx, at, k.ID)
	}
	return place, true, err
}

// CompletedByID fills the levels that a scope left open where the id tells them.
func (c *Collection) CompletedByID(at Partition, id string) (Partition, bool) {
	if at.Full || at.All || at.Err != nil || !c.Derives() {
		return at, false
	}
	place, err := c.completed(at, c.fieldsByID(at, id))
	return place, err == nil
}

// find looks for a document in all partitions of a scope.
func (c *Collection) find(ctx context.Context, in Partition, id string) (Partition, error) {
	look := in
	look.Deleted = true
	found := in
	for outline, err := range c.documents(ctx, look, Where(Eq("id", id)).Limit(2), Outline()) {
		if err != nil {
			return in, err
		}
		if found.Full {
			return in, &tenantitem.InvalidError{What: "id", Reason: "two documents of the tenant have it, in different partitions", Hint: "give each document an id of its own, or write and read them with queries"}
		}
		if found, err = c.placeOf(outline.Key); err != nil {
			return in, err
		}
		found.Deleted = in.Deleted
	}
	if !found.Full {
		return in, ErrNotFound
	}
	return found, nil
}
