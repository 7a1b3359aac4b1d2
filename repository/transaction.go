package repository

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

// errCrowded says that operations and their companions do not fit into one
// batch. Nothing was sent.
var errCrowded = errors.New("the operations and what changes with them do not fit into one batch")

// transact sends operations as one batch, together with what others say has to
// change with them; see [TransactionHook]. Without others it is apply.
//
// What is said depends on what is stored. Therefore every operation is bound
// to the version of its document that was looked at, and is refused when
// another writer was faster; then everything is looked at again. After
// maxMutations times the operations go alone.
//
// Where the companions do not fit, they are left out, or, when the caller
// divides, it is errCrowded.
func (k *call) transact(ctx context.Context, ops []operation, divides bool) ([]result, error) {
	others := transactionHooks(ops)
	if len(others) == 0 {
		return k.apply(ctx, k.at, ops)
	}
	t := transaction{call: k, ops: ops, others: others}
	defer func() { t.done() }()
	for ; t.attempt < maxMutations; t.attempt++ {
		sent, err := t.look(ctx)
		if err != nil {
			return nil, err
		}
		if len(sent) > MaxBatchOperations || batchSize(sent) > tenantitem.MaxDocumentBytes {
			if divides && len(ops) > 1 {
				return nil, errCrowded
			}
			sent = t.fitting(sent)
		}
		results, err := k.apply(ctx, k.at, sent)
		if err == nil {
			return t.answer(sent, results), nil
		}
		if !t.again(err, sent) {
			return nil, t.ownFault(err)
		}
		if err := t.pause(ctx); err != nil {
			return nil, err
		}
	}
	return k.apply(ctx, k.at, ops)
}

// transaction is one call of transact.
type transaction struct {
	call    *call
	ops     []operation
	others  []TransactionHook
	attempt int

	// bound are the operations on the condition of what was read, and ours
	// says which of the conditions the caller did not ask for.
	bound []operation
	ours  []bool
	own   []Companion // of the operations' own documents
	// refused is the etag that an operation of ours was refused with.
	refused map[int]string
	// dropped are documents whose companion is refused for what it is.
	dropped map[document]bool
	yield   func()
}

// document names one of a logical partition. An id is only one species' at a
// time, but a batch may give it to another.
type document struct {
	core *core
	id   string
}

// look reads what is stored and asks what has to change with it. It returns
// the operations with their companions.
func (t *transaction) look(ctx context.Context) ([]operation, error) {
	before, err := t.before(ctx)
	if err != nil {
		return nil, err
	}
	t.bound, t.ours, t.own = slices.Clone(t.ops), make([]bool, len(t.ops)), nil
	tx := Transaction{TenantID: t.call.at.tenant, Key: t.call.at.values, Again: t.attempt > 0}
	at := map[document]int{}
	stale := false
	for i := range t.bound {
		op := &t.bound[i]
		if !op.told() {
			continue
		}
		d := document{op.species, op.id}
		n, seen := at[d]
		if !seen {
			n = len(tx.Changes)
			at[d] = n
			tx.Changes = append(tx.Changes, Change{Species: &Species{op.species}, ID: op.id, Before: before[d], After: before[d]})
			// The caller may know a newer version than this read did, or an
			// older one. Either way nothing can be said, and the service decides.
			stale = stale || op.etag != "" && (before[d] == nil || op.etag != before[d].ETag)
			if t.ours[i] = op.bind(before[d]); t.ours[i] && t.refused[i] == op.etag {
				// It is not the version that the service refuses.
				t.ours[i], op.etag = false, t.ops[i].etag
			}
		}
		c := &tx.Changes[n]
		c.After, c.Upsert = op.after(c.After), c.Upsert || op.kind == opUpsert
		if c.After != nil {
			c.After.ID, c.After.Key, c.After.ETag = op.id, t.call.at.values, ""
		}
	}
	if stale {
		return t.bound, nil
	}
	return t.accompanied(ctx, tx, at)
}

