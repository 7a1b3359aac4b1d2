package engine

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Call is one verb under way: what it says in errors, and what it may cost.
type Call struct {
	Collection *Collection
	Op         string
	At         *Partition
	ID         string
	// Exempt says that reads are about an earlier write of the call.
	Exempt bool
	// contents asks for the documents that are written.
	contents bool
	// batch sends one operation as a batch too, so that its answer is one.
	batch bool
	// lost says that an answer to one of the call's writes was lost.
	lost bool
	// throttled, where set, hears of every refusal for lack of throughput.
	throttled func()
	// Into is what documents are read into. Defaults to the collection's entity.
	Into  reflect.Type
	Watch *watch // nil without telemetry
	cost  rowCost
}

// Fail wraps what went wrong into the package's error; nil stays nil.
func (k *Call) Fail(err error) error {
	if err == nil {
		return nil
	}
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	e := &Error{Op: k.Op, EntityType: k.Collection.entityType, TenantID: k.At.Tenant, ID: k.ID, Err: err}
	e.Hint, e.kind = sentinelFor(StatusOf(err))
	switch {
	case errors.Is(err, ErrAmbiguous):
		e.kind, e.Hint = ErrAmbiguous, "read the document to see whether the write took effect before repeating it"
	case errors.Is(err, ErrTenantMismatch):
		e.Hint = "open the scope with the tenant that the entity and the context name"
	case IsPartitionFull(err):
		e.Hint = "the logical partition is full: delete or shrink documents of it, or choose a key with more values"
	case StatusOf(err) == http.StatusForbidden:
		if denial := cosmos.DenialOf(err); denial != nil {
			e.Hint = denial.Hint()
		}
	}
	return e
}

// Start is the part of every verb that comes before any request.
func (k *Call) Start(ctx context.Context) error {
	if k.At.Err != nil {
		return k.At.Err
	}
	if err := k.At.checkTenant(ctx); err != nil {
		return err
	}
	if handed, ok := ctx.Value(sessionKey{}).(contextSessions); ok && handed.err != nil {
		return handed.err
	}
	return ctx.Err()
}

// exchange is one call into the SDK under way.
type exchange struct {
	cosmos.Exchange
	// exempt says that the call finds out about an earlier write, or repeats
	// one, so that a used up budget must not stop it.
	exempt bool
	// pinned says that the call names a physical partition: when that is gone,
	// asking again would not help.
	pinned bool
	// at is the partition that the call is about; nil for none.
	at *Partition
	// counted says that the request is in the tally already, so that once does not
	// count it when the SDK returns.
	counted bool
}

// once makes one call into the SDK, counts it, and notes how far it saw.
func (k *Call) once(ctx context.Context, x *exchange, send func(context.Context) (cosmos.Answer, error)) error {
	if !x.exempt && tallyFrom(ctx).exhausted() {
		return ErrBudget
	}
	if all := k.ceilings(ctx); len(all) > 0 {
		return k.underCeilings(ctx, all, x, send)
	}
	return k.sendOnce(ctx, x, send)
}

func (k *Call) sendOnce(ctx context.Context, x *exchange, send func(context.Context) (cosmos.Answer, error)) error {
	tally := tallyFrom(ctx)
	x.Reset()
	if x.counted = false; tally != nil {
		x.Meter = (*meter)(tally)
	}
	answer, err := send(k.Collection.attempts.Context(ctx, &x.Exchange, k.Collection.warm.Load()))
	k.Collection.noteClient(x)
	if err != nil {
		header := headerOf(err)
		if !x.Seen() && !x.counted {
			tally.add(cosmos.ChargeOf(header))
		}
		if header != nil {
			k.Collection.warm.Store(true)
			k.Collection.sessions.note(header)
			k.Collection.sessions.learn(x.at, header)
		}
		return err
	}
	k.Collection.warm.Store(true)
	if !x.Seen() && !x.counted {
		tally.add(answer.Charge)
	}
	k.Collection.sessions.note(answer.Header)
	k.Collection.sessions.learn(x.at, answer.Header)
	return nil
}

// meterFailure counts and notes an answer that the SDK does not take for an error and
// that the caller turns into one.
func (k *Call) meterFailure(ctx context.Context, x *exchange, answer cosmos.Answer) {
	if !x.Seen() && !x.counted {
		tallyFrom(ctx).add(answer.Charge)
		x.counted = true
	}
	k.Collection.sessions.note(answer.Header)
}

// options go with every request of the call.
func (k *Call) options(ctx context.Context, session *string) cosmos.Options {
	return cosmos.Options{Session: session, Priority: priorityFrom(ctx), Bucket: bucketFrom(ctx), Contents: k.contents}
}
