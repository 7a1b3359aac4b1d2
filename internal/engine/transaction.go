package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

// errBatchFull says that operations and their companions do not fit into one
// batch. Nothing was sent.
var errBatchFull = errors.New("the operations and what changes with them do not fit into one batch")

// transact sends operations as one batch, together with what others say has to
// change with them; see [TransactionHook]. Without others it is apply.
//
// What is said depends on what is stored. Therefore every operation is bound
// to the version of its document that was looked at, and is refused when
// another writer was faster; then everything is looked at again. After
// maxMutations times the operations go alone.
//
// Where the companions do not fit, they are left out, or, when the caller
// divides, it is errBatchFull.
func (k *Call) transact(ctx context.Context, ops []Operation, divides bool) ([]Result, error) {
	others := transactionHooks(ops)
	if len(others) == 0 && divides {
		return k.apply(ctx, k.At, ops)
	}
	if len(others) == 0 {
		return k.applyReading(ctx, ops)
	}
	t := transaction{call: k, ops: ops, others: others}
	defer func() { t.done() }()
	for ; t.attempt < MaxMutations; t.attempt++ {
		sent, err := t.look(ctx)
		if err != nil {
			return nil, err
		}
		if len(sent) > MaxBatchOperations || batchSize(sent) > tenantitem.MaxDocumentBytes {
			if divides && len(ops) > 1 {
				return nil, errBatchFull
			}
			sent = t.fitting(sent)
		}
		results, err := k.apply(ctx, k.At, sent)
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
	return k.apply(ctx, k.At, ops)
}

// transaction is one call of transact.
type transaction struct {
	call    *Call
	ops     []Operation
	others  []TransactionHook
	attempt int

	// bound are the operations, each on the condition that its document is as it
	// was read, and ours says which of these conditions the caller did not ask for.
	bound []Operation
	ours  []bool
	own   []Companion // of the operations' own documents
	// refused is the etag of a condition of ours that was not met, by the index of
	// its operation.
	refused map[int]string
	// dropped are documents whose companion the service does not take, whatever
	// is stored; the transaction goes on without it.
	dropped map[document]bool
	yield   func()
}

// document names one of a logical partition. An id is only one entity type's at a
// time, but a batch may give it to another.
type document struct {
	core *Collection
	id   string
}

// look reads what is stored and asks what has to change with it. It returns
// the operations with their companions.
func (t *transaction) look(ctx context.Context) ([]Operation, error) {
	before, err := t.before(ctx)
	if err != nil {
		return nil, err
	}
	t.bound, t.ours, t.own = slices.Clone(t.ops), make([]bool, len(t.ops)), nil
	tx := Transaction{TenantID: t.call.At.Tenant, Key: t.call.Collection.outlineKey(*t.call.At), Again: t.attempt > 0}
	at := map[document]int{}
	stale := false
	for i := range t.bound {
		op := &t.bound[i]
		if !op.told() {
			continue
		}
		d := document{op.collection, op.ID}
		n, seen := at[d]
		if !seen {
			n = len(tx.Changes)
			at[d] = n
			tx.Changes = append(tx.Changes, Change{Collection: op.collection, ID: op.ID, Before: before[d], After: before[d]})
			// The caller may know a newer version than this read did, or an
			// older one. Either way nothing can be said, and the service decides.
			stale = stale || op.ETag != "" && (before[d] == nil || op.ETag != before[d].ETag)
			if t.ours[i] = op.bind(before[d]); t.ours[i] && t.refused[i] == op.ETag {
				// It is not the version that the service refuses.
				t.ours[i], op.ETag = false, t.ops[i].ETag
			}
		}
		c := &tx.Changes[n]
		c.After, c.Upsert = op.after(c.After), c.Upsert || op.Kind == OpUpsert
		if c.After != nil {
			c.After.ID, c.After.Key, c.After.ETag = op.ID, op.collection.outlineKey(*t.call.At), ""
		}
	}
	if stale {
		return t.bound, nil
	}
	return t.accompanied(ctx, tx, at)
}

// accompanied asks for the companions of a transaction.
func (t *transaction) accompanied(ctx context.Context, tx Transaction, at map[document]int) ([]Operation, error) {
	sent := t.bound
	for _, other := range t.others {
		companions, err := other.Companions(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, c := range companions {
			d := document{c.Collection, c.ID}
			if t.dropped[d] {
				continue
			}
			op, err := c.op(tx.TenantID)
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
func (op *Operation) bind(before *Document) bool {
	switch {
	case op.ETag != "" || op.Kind == OpCreate:
		return false
	case before != nil:
		op.ETag = before.ETag
	case op.Kind == OpUpsert:
		op.ETag = noDocument
	default:
		return false // the service says that there is none
	}
	return true
}

// before reads the documents that the operations are about, in this partition.
func (t *transaction) before(ctx context.Context) (map[document]*Document, error) {
	found := map[document]*Document{}
	ids := map[*Collection][]string{}
	for _, op := range t.ops {
		switch {
		case !op.told() || op.Kind == OpCreate:
		case t.attempt == 0 && op.Before != nil && op.Before.Raw != nil:
			d, _, err := op.collection.ReadForm(op.Before.Raw)
			if err != nil {
				return nil, err
			}
			found[document{op.collection, op.ID}] = &d
		case !slices.Contains(ids[op.collection], op.ID):
			ids[op.collection] = append(ids[op.collection], op.ID)
		}
	}
	for c, of := range ids {
		names, _ := c.hooks.transaction.Members(c)
		docs, err := c.documentsAt(ctx, *t.call.At, of, names)
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
func (t *transaction) fitting(sent []Operation) []Operation {
	keep, size := len(t.ops), batchSize(t.bound)
	for keep < len(sent) && keep < MaxBatchOperations {
		if size += sent[keep].cost(); size > tenantitem.MaxDocumentBytes {
			break
		}
		keep++
	}
	t.own = slices.DeleteFunc(t.own, func(c Companion) bool {
		return !slices.ContainsFunc(sent[len(t.ops):keep], func(op Operation) bool { return op.collection == c.Collection && op.ID == c.ID })
	})
	return sent[:keep]
}

// again reports whether a refusal only says that another writer was faster, or
// that a companion can't be had.
func (t *transaction) again(err error, sent []Operation) bool {
	var failed *BatchError
	if errors.Is(err, ErrAmbiguous) || !errors.As(err, &failed) || isThrottled(err) {
		return false
	}
	if failed.Index >= len(t.ops) {
		if t.attempt > 0 && !IsRefusal(err) {
			// The hook made this companion from the document as it is now, so it
			// would make the same one again, and that would be refused again.
			if t.dropped == nil {
				t.dropped = map[document]bool{}
			}
			t.dropped[document{sent[failed.Index].collection, failed.ID}] = true
		}
		return true
	}
	if !t.ours[failed.Index] || !IsRefusal(err) {
		return false
	}
	t.refused = map[int]string{failed.Index: t.bound[failed.Index].ETag}
	return true
}

// ownFault keeps a companion from being taken for an operation of the caller's.
func (t *transaction) ownFault(err error) error {
	var failed *BatchError
	if !errors.As(err, &failed) || failed.Index < len(t.ops) {
		return err
	}
	alone := &Refusal{Status: failed.Status}
	if errors.Is(err, ErrAmbiguous) {
		return &ambiguousError{alone}
	}
	return alone
}

// pause waits a little before the next attempt. From the second one on, the
// writers of this process take turns.
func (t *transaction) pause(ctx context.Context) error {
	if t.yield == nil {
		yield, err := t.call.Collection.Mutexes.Lock(ctx, MutexKey{Tenant: t.call.At.Tenant, Key: KeyText(t.call.At.Values)})
		t.yield = yield
		return err
	}
	if !Sleep(ctx, rand.N(min(time.Millisecond<<min(t.attempt, 8), LongestPause/4))) {
		return errors.Join(ctx.Err(), &Refusal{Status: http.StatusPreconditionFailed})
	}
	return nil
}

func (t *transaction) done() {
	if t.yield != nil {
		t.yield()
	}
}

// MaxMutations bounds the attempts of one Mutate. Writers of this process wait
// for each other, so that many attempts mean many processes on one document.
const MaxMutations = 100
