package repository

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/codec"
)

// answer returns the results of the operations. Where a companion changed the
// document of an operation once more, its etag is the newer one, and the
// entity gets what was changed.
func (t *transaction) answer(sent []operation, results []result) []result {
	etags := map[document]string{}
	for i := len(t.ops); i < len(sent) && i < len(results); i++ {
		etags[document{sent[i].species, sent[i].id}] = results[i].etag
	}
	for i := range t.ops {
		if etag, ok := etags[document{t.ops[i].species, t.ops[i].id}]; ok {
			results[i].etag = etag
		}
	}
	for _, c := range t.own {
		raw, err := c.members()
		for i := range t.ops {
			if op := &t.ops[i]; err == nil && op.entity != nil && op.species == c.Species.core && op.id == c.ID {
				err = codec.Decode(raw, op.entity)
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

// writeOne applies one operation of a verb with what has to change with it.
// The error is what the service answered about the operation itself.
func (k *call) writeOne(ctx context.Context, at *partition, op operation) (result, error) {
	one := call{core: k.core, op: k.op, at: at, id: k.id, throttled: k.throttled, watch: k.watch, contents: op.kind == opPatch}
	results, err := one.transact(ctx, []operation{op}, false)
	if err == nil {
		return results[0], nil
	}
	var failed *BatchError
	if errors.As(err, &failed) && !errors.Is(err, ErrAmbiguous) {
		err = &refusal{status: failed.Status, response: &azcore.ResponseError{StatusCode: failed.Status, ErrorCode: strconv.Itoa(failed.Status)}}
	}
	return result{}, err
}
