package repository

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/codec"
)

// answer returns the results of the operations. Where a companion changed the
// document of an operation once more, its etag is the newer one, and the
// entity gets what was changed.
func (t *transaction) answer(sent []batchOp, results []azcosmos.TransactionalBatchResult) []azcosmos.TransactionalBatchResult {
	etags := map[document]azcore.ETag{}
	for i := len(t.ops); i < len(sent) && i < len(results); i++ {
		etags[document{sent[i].species, sent[i].id}] = results[i].ETag
	}
	for i := range t.ops {
		if etag, ok := etags[document{t.ops[i].species, t.ops[i].id}]; ok {
			results[i].ETag = etag
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

// besideOne sends one operation of a verb with what has to change with it. The
// error is what the service answered about the operation itself.
func (k *call) besideOne(ctx context.Context, at *partition, op batchOp) (azcosmos.TransactionalBatchResult, error) {
	one := call{core: k.core, op: k.op, at: at, id: k.id, throttled: k.throttled, watch: k.watch, contents: op.edits != nil}
	results, err := one.transact(ctx, []batchOp{op}, false)
	if err == nil {
		return results[0], nil
	}
	var failed *BatchError
	if errors.As(err, &failed) && !errors.Is(err, ErrAmbiguous) {
		err = &refusal{status: failed.Status, response: &azcore.ResponseError{StatusCode: failed.Status, ErrorCode: strconv.Itoa(failed.Status)}}
	}
	return azcosmos.TransactionalBatchResult{}, err
}

// patchBeside patches a document together with others and returns what it is
// afterwards.
func (s *Scope[T]) patchBeside(ctx context.Context, k *call, at *partition, op batchOp) (*T, error) {
	result, err := k.besideOne(ctx, at, op)
	if err != nil {
		return nil, err
	}
	if entity, err := s.decode(result.ResourceBody); err == nil && s.repo.meta(entity).ETag == string(result.ETag) {
		return entity, nil
	}
	// Its answer was lost, or a companion changed it once more. It is applied
	// whatever comes now.
	var raw []byte
	if _, err = k.settle(ctx, func(ctx context.Context) (o outcome, err error) {
		raw, err = k.readItem(ctx, at)
		return applied, err
	}); err == nil {
		var entity *T
		if entity, err = s.decode(raw); err == nil {
			return entity, nil
		}
	}
	return nil, &foreignError{errors.Join(errors.New("the patch was applied, but what it made could not be read"), err)}
}
