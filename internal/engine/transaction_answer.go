package engine

import (
	"encoding/json"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
)

// answer returns the results of the operations. Where a companion changed the
// document of an operation once more, its etag is the newer one, and the
// entity gets what was changed.
func (t *transaction) answer(sent []Operation, results []Result) []Result {
	etags := map[document]string{}
	for i := len(t.ops); i < len(sent) && i < len(results); i++ {
		etags[document{sent[i].collection, sent[i].ID}] = results[i].ETag
	}
	for i := range t.ops {
		if etag, ok := etags[document{t.ops[i].collection, t.ops[i].ID}]; ok {
			results[i].ETag = etag
		}
	}
	for _, c := range t.own {
		raw, err := c.members()
		for i := range t.ops {
			if op := &t.ops[i]; err == nil && op.Entity != nil && op.collection == c.Collection && op.ID == c.ID {
				err = codec.Decode(raw, op.Entity)
			}
		}
	}
	return results[:min(len(t.ops), len(results))]
}

// members are the entity's own members that a companion sets, as a document.
func (c *Companion) members() ([]byte, error) {
	members := map[string]json.RawMessage{}
	for _, set := range c.Sets {
		if name := strings.TrimPrefix(set.Pointer, "/"); !strings.ContainsAny(name, "/~") && !strings.HasPrefix(name, "_") {
			members[name] = set.Value
		}
	}
	return codec.Encode(members)
}
