package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
)

// apply sends operations to one logical partition, all or none, until their
// outcome is known. It is the only loop around writes.
//
// A refusal before any attempt was lost is definite, and throttled attempts
// changed nothing. Once one was lost, only evidence leads out (see outcome): a
// later refusal, a deadline or another loss says nothing about the lost one.
//
// Two that are not writes of documents wait by themselves: provision.go of
// registry, and request_retry.go of denorm/changefeed, which outlives outages.
func (k *Call) apply(ctx context.Context, at *Partition, ops []Operation) (results []Result, err error) {
	defer func() {
		if errors.Is(err, ErrAmbiguous) {
			inDoubt(at, ops)
		}
	}()
	var p pause
	lost, unavailable := false, true
	if err := k.requireClientOptions(ctx, at, ops); err != nil {
		return nil, err
	}
	defer func() {
		if lost {
			k.Collection.Doubts.resolve(ops)
		}
	}()
	for {
		x := exchange{Exchange: cosmos.Exchange{Write: true}, exempt: lost, at: at}
		results, err := k.send(ctx, &x, at, ops)
		switch {
		case err == nil:
			return results, nil
		case isUnsent(err):
			// Nothing left this process.
		case isLost(err) || ctx.Err() != nil && StatusOf(err) == 0 && !errors.Is(err, ErrBudget) && !isHeldBack(err):
			lost = true
			unavailable = unavailable && StatusOf(err) == http.StatusServiceUnavailable
			k.lost = true
			k.Collection.Doubts.add(ops)
		case isThrottled(err):
			k.noteThrottled(err)
			if p.throttled(ctx, err) {
				continue
			}
		}
		if !lost {
			if isUnsent(err) && p.failed(ctx) {
				continue
			}
			return nil, err
		}
		k.noteRepeated(err)
		o, now, lookErr := k.look(ctx, at, ops, unavailable)
		switch {
		case lookErr != nil:
			return nil, &ambiguousError{errors.Join(err, lookErr)}
		case o == applied:
			results, err := k.resultsOf(ctx, at, ops, now)
			if err != nil {
				return nil, &ambiguousError{err}
			}
			return results, nil
		case o != unknown && IsRefusal(err):
			return nil, err
		case o == unknown || !p.failed(ctx):
			return nil, &ambiguousError{err}
		}
	}
}

// maxLooks is how often the documents are looked at for evidence. A replica
// that is behind catches up within milliseconds, and a request that is still
// under way arrives.
const maxLooks = 5

// look reads the documents of operations whose answer was lost, until they
// prove something.
func (k *Call) look(ctx context.Context, at *Partition, ops []Operation, unavailable bool) (outcome, map[string]*Marked, error) {
	for looked := 1; ; looked++ {
		now, err := k.storedNow(ctx, at, ops)
		if err != nil {
			return unknown, nil, err
		}
		o := outcomeOf(ops, now, unavailable)
		if o != unknown || looked == maxLooks || !Sleep(ctx, backoff(looked)) {
			return o, now, nil
		}
	}
}

// read repeats a call that changes nothing until it is answered: through
// throttling for as long as maxThrottled, through a failing service a few times.
func (k *Call) read(ctx context.Context, x *exchange, send func(context.Context) (cosmos.Answer, error)) error {
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
		case isUnsent(err) || isLost(err) && ctx.Err() == nil:
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
	switch StatusOf(err) {
	case http.StatusTooManyRequests, statusRetryWith, statusSessionBehind:
		return true
	}
	return false
}

// isLost reports whether the service gave no usable answer, so that a write
// may or may not take effect.
func isLost(err error) bool {
	if errors.Is(err, ErrBudget) || errors.Is(err, ErrInvalid) || isUnsent(err) || isHeldBack(err) {
		return false
	}
	if status := StatusOf(err); status != 0 {
		return isTransient(status)
	}
	var decode *decodeError
	return !errors.As(err, &decode) && !IsUndecodable(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// isTransient reports the answers of a service that may have done its work, or not.
func isTransient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusGone, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// IsRetryable reports whether the same call may succeed later without a
// change: throttling, a lost read, an unavailable service. It is false for
// [ErrAmbiguous], because repeating such a write may apply it twice.
func IsRetryable(err error) bool {
	if errors.Is(err, ErrAmbiguous) {
		return false
	}
	if errors.Is(err, ErrThrottled) {
		return true
	}
	status := StatusOf(err)
	return isTransient(status) || status == statusSessionBehind
}

// statusRetryWith is the service's "concurrent write, try again": nothing was
// applied.
const statusRetryWith = 449

// statusSessionBehind stands for 404 with this substatus: the replica has not
// come as far as the session that the read asked for. It says nothing about
// the document.
const statusSessionBehind = 1002

// statusNoContainer stands for 404 with this substatus: the container, or its
// database, was not found. It says nothing about the document.
const statusNoContainer = 1003

// isUnsent reports that nothing of a request left this process.
func isUnsent(err error) bool {
	var transport *cosmos.TransportError
	return errors.As(err, &transport) && transport.Unsent
}

// IsRefusal reports the answers that a repeated write gets when it, or
// another, was applied before.
func IsRefusal(err error) bool {
	switch StatusOf(err) {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed:
		return true
	}
	return false
}

// ambiguousError is a write whose outcome can't be told.
type ambiguousError struct{ err error }

func (e *ambiguousError) Error() string {
	return "the write was sent and reading back did not tell whether it took effect: " + describe(e.err)
}

func (e *ambiguousError) Unwrap() []error { return []error{ErrAmbiguous, e.err} }

// incompleteError is a write of several documents that was applied, where a hook
// has then refused some of them.
type incompleteError struct{ err error }

func (e *incompleteError) Error() string {
	return "the write was applied, and a part of it refused: " + e.err.Error()
}

func (e *incompleteError) Unwrap() []error { return []error{ErrAmbiguous, e.err} }

// describe names an error without the service's text.
func describe(err error) string {
	if status := StatusOf(err); status != 0 {
		return "HTTP " + strconv.Itoa(status)
	}
	return redact.Error(err).Error()
}

// Waiting between attempts. Throttling is waited out for up to maxThrottled,
// which is what Microsoft's other SDKs allow; a service that does not answer
// gets maxFailures tries.
const (
	maxThrottled = 30 * time.Second
	maxFailures  = 8
	firstPause   = 10 * time.Millisecond
	LongestPause = time.Second
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
	return p.waited <= maxThrottled && Sleep(ctx, wait)
}

func (p *pause) failed(ctx context.Context) bool {
	p.failures++
	return p.failures < maxFailures && Sleep(ctx, backoff(p.failures))
}

// backoff doubles from firstPause to LongestPause, with full jitter.
func backoff(attempt int) time.Duration {
	return rand.N(min(firstPause<<min(attempt, 10), LongestPause)) + time.Millisecond
}

// Sleep reports false when the context ends, or would end, before the wait is over.
func Sleep(ctx context.Context, d time.Duration) bool {
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

// retryAfter is how long the service asks to wait. It is never negative, and
// never more than what is waited out at all.
func retryAfter(err error) time.Duration {
	ms, parseErr := strconv.ParseFloat(headerOf(err).Get("x-ms-retry-after-ms"), 64)
	if parseErr != nil || !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, float64(maxThrottled/time.Millisecond)) * float64(time.Millisecond))
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
