package repository

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// call is one verb under way: what it says in errors, and what it may cost.
type call struct {
	core *core
	op   string
	at   *partition
	id   string
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
	e.kind, e.Hint = sentinelFor(statusOf(err))
	if errors.Is(err, ErrTenantMismatch) {
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
	return ctx.Err()
}

// singleAttempt turns the SDK's own retries off: they know nothing of 449 and
// stop after three, so the loops below take their place.
var singleAttempt = policy.RetryOptions{MaxRetries: -1}

// once makes one call into the SDK and counts it.
func (k *call) once(ctx context.Context, x *exchange, send func(context.Context) (azcosmos.Response, error)) error {
	x.tally, x.metered, x.paged = tallyFrom(ctx), false, false
	if x.tally.exhausted() {
		return ErrBudget
	}
	under := context.WithValue(ctx, exchangeKey{}, x)
	// Until a first answer came, the SDK may be reading the account with this
	// same context; it keeps a failure of that read, so it gets its retries.
	if k.core.warm.Load() {
		under = policy.WithRetryOptions(under, singleAttempt)
	}
	resp, err := send(under)
	if err != nil {
		if !x.metered {
			x.tally.add(1, chargeOfError(err))
		}
		if statusOf(err) != 0 {
			k.core.warm.Store(true)
		}
		return err
	}
	k.core.warm.Store(true)
	if !x.metered {
		x.tally.add(1, float64(resp.RequestCharge))
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
		case isThrottled(err):
			if !p.throttled(ctx, err) {
				return err
			}
		case isUnanswered(ctx, err):
			if !p.failed(ctx) {
				return err
			}
		default:
			return err
		}
	}
}

func isThrottled(err error) bool {
	status := statusOf(err)
	return status == http.StatusTooManyRequests || status == statusRetryWith
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
	return !errors.As(err, &decode) && ctx.Err() == nil
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
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.RawResponse == nil {
		return 0
	}
	ms, _ := strconv.ParseInt(response.RawResponse.Header.Get("x-ms-retry-after-ms"), 10, 64)
	return time.Duration(ms) * time.Millisecond
}

func chargeOfError(err error) float64 {
	var response *azcore.ResponseError
	if errors.As(err, &response) && response.RawResponse != nil {
		return chargeOf(response.RawResponse.Header)
	}
	return 0
}

// meterFailure counts an answer that the SDK does not take for an error and
// that the caller turns into one.
func (k *call) meterFailure(ctx context.Context, resp azcosmos.Response) {
	if x := exchangeFrom(ctx); x != nil && !x.metered {
		x.tally.add(1, float64(resp.RequestCharge))
		x.metered = true
	}
}
