package cosmos

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Attempts makes the contexts of calls into the SDK. The SDK's own retries are
// turned off in them: those know nothing of 449, stop after three, and would
// repeat a write whose answer was lost as if it had never been sent.
type Attempts struct {
	// off is an empty context that holds the retry options, because only the
	// SDK knows the key that they are found under.
	off context.Context
}

// NewAttempts prepares for many calls.
func NewAttempts() Attempts {
	return Attempts{off: policy.WithRetryOptions(context.Background(), policy.RetryOptions{MaxRetries: -1, RetryDelay: time.Millisecond})}
}

// Context returns the context of one call, which carries the exchange. warm
// says that the client has had an answer before. Until then the SDK may be
// reading the account under this same context, and it keeps a failure of that
// read for minutes; so that read is repeated.
func (a Attempts) Context(ctx context.Context, x *Exchange, warm bool) context.Context {
	out := &attemptContext{Context: ctx, x: x, retries: a.off}
	if !warm {
		out.retries = policy.WithRetryOptions(context.Background(), policy.RetryOptions{ShouldRetry: x.retryAccountRead})
	}
	return out
}

// attemptContext is two context values in one allocation.
type attemptContext struct {
	context.Context
	x       *Exchange
	retries context.Context
}

// callKey finds the context that the SDK was called with in the one that it made of it.
type callKey struct{}

// Value returns the exchange, itself, the retry options, or what the outer context has.
func (a *attemptContext) Value(key any) any {
	switch key {
	case exchangeKey{}:
		return a.x
	case callKey{}:
		return a
	}
	if v := a.retries.Value(key); v != nil {
		return v
	}
	return a.Context.Value(key)
}

// retryAccountRead lets the SDK repeat its read of the account, as long as
// nothing of the call itself was sent.
func (x *Exchange) retryAccountRead(resp *http.Response, err error) bool {
	if err != nil {
		return !x.Seen()
	}
	if resp.Request == nil || !isAccountRead(resp.Request) {
		return false
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusGone, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
