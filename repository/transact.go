package repository

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository/internal/codec"
	"github.com/cosmosgrove/grove/tenantitem"
)

// errCrowded says that operations and their companions do not fit into one
// batch. Nothing was sent.
var errCrowded = errors.New("the operations and what changes with them do not fit into one batch")

// transact sends operations as one batch, together with what others say has to
// change with them; see [Beside]. Without others it is execute.
//
// What is said depends on what is stored. Therefore every operation is bound
// to the version of its document that was looked at, and is refused when
// another writer was faster; then everything is looked at again.
//
// Where the companions do not fit, they are left out, or, when the caller
// divides, it is errCrowded.
func (k *call) transact(ctx context.Context, ops []batchOp, divides bool) ([]azcosmos.TransactionalBatchResult, error) {
	others := besides(ops)
	if len(others) == 0 {
		return k.execute(ctx, ops)
	}
	t := transaction{call: k, ops: ops, others: others}
	defer func() { t.done() }()
	for attempt := 0; ; attempt++ {
		sent, err := t.look(ctx, attempt)
		if err != nil {
			return nil, err
		}
		if len(sent) > MaxBatchOperations || attempt >= maxMutations || batchSize(sent) > tenantitem.MaxDocumentBytes {
			if divides && len(ops) > 1 {
				return nil, errCrowded
			}
			sent = t.fitting(sent, attempt)
		}
		results, err := k.execute(ctx, sent)
		if err == nil {
			return t.answer(sent, results), nil
		}
		if !t.again(err) {
			return nil, err
		}
		if err := t.pause(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// transaction is one call of transact.
type transaction struct {
	call   *call
	ops    []batchOp
	others []Beside

	// bound are the operations on the condition of what was read, and ours
	// says which of the conditions the caller did not ask for.
	bound []batchOp
	ours  []bool
	own   []Companion // of the operations' own documents
	// refused is the etag that an operation of ours was refused with.
	refused map[int]string
	yield   func()
}

// look reads what is stored and asks what has to change with it. It returns
// the operations with their companions.
func (t *transaction) look(ctx context.Context, attempt int) ([]batchOp, error) {
	before, err := t.before(ctx, attempt)
	if err != nil {
		return nil, err
	}
	t.bound, t.ours, t.own = append([]batchOp(nil), t.ops...), make([]bool, len(t.ops)), nil
	tx := Transaction{TenantID: t.call.at.tenant, Key: t.call.at.values, Again: attempt > 0}
	at := map[string]int{}
	stale := false
	for i := range t.bound {
		op := &t.bound[i]
		if op.after == nil || op.species.hooks.Beside == nil {
			continue
		}
		n, seen := at[op.id]
		if !seen {
			n = len(tx.Changes)
			at[op.id] = n
			tx.Changes = append(tx.Changes, Change{Species: &Species{op.species}, ID: op.id, Before: before[op.id], After: before[op.id]})
			// The caller may know a newer version than this read did, or an
			// older one. Either way nothing can be said, and the service decides.
			stale = stale || op.etag != "" && (before[op.id] == nil || op.etag != before[op.id].ETag)
			t.ours[i] = op.bind(before[op.id])
		}
		c := &tx.Changes[n]
		c.After, c.Put = op.after(c.After), c.Put || op.verb == "Put"
		if c.After != nil {
			c.After.ID, c.After.Key, c.After.ETag = op.id, t.call.at.values, ""
		}
	}
	for i, etag := range t.refused {
		if t.bound[i].etag == etag {
			t.ours[i] = false // it is not the version that the service refuses
			t.bound[i].etag = t.ops[i].etag
		}
	}
	if stale {
		return t.bound, nil
	}
	sent := t.bound
	for _, other := range t.others {
		companions, err := other.Companions(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, c := range companions {
			op, err := c.op()
			if err != nil {
				return nil, err
			}
			sent = append(sent, op)
			if _, own := at[c.ID]; own {
				t.own = append(t.own, c)
			}
		}
	}
	return sent, nil
}

// bind puts an operation on the condition of what was read, where the caller
// named none. It reports whether it did.
func (op *batchOp) bind(before *Document) bool {
	switch {
	case op.etag != "" || op.verb == "Create":
		return false
	case before != nil:
		op.etag = before.ETag
	case op.verb == "Put":
		op.etag = noDocument
	default:
		return false // the service says that there is none
	}
	return true
}

// before reads the documents that the operations are about.
func (t *transaction) before(ctx context.Context, attempt int) (map[string]*Document, error) {
	found := map[string]*Document{}
	ids := map[*core][]string{}
	for _, op := range t.ops {
		switch {
		case op.after == nil || op.species.hooks.Beside == nil || op.verb == "Create":
		case attempt == 0 && op.before != nil && op.before.raw != nil:
			d, _, err := (&Species{op.species}).ReadDocument(op.before.raw)
			if err != nil {
				return nil, err
			}
			found[op.id] = &d
		case !slices.Contains(ids[op.species], op.id):
			ids[op.species] = append(ids[op.species], op.id)
		}
	}
	for c, of := range ids {
		names, _ := c.hooks.Beside.Members(&Species{c})
		docs, err := (&Species{c}).documentsIn(ctx, *t.call.at, of, names)
		if err != nil {
			return nil, err
		}
		for id, d := range docs {
			found[id] = &d
		}
	}
	return found, nil
}

// fitting leaves out what does not fit.
func (t *transaction) fitting(sent []batchOp, attempt int) []batchOp {
	keep, size := len(t.ops), batchSize(t.bound)
	for keep < len(sent) && keep < MaxBatchOperations && attempt < maxMutations {
		if size += sent[keep].cost(); size > tenantitem.MaxDocumentBytes {
			break
		}
		keep++
	}
	kept := map[string]bool{}
	for _, op := range sent[len(t.ops):keep] {
		kept[op.id] = true
	}
	var own []Companion
	for _, c := range t.own {
		if kept[c.ID] {
			own = append(own, c)
		}
	}
	t.own = own
	return sent[:keep]
}

// cost is about how many bytes an operation takes in a batch.
func (op *batchOp) cost() int { return op.size + len(op.id) + len(op.etag) + operationOverhead }

func batchSize(ops []batchOp) int {
	size := 2
	for i := range ops {
		size += ops[i].cost()
	}
	return size
}

// again reports whether a refusal only says that another writer was faster.
func (t *transaction) again(err error) bool {
	var failed *BatchError
	if errors.Is(err, ErrAmbiguous) || !errors.As(err, &failed) || isThrottled(err) {
		return false
	}
	if failed.Index >= len(t.ops) {
		return true
	}
	if !t.ours[failed.Index] || !isRefusal(err) {
		return false
	}
	t.refused = map[int]string{failed.Index: t.bound[failed.Index].etag}
	return true
}

// pause waits a little before the next attempt. From the second one on, the
// writers of this process take turns.
func (t *transaction) pause(ctx context.Context, attempt int) error {
	if t.yield == nil {
		var err error
		if t.yield, err = t.call.core.turns.wait(ctx, turn{tenant: t.call.at.tenant, key: keyText(t.call.at.values)}); err != nil {
			return err
		}
		return nil
	}
	if !sleep(ctx, rand.N(min(time.Millisecond<<min(attempt, 8), longestPause/4))) {
		return context.Cause(ctx)
	}
	return nil
}

func (t *transaction) done() {
	if t.yield != nil {
		t.yield()
	}
}

// answer returns the results of the operations. Where a companion changed the
// document of an operation once more, its etag is the newer one, and the
// entity gets what was changed.
func (t *transaction) answer(sent []batchOp, results []azcosmos.TransactionalBatchResult) []azcosmos.TransactionalBatchResult {
	etags := map[string]azcore.ETag{}
	for i := len(t.ops); i < len(sent) && i < len(results); i++ {
		etags[sent[i].id] = results[i].ETag
	}
	for i := range t.ops {
		if etag, ok := etags[t.ops[i].id]; ok {
			results[i].ETag = etag
		}
	}
	for _, c := range t.own {
		members := map[string]json.RawMessage{}
		for _, set := range c.Sets {
			if name := strings.TrimPrefix(set.Pointer, "/"); !strings.ContainsAny(name, "/~") && !strings.HasPrefix(name, "_") {
				members[name] = set.Value
			}
		}
		raw, err := codec.Encode(members)
		for i := range t.ops {
			if err == nil && t.ops[i].id == c.ID && t.ops[i].entity != nil {
				err = codec.Decode(raw, t.ops[i].entity)
			}
		}
	}
	return results[:min(len(t.ops), len(results))]
}
