package engine

import (
	"bytes"
	"slices"

	"github.com/cosmosgrove/grove/internal/codec"
	documents "github.com/cosmosgrove/grove/internal/document"
)

// over returns an inserted document as it is stored over another one: with what that referred to as a former reference, since
// those who counted it there have to learn that it is gone. It is the inserted document itself where there is no such thing.
func (c *Contents) over(inserted, there []byte) ([]byte, error) {
	doc, was := c.FormOf(inserted), c.FormOf(there)
	now, left := referencesIn(doc, documents.Counted), referencesIn(doc, documents.Moved)
	more := false
	for _, name := range []string{documents.Counted, documents.Moved} {
		for field, ids := range referencesIn(was, name) {
			for _, id := range ids {
				if !slices.Contains(now[field], id) && !slices.Contains(left[field], id) {
					left[field], more = append(left[field], id), true
				}
			}
		}
	}
	if !more {
		return inserted, nil
	}
	raw, err := codec.Encode(left)
	if err != nil {
		return nil, err
	}
	if doc, err = codec.Without(doc, []string{documents.Moved}); err != nil {
		return nil, err
	}
	open := bytes.TrimSuffix(bytes.TrimSpace(doc), []byte("}"))
	out := slices.Concat(open, []byte(`,"`+documents.Moved+`":`), raw, []byte("}")) // an id stands before it
	return c.core.layout.Stored(out)
}

// referencesIn reads a hidden member that holds references by field.
func referencesIn(doc []byte, name string) map[string][]string {
	refs := map[string][]string{}
	codec.Members(doc, func(member string, value []byte) {
		if member == name && codec.Decode(value, &refs) != nil {
			refs = map[string][]string{}
		}
	})
	if refs == nil {
		refs = map[string][]string{}
	}
	return refs
}
