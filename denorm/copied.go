package denorm

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// copied is one field with a denorm tag.
type copied struct {
	field *tenantitem.Field
	// source is the path of the source's field.
	source string
	mode   mode
	// alone is a struct of the field alone, by which its values are read and written
	// as the entity's are: with its pointers, and as text where its tag says so.
	alone reflect.Type
	// empty is how the field is stored when it holds nothing.
	empty json.RawMessage
}

func newCopied(f *tenantitem.Field) (copied, error) {
	tag := aloneName
	if f.Quoted {
		tag += ",string"
	}
	c := copied{field: f, source: f.Copy.Source, mode: modeOf(f.Copy.Mode)}
	c.alone = reflect.StructOf([]reflect.StructField{{
		Name: "Value", Type: f.Declared, Tag: reflect.StructTag("json:" + strconv.Quote(tag)),
	}})
	empty, err := c.canonical(nil)
	if err != nil {
		return c, err
	}
	if _, err := c.canonical(empty); err != nil {
		empty = json.RawMessage("null") // a text that may not be ""
	}
	c.empty = empty
	return c, nil
}

// decode reads a stored value; nothing there is the zero value, as null is.
func (c copied) decode(raw json.RawMessage) (reflect.Value, error) {
	v := reflect.New(c.alone)
	if raw == nil {
		return v.Elem().Field(0), nil
	}
	object := append(append([]byte(aloneOpening), raw...), '}')
	err := engine.DecodeValue(object, v.Interface())
	return v.Elem().Field(0), err
}

// encode writes a value as the entity stores it.
func (c copied) encode(value reflect.Value) (json.RawMessage, error) {
	v := reflect.New(c.alone)
	v.Elem().Field(0).Set(value)
	object, err := engine.EncodeValue(v.Interface())
	if err != nil && value.IsZero() {
		return json.RawMessage("null"), nil // one that its type does not write: where it is left out of the entity, it is nothing
	}
	if err != nil {
		return nil, err
	}
	return object[len(aloneOpening) : len(object)-1], nil
}

// The name of the member in an object that holds the field alone, which errors tell, and how
// such an object begins.
const (
	aloneName    = "copy"
	aloneOpening = `{"` + aloneName + `":`
)

// canonical writes a stored value as an entity with that field would store it.
func (c copied) canonical(raw json.RawMessage) (json.RawMessage, error) {
	v, err := c.decode(raw)
	if err != nil {
		return nil, err
	}
	if isEmptyList(v) {
		return json.RawMessage("null"), nil
	}
	return c.encode(v)
}

// same compares two stored values. To a pointer nothing there and null are one, and
// the zero value is another; to any other type the three are one, and so is
// an empty list.
func (c copied) same(a, b json.RawMessage) (bool, error) { return same(a, b, c.canonical) }

// set puts a stored value into the field of an entity.
func (c copied) set(in reflect.Value, raw json.RawMessage) error {
	value, err := c.decode(raw)
	if err != nil {
		return err
	}
	// An embedded struct that is not there holds the zero value already.
	if _, ok := c.field.DeclaredIn(in); ok || !value.IsZero() {
		c.field.SetIn(in, value)
	}
	return nil
}

// wants returns what the field should hold by its source's members.
func (c copied) wants(source *engine.Document) json.RawMessage {
	if raw := memberAt(source.Fields, c.source); raw != nil {
		return raw
	}
	return c.empty
}