// accompanied asks for the companions of a transaction.
func (t *transaction) accompanied(ctx context.Context, tx Transaction, at map[document]int) ([]operation, error) {
	sent := t.bound
	for _, other := range t.others {
		companions, err := other.Companions(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, c := range companions {
			d := document{c.Species.core, c.ID}
			if t.dropped[d] {
				continue
			}
			op, err := c.op()
			if err != nil {
				return nil, err
			}
			sent = append(sent, op)
			if _, own := at[d]; own {
				t.own = append(t.own, c)
			}
		}
	}
	return sent, nil
}

// bind puts an operation on the condition of what was read, where the caller
// named none. It reports whether it did.
func (op *operation) bind(before *Document) bool {
	switch {
	case op.etag != "" || op.kind == opCreate:
		return false
	case before != nil:
		op.etag = before.ETag
	case op.kind == opUpsert:
		op.etag = noDocument
	default:
		return false // the service says that there is none
	}
	return true
}

// before reads the documents that the operations are about, in this partition.
func (t *transaction) before(ctx context.Context) (map[document]*Document, error) {
	found := map[document]*Document{}
	ids := map[*core][]string{}
	for _, op := range t.ops {
		switch {
		case !op.told() || op.kind == opCreate:
		case t.attempt == 0 && op.before != nil && op.before.raw != nil:
			d, _, err := (&Species{op.species}).ReadDocument(op.before.raw)
			if err != nil {
				return nil, err
			}
			found[document{op.species, op.id}] = &d
		case !slices.Contains(ids[op.species], op.id):
			ids[op.species] = append(ids[op.species], op.id)
		}
	}
	for c, of := range ids {
		names, _ := c.hooks.Transaction.Members(&Species{c})
		docs, err := (&Species{c}).documentsAt(ctx, *t.call.at, of, names)
		if err != nil {
			return nil, err
		}
		for id, d := range docs {
			found[document{c, id}] = &d
		}
	}
	return found, nil
}

// fitting leaves out what does not fit.
func (t *transaction) fitting(sent []operation) []operation {
	keep, size := len(t.ops), batchSize(t.bound)
	for keep < len(sent) && keep < MaxBatchOperations {
		if size += sent[keep].cost(); size > tenantitem.MaxDocumentBytes {
			break
		}
		keep++
	}
	t.own = slices.DeleteFunc(t.own, func(c Companion) bool {
		return !slices.ContainsFunc(sent[len(t.ops):keep], func(op operation) bool { return op.species == c.Species.core && op.id == c.ID })
	})
	return sent[:keep]
}

// again reports whether a refusal only says that another writer was faster, or
// that a companion can't be had.
func (t *transaction) again(err error, sent []operation) bool {
	var failed *BatchError
	if errors.Is(err, ErrAmbiguous) || !errors.As(err, &failed) || isThrottled(err) {
		return false
	}
	if failed.Index >= len(t.ops) {
		if t.attempt > 0 && !isRefusal(err) {
			// It was asked for by who has read the document, so it will not do.
			if t.dropped == nil {
				t.dropped = map[document]bool{}
			}
			t.dropped[document{sent[failed.Index].species, failed.ID}] = true
		}
		return true
	}
	if !t.ours[failed.Index] || !isRefusal(err) {
		return false
	}
	t.refused = map[int]string{failed.Index: t.bound[failed.Index].etag}
	return true
}

// ownFault keeps a companion from being taken for an operation of the caller's.
func (t *transaction) ownFault(err error) error {
	var failed *BatchError
	if !errors.As(err, &failed) || failed.Index < len(t.ops) {
		return err
	}
	alone := &refusal{status: failed.Status}
	if errors.Is(err, ErrAmbiguous) {
		return &ambiguousError{alone}
	}
	return alone
}

// pause waits a little before the next attempt. From the second one on, the
// writers of this process take turns.
func (t *transaction) pause(ctx context.Context) error {
	if t.yield == nil {
		yield, err := t.call.core.mutexes.lock(ctx, mutexKey{tenant: t.call.at.tenant, key: keyText(t.call.at.values)})
		t.yield = yield
		return err
	}
	if !sleep(ctx, rand.N(min(time.Millisecond<<min(t.attempt, 8), longestPause/4))) {
		return errors.Join(ctx.Err(), &refusal{status: http.StatusPreconditionFailed})
	}
	return nil
}

func (t *transaction) done() {
	if t.yield != nil {
		t.yield()
	}
}
