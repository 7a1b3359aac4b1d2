package repository

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// call is one verb under way: what it says in errors, and what it may cost.
type call struct {
	core *core
	op   string
	at   *partition
	id   string
	// settles says that reads are about an earlier write of the call.
	settles bool
	// contents asks a batch for the documents that it wrote.
	contents bool
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
	}
	return e
}

// start is the part of every verb that comes before any request.
func (k *call) start(ctx context.Context) error {
	if k.at.err != nil {
		return k.at.err
	}
	if err := k.at.fence(ctx); err != nil {
		return err
	}
	if handed, ok := ctx.Value(sessionKey{}).(handedOver); ok && handed.err != nil {
		return handed.err
	}
	return ctx.Err()
}

// once makes one call into the SDK, counts it, and notes how far it saw.
func (k *call) once(ctx context.Context, x *exchange, send func(context.Context) (azcosmos.Response, error)) error {
	x.tally, x.metered, x.paged, x.sent = tallyFrom(ctx), false, false, false
	x.repeated.Store(false)
	if !x.settles && x.tally.exhausted() {
		return ErrBudget
	}
	resp, err := send(k.core.attempt(ctx, x))
	if err != nil {
		header := headerOf(err)
		if !x.metered {
			x.tally.add(chargeOf(header))
		}
		if header != nil {
			k.core.warm.Store(true)
			k.core.sessions.note(header)
		}
		return err
	}
	k.core.warm.Store(true)
	if !x.metered {
		x.tally.add(float64(resp.RequestCharge))
	}
	if resp.RawResponse != nil {
		k.core.sessions.note(resp.RawResponse.Header)
	}
	return nil
}

// read repeats a call that changes nothing until it is answered: through
// throttling for as long as the policy allows, through a failing service a
// few times.
func (k *call) read(ctx context.Context, x *exchange, send func(context.Context) (azcosmos.Response, error)) error {
	var p pause
	for {
		err := k.once(ctx, x, send)
		switch {
		case err == nil:
			return nil
		case x.pinned && isGone(err):
			return err
		case isThrottled(err):
			k.noteThrottled(err)
			if !p.throttled(ctx, err) {
				return err
			}
		case isUnanswered(ctx, err):
			k.noteRepeated(err)
			if !p.failed(ctx) {
				return err
			}
		default:
			return err
		}
	}
}

// isThrottled reports the answers that say "later": nothing was changed, and
// the same request may be sent again.
func isThrottled(err error) bool {
	switch statusOf(err) {
	case http.StatusTooManyRequests, statusRetryWith, statusSessionBehind:
		return true
	}
	return false
}

// isUnanswered reports whether the service gave no usable answer, so that a
// write may or may not have taken effect.
func isUnanswered(ctx context.Context, err error) bool {
	if errors.Is(err, ErrBudget) || errors.Is(err, ErrInvalid) {
		return false
	}
	if status := statusOf(err); status != 0 {
		return isTransient(status)
	}
	var decode *decodeError
	return !errors.As(err, &decode) && !isUndecodable(err) && ctx.Err() == nil
}

// Waiting between attempts. Throttling is waited out for up to maxThrottled,
// which is what Microsoft's other SDKs allow; a service that does not answer
// gets maxFailures tries.
const (
	maxThrottled = 30 * time.Second
	maxFailures  = 8
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// pause counts the attempts of one call and waits between them.
type pause struct {
	throttles, failures int
	waited              time.Duration
}

func (p *pause) throttled(ctx context.Context, err error) bool {
	wait := max(retryAfter(err), backoff(p.throttles))
	// Callers that were refused together should not come back together.
	wait += rand.N(wait/4 + 1)
	p.throttles++
	p.waited += wait
	return p.waited <= maxThrottled && sleep(ctx, wait)
}

func (p *pause) failed(ctx context.Context) bool {
	p.failures++
	return p.failures < maxFailures && sleep(ctx, backoff(p.failures))
}

// backoff doubles from firstPause to longestPause, with full jitter.
func backoff(attempt int) time.Duration {
	return rand.N(min(firstPause<<min(attempt, 10), longestPause)) + time.Millisecond
}

// sleep reports false when the context ends, or would end, before the wait is over.
func sleep(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func retryAfter(err error) time.Duration {
	ms, _ := strconv.ParseInt(headerOf(err).Get("x-ms-retry-after-ms"), 10, 64)
	return time.Duration(ms) * time.Millisecond
}

// headerOf returns the headers of the answer that an error stands for; nil
// when there was none.
func headerOf(err error) http.Header {
	var response *azcore.ResponseError
	if errors.As(err, &response) && response.RawResponse != nil {
		return response.RawResponse.Header
	}
	return nil
}

// meterFailure counts and notes an answer that the SDK does not take for an error and
// that the caller turns into one.
func (k *call) meterFailure(ctx context.Context, resp azcosmos.Response) {
	if x := exchangeFrom(ctx); x != nil && !x.metered {
		x.tally.add(float64(resp.RequestCharge))
		x.metered = true
	}
	if resp.RawResponse != nil {
		k.core.sessions.note(resp.RawResponse.Header)
	}
}
