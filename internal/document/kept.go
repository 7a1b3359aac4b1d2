// Package document knows what stands in a stored document beside the members
// of its struct: those of the service, those of Grove, and those that another
// writer put there, which no write may lose.
//
// An entity carries what was read with it in a [Kept], inside its
// tenantitem.Meta, so that a replacement can carry it forward.
package document

import (
	"bytes"
	"reflect"

	"github.com/cosmosgrove/grove/internal/codec"
)

// SystemMembers are the service's own; it sets them anew at every write.
func SystemMembers() []string {
	return []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"}
}

// aside says what becomes of a top-level member that the struct does not have.
// The journal of a delete and the mark of a move are carried like another
// writer's members: a replacement of the version that was read loses neither.
func aside(name []byte) codec.Aside {
	if len(name) == 0 || name[0] != '_' {
		return codec.Unknown
	}
	switch string(name) {
	case Marks:
		return codec.Marks
	case Mark:
		return codec.Mark
	case "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn", "_metadata", Moved, Counted, Links:
		return codec.Ignored
	}
	return codec.Unknown
}

// IsOwn reports whether a top-level member is the service's or Grove's.
func IsOwn(name string) bool { return aside([]byte(name)) != codec.Unknown }

// Kept is what an entity carries of the document that it was read from, beside
// its fields. The zero value carries nothing.
//
// It holds text in a fixed form, so that an entity that was just written and
// the same one read are equal.
type Kept struct {
	marks, mark string
	// unknown is the document without the members that IsOwn names; empty
	// where the struct has all members.
	unknown string
}

func (k *Kept) keptDocument() *Kept { return k }

// carrier is a pointer to an entity with a Kept in it.
type carrier interface{ keptDocument() *Kept }

// Of returns what an entity, given as a pointer, carries; nil where it has no
// place for it.
func Of(entity any) *Kept {
	if c, ok := entity.(carrier); ok {
		return c.keptDocument()
	}
	return nil
}

// Earlier returns the marks of earlier writes that an entity, given as a
// pointer, carries: the list, newest first, and the one of the last patch.
// Where something else stands there, there are none.
//
// It is no method: every entity of an application would have it.
func Earlier(entity any) (list []string, last string) {
	k := Of(entity)
	if k == nil {
		return nil, ""
	}
	return textsOf(k.marks), textOf(k.mark)
}

func textsOf(raw string) []string {
	var list []string
	if raw == "" || codec.Decode([]byte(raw), &list) != nil {
		return nil
	}
	return list
}

func textOf(raw string) string {
	var s string
	if raw == "" || codec.Decode([]byte(raw), &s) != nil {
		return ""
	}
	return s
}

// takeIn is no method for the same reason as [Earlier].
func takeIn(k *Kept, raw []byte, extra codec.Extra) {
	*k = Kept{marks: extra.Marks, mark: extra.Mark}
	if extra.Unknown {
		k.unknown = string(codec.Canonical(raw, IsOwn))
	}
}

// Decode reads a whole stored document into an entity, given as a pointer.
func Decode(raw []byte, entity any) error {
	extra, err := codec.NewReader(aside).Document(raw, entity)
	if err == nil {
		if k := Of(entity); k != nil {
			takeIn(k, raw, extra)
		}
	}
	return err
}

// Page reads the documents of a feed page. into gives a pointer to read the
// next one into; nil reads nothing. take gets it, the document, which is good
// until take returns, and the error that this one document has. The page's own
// error is that of a page that is none.
func Page(body []byte, into func() any, take func(entity any, raw []byte, err error) bool) error {
	return codec.NewReader(aside).Page(body, into, func(v any, raw []byte, extra codec.Extra, err error) bool {
		if err == nil && v != nil {
			if k := Of(v); k != nil {
				takeIn(k, raw, extra)
			}
		}
		return take(v, raw, err)
	})
}

// WithUnknown returns the encoded entity with the members that the struct does
// not have and that were read with it.
func WithUnknown(entity any, body []byte) []byte {
	k := Of(entity)
	if k == nil || k.unknown == "" {
		return body
	}
	return codec.KeepUnknown(reflect.TypeOf(entity), []byte(k.unknown), body, IsOwn)
}

// Wrote makes an entity carry what was just stored of it.
func Wrote(entity any, body []byte) {
	k := Of(entity)
	if k == nil {
		return
	}
	unknown := k.unknown
	*k = Kept{}
	if unknown != "" {
		k.unknown = string(codec.Canonical(body, IsOwn))
	}
	// Grove's own members stand behind the entity's.
	const name = `,"` + Marks + `":`
	if i := bytes.LastIndex(body, []byte(name)); i >= 0 {
		k.marks = string(body[i+len(name) : len(body)-1])
	}
}

// Forget drops what an entity carries.
func Forget(entity any) {
	if k := Of(entity); k != nil {
		*k = Kept{}
	}
}
