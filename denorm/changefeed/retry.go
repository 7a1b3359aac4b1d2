package changefeed

import (
	"context"
	"errors"
	"net/http"

	"github.com/cosmosgrove/grove/tenantitem"
)

// maxTries bounds how often one request is repeated before its error is
// returned to a loop that will come back to it.
const maxTries = 10

// persist repeats a request that may be sent again until it is answered.
func (p *Processor) persist(ctx context.Context, send func() error) error {
	for try := 0; ; try++ {
		err := send()
		if err == nil || try == maxTries || !isPassing(ctx, err) || p.pause(ctx, backoff(p.cfg.Backoff, try)) != nil {
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
	case 0, http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests, 449:
		return true
	default:
		return status >= 500
	}
}
