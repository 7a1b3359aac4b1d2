package layout

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
)

// MisplacedError says that a document's key is not what its fields come to, or
// that its id lacks the prefix: another writer follows another rule.
type MisplacedError struct{ Path string }

// Error names the path and no value.
func (e *MisplacedError) Error() string {
	return fmt.Sprintf("its %q is not what the registration makes of its fields", e.Path)
}

// object is a JSON object under construction.
type object struct{ bytes.Buffer }

func (o *object) add(name string, value []byte) {
	if o.Len() == 0 {
		o.WriteByte('{')
	} else {
		o.WriteByte(',')
	}
	o.Write(text(name))
	o.WriteByte(':')
	o.Write(value)
}

func (o *object) close() []byte {
	if o.Len() == 0 {
		o.WriteByte('{')
	}
	o.WriteByte('}')
	return o.Bytes()
}

// text writes a JSON string.
func text(s string) []byte {
	raw, err := codec.Encode(s)
	if err != nil {
		return []byte(`""`)
	}
	return raw
}

// Canonical returns the canonical form of a stored document. With an error of
// type [*MisplacedError] the document is returned too.
func (l *Layout) Canonical(raw []byte) ([]byte, error) {
	if l == nil {
		return raw, nil
	}
	c := canonicalizer{l: l}
	codec.Members(raw, c.top)
	if c.entityType == nil && (l.options.Typeless || l.options.TypeOptional) {
		c.out.add(EntityType, text(l.options.EntityType))
	}
	if c.foreign.Len() > 0 {
		c.out.add(outside, c.foreign.close())
	}
	if c.unmapped.Len() > 0 {
		c.out.add(inside, c.unmapped.close())
	}
	doc := c.out.close()
	if c.err == nil {
		c.err = l.checkLevels(raw, doc)
	}
	return doc, c.err
}

type canonicalizer struct {
	l                 *Layout
	out               object
	foreign, unmapped object // members without a canonical place
	entityType        []byte
	err               error
}

func (c *canonicalizer) top(name string, value []byte) {
	l := c.l
	switch {
	case l.options.Envelope != "" && name == l.options.Envelope:
		if len(value) > 0 && value[0] == '{' {
			codec.Members(value, c.inner)
			return
		}
		c.foreign.add(name, value)
	case l.isAdded(name):
	case name == ID:
		c.id(value)
	case name == outside, name == inside, name == stored:
		c.foreign.add(name, value)
	default:
		canonical, renamed := l.back[name]
		if !renamed {
			canonical = name
		}
		_, moved := l.names[canonical]
		switch {
		case !renamed && (moved || l.absent[name] || l.isWithin(name)):
			c.foreign.add(name, value)
		default:
			if canonical == EntityType {
				c.entityType = value
			}
			c.out.add(canonical, value)
		}
	}
}

func (c *canonicalizer) inner(name string, value []byte) {
	canonical, renamed := c.l.within[name]
	if !renamed {
		canonical = name
	}
	if _, moved := c.l.names[canonical]; !renamed && moved || !c.l.isWithin(canonical) {
		c.unmapped.add(name, value)
		return
	}
	c.out.add(canonical, value)
}

func (c *canonicalizer) id(value []byte) {
	prefix := c.l.options.IDPrefix
	if prefix == "" {
		c.out.add(ID, value)
		return
	}
	var id string
	err := codec.Decode(value, &id)
	rest, ok := strings.CutPrefix(id, prefix)
	if err != nil || !ok || rest == "" {
		c.err = &MisplacedError{Path: "/" + ID}
		c.out.add(ID, value)
		return
	}
	c.out.add(ID, text(rest))
}

// isAdded reports whether a stored member is a level of the key and nothing else.
func (l *Layout) isAdded(name string) bool {
	for _, level := range l.added {
		if len(level.Path) == 1 && level.Path[0] == name {
			return true
		}
	}
	return false
}

// checkLevels compares the levels that are made of other members with them.
func (l *Layout) checkLevels(raw, doc []byte) error {
	for _, level := range l.added {
		want, err := level.Value(l.fields(doc))
		have, there := fieldIn(raw, level.Path)
		if err != nil || !there || !reflect.DeepEqual(have, want) {
			return &MisplacedError{Path: level.String()}
		}
	}
	return nil
}

