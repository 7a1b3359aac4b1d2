package repository

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// attempt returns the context of one call into the SDK. It carries the
// exchange, and it takes the place of the SDK's own retries: those know nothing
// of 449, stop after three, and would repeat a write whose answer was lost as
// if it had never been sent.
func (c *core) attempt(ctx context.Context, x *exchange) context.Context {
	a := &attemptContext{Context: ctx, x: x, retries: c.noRetries}
	// Until a first answer came, the SDK may be reading the account with this
	// same context, and it keeps a failure of that read for minutes.
	if !c.warm.Load() {
		a.retries = policy.WithRetryOptions(context.Background(), policy.RetryOptions{ShouldRetry: x.retryAccountRead})
	}
	return a
}

// attemptContext is two context values in one allocation.
type attemptContext struct {
	context.Context
	x *exchange
	// retries is an empty context that holds the retry options, because only
	// the SDK knows the key that they are found under.
	retries context.Context
}

// Value returns the exchange, the retry options, or what the outer context has.
func (a *attemptContext) Value(key any) any {
	if key == (exchangeKey{}) {
		return a.x
	}
	if v := a.retries.Value(key); v != nil {
		return v
	}
	return a.Context.Value(key)
}

func withoutRetries() context.Context {
	return policy.WithRetryOptions(context.Background(), policy.RetryOptions{MaxRetries: -1, RetryDelay: time.Millisecond})
}

// retryAccountRead lets the SDK repeat its read of the account. Of a request
// that got no answer nobody can say whether it was that read or the call
// itself; it is repeated, and the exchange remembers that a write may have
// been sent before.
func (x *exchange) retryAccountRead(resp *http.Response, err error) bool {
	if err != nil {
		x.repeated.Store(true)
		return true
	}
	if resp.Request == nil || !isAccountRead(resp.Request) {
		return false
	}
	return resp.StatusCode == http.StatusTooManyRequests || isTransient(resp.StatusCode)
}
