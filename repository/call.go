package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// call is one verb under way: what it says in errors, and what it may cost.
type call struct {
	core *core
	op   string
	at   *partition
	id   string
	// exempt says that reads are about an earlier write of the call.
	exempt bool
	// contents asks for the documents that are written.
	contents bool
	// batch sends one operation as a batch too, so that its answer is one.
	batch bool
	// throttled, where set, hears of every refusal for lack of throughput.
	throttled func()
	watch     *watch // nil without telemetry
	cost      rowCost
}

// fail wraps what went wrong into the package's error; nil stays nil.
func (k *call) fail(err error) error {
	if err == nil {
		return nil
	}
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	e := &Error{Op: k.op, EntityType: k.core.entityType, TenantID: k.at.tenant, ID: k.id, Err: err}
	e.Hint, e.kind = sentinelFor(statusOf(err))
	switch {
	case errors.Is(err, ErrAmbiguous):
		e.kind, e.Hint = ErrAmbiguous, "read the document to see whether the write took effect before repeating it"
	case errors.Is(err, ErrTenantMismatch):
		e.Hint = "open the scope with the tenant that the entity and the context name"
	case statusOf(err) == http.StatusForbidden:
		if denial := cosmos.DenialOf(err); denial != nil {
			e.Hint = denial.Hint()
		}
	}
	return e
}

// start is the part of every verb that comes before any request.
func (k *call) start(ctx context.Context) error {
	if k.at.err != nil {
		return k.at.err
	}
	if err := k.at.checkTenant(ctx); err != nil {
		return err
	}
	if handed, ok := ctx.Value(sessionKey{}).(handedOver); ok && handed.err != nil {
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
	at *partition
	// counted says that there is nothing to be counted afterwards.
	counted bool
}

// once makes one call into the SDK, counts it, and notes how far it saw.
func (k *call) once(ctx context.Context, x *exchange, send func(context.Context) (azcosmos.Response, error)) error {
	tally := tallyFrom(ctx)
	if !x.exempt && tally.exhausted() {
		return ErrBudget
	}
	x.Reset()
	if x.counted = false; tally != nil {
		x.Meter = (*meter)(tally)
	}
	resp, err := send(k.core.attempts.Context(ctx, &x.Exchange, k.core.warm.Load()))
	k.core.noteClient(x)
	if err != nil {
		header := headerOf(err)
		if !x.Seen() && !x.counted {
			tally.add(cosmos.ChargeOf(header))
		}
		if header != nil {
			k.core.warm.Store(true)
			k.core.sessions.note(header)
			k.core.sessions.learn(x.at, header)
		}
		return err
	}
	k.core.warm.Store(true)
	if !x.Seen() && !x.counted {
		tally.add(float64(resp.RequestCharge))
	}
	if resp.RawResponse != nil {
		k.core.sessions.note(resp.RawResponse.Header)
		k.core.sessions.learn(x.at, resp.RawResponse.Header)
	}
	return nil
}

// meterFailure counts and notes an answer that the SDK does not take for an error and
// that the caller turns into one.
func (k *call) meterFailure(ctx context.Context, x *exchange, resp azcosmos.Response) {
	if !x.Seen() && !x.counted {
		tallyFrom(ctx).add(float64(resp.RequestCharge))
		x.counted = true
	}
	if resp.RawResponse != nil {
		k.core.sessions.note(resp.RawResponse.Header)
	}
}
