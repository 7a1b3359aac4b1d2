package changefeed

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// maxTries bounds how often one request of the processor's own is repeated before its
// error is returned to a loop that will come back to it. How often a handler is called
// again for a change says handleAlone in quarantine.go.
const maxTries = 10

// persist repeats a request that may be sent again until it is answered.
func (p *Processor) persist(ctx context.Context, send func() error) error {
	return persist(ctx, func(try int) bool { return p.pause(ctx, backoff(p.cfg.Backoff, try)) == nil }, send)
}

// persist calls pause before another try, which it refuses by false.
func persist(ctx context.Context, pause func(try int) bool, send func() error) error {
	for try := 0; ; try++ {
		err := send()
		if err == nil || try == maxTries || !isPassing(ctx, err) || !pause(try) {
			return err
		}
	}
}

// isPassing reports whether the same request may succeed later: the service
// was busy or did not answer.
func isPassing(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, tenantitem.ErrInvalid) || errors.Is(err, errLost) || errors.Is(err, errHandover) {
		return false
	}
	switch status := statusOf(err); status {
	case http.StatusNotFound:
		return isBehind(err)
	case 0, http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests, statusRetryWith:
		return true
	default:
		return status >= 500
	}
}

const longestBackoff = time.Minute

// pause waits before another try. A processor that stops does not wait.
func (p *Processor) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.stopping:
		return errStopped
	case <-timer.C:
		return nil
	}
}

// backoff doubles from first, with jitter between half of it and all.
func backoff(first time.Duration, doublings int) time.Duration {
	d := min(first<<min(doublings, 20), longestBackoff)
	return d/2 + rand.N(d/2+1)
}

// wait reports false when the context ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func statusOf(err error) int {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return response.StatusCode
	}
	return 0
}

// headerOf is the header of a refusal; nil where there was no answer.
func headerOf(err error) http.Header {
	var response *azcore.ResponseError
	if errors.As(err, &response) && response.RawResponse != nil {
		return response.RawResponse.Header
	}
	return nil
}

func isBehind(err error) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == http.StatusNotFound && cosmos.SubstatusOf(response) == substatusBehind
}

// isMissing reports whether the service says that a document is not there. That its container was not found says nothing of it.
func isMissing(err error) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == http.StatusNotFound && !isBehind(err) && cosmos.SubstatusOf(response) != substatusNoContainer
}