// Stored returns the stored form of a canonical document, with the levels of
// the key that are made of other members. It fails with a [*MissingError]
// where one of them is empty.
func (l *Layout) Stored(doc []byte) ([]byte, error) {
	if l == nil {
		return doc, nil
	}
	var out, enveloped object
	codec.Members(doc, func(name string, value []byte) {
		switch {
		case name == outside:
			codec.Members(value, out.add)
			return
		case name == inside:
			codec.Members(value, enveloped.add)
			return
		case l.absent[name]:
			return
		case name == ID && l.options.IDPrefix != "":
			var id string
			if codec.Decode(value, &id) == nil {
				value = text(l.StoredID(id))
			}
		}
		to := name
		if renamed, ok := l.names[name]; ok {
			to = renamed
		}
		if l.isWithin(name) {
			enveloped.add(to, value)
		} else {
			out.add(to, value)
		}
	})
	if l.options.Envelope != "" && (enveloped.Len() > 0 || !hasMember(out.Bytes(), l.options.Envelope)) {
		out.add(l.options.Envelope, enveloped.close())
	}
	if len(l.added) == 0 {
		return out.close(), nil
	}
	return l.withLevels(doc, &out)
}

// hasMember looks into an object that is not closed yet.
func hasMember(open []byte, name string) bool {
	found := false
	codec.Members(append(append([]byte{}, open...), '}'), func(n string, _ []byte) { found = found || n == name })
	return found
}

// withLevels adds the levels that are made of other members.
func (l *Layout) withLevels(doc []byte, out *object) ([]byte, error) {
	var nested []Level
	for _, level := range l.added {
		if len(level.Path) > 1 {
			nested = append(nested, level)
			continue
		}
		value, err := l.levelJSON(doc, level)
		if err != nil {
			return nil, err
		}
		out.add(level.Path[0], value)
	}
	raw := out.close()
	for _, level := range nested {
		value, err := l.levelJSON(doc, level)
		if err != nil {
			return nil, err
		}
		raw = setAt(raw, level.Path, value)
	}
	return raw, nil
}

func (l *Layout) levelJSON(doc []byte, level Level) ([]byte, error) {
	value, err := level.Value(l.fields(doc))
	if err != nil {
		return nil, err
	}
	return codec.Encode(value)
}

// setAt returns an object with a value at a path. What stands in the path's
// way and is no object is replaced.
func setAt(raw []byte, path []string, value []byte) []byte {
	var out object
	found := false
	codec.Members(raw, func(name string, have []byte) {
		if name != path[0] {
			out.add(name, have)
			return
		}
		found = true
		if len(path) == 1 {
			out.add(name, value)
		} else {
			out.add(name, setAt(have, path[1:], value))
		}
	})
	if !found {
		if len(path) > 1 {
			value = setAt([]byte("{}"), path[1:], value)
		}
		out.add(path[0], value)
	}
	return out.close()
}

// fields looks up canonical fields; the id is the stored one.
func (l *Layout) fields(doc []byte) func(string) (any, bool) {
	return func(path string) (any, bool) {
		v, ok := fieldIn(doc, strings.Split(path, "."))
		if id, isText := v.(string); isText && path == ID {
			v = l.StoredID(id)
		}
		return v, ok
	}
}

// KeyOf returns the values of all levels by what a canonical document holds.
// Levels that nothing fills are nil.
func (l *Layout) KeyOf(doc []byte) ([]any, error) {
	out := make([]any, len(l.options.Levels))
	for i, level := range l.options.Levels {
		value, err := level.Value(l.fields(doc))
		var missing *MissingError
		if err != nil && !errors.As(err, &missing) {
			return nil, err
		}
		out[i] = value
	}
	return out, nil
}

// StoredKey returns the values of all levels as they stand in a stored document.
func (l *Layout) StoredKey(raw []byte) []any {
	out := make([]any, len(l.options.Levels))
	for i, level := range l.options.Levels {
		out[i], _ = fieldIn(raw, level.Path)
	}
	return out
}

// fieldIn follows a path to a value.
func fieldIn(raw []byte, path []string) (value any, ok bool) {
	codec.Members(raw, func(name string, member []byte) {
		if name != path[0] {
			return
		}
		if len(path) > 1 {
			value, ok = fieldIn(member, path[1:])
			return
		}
		value = nil
		ok = codec.Decode(member, &value) == nil
	})
	return value, ok
}

// CanonicalIn maps a document that is a member of a row. A misplaced one gets a
// timestamp that no entity can hold, so that it fails where it is decoded, by
// its id.
func (l *Layout) CanonicalIn(row []byte, member string) []byte {
	if l == nil {
		return row
	}
	var out object
	codec.Members(row, func(name string, value []byte) {
		if name == member {
			doc, err := l.Canonical(value)
			if err != nil {
				doc = setAt(doc, []string{"_ts"}, text(err.Error()))
			}
			value = doc
		}
		out.add(name, value)
	})
	return out.close()
}
