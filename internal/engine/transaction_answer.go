package engine

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

// WriteOne applies one operation of a verb with what has to change with it.
// The error is what the service answered about the operation itself.
func (k *Call) WriteOne(ctx context.Context, at *Partition, op Operation) (Result, error) {
	one := Call{Collection: k.Collection, Op: k.Op, At: at, ID: k.ID, throttled: k.throttled, Watch: k.Watch, contents: op.Kind == OpPatch}
	results, err := one.transact(ctx, []Operation{op}, false)
	if err == nil {
		return results[0], nil
	}
	var failed *BatchError
	if errors.As(err, &failed) && !errors.Is(err, ErrAmbiguous) {
		err = &Refusal{Status: failed.Status, response: &azcore.ResponseError{StatusCode: failed.Status, ErrorCode: strconv.Itoa(failed.Status)}}
	}
	return Result{}, err
}
