package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/repository"
)

// statusClientClosed is nginx's status for a client that went away. It is seen
// in logs only.
const statusClientClosed = 499

// meaning is what an error is to a client.
type meaning struct {
	status int
	code   string
}

// Status returns the HTTP status of an error of a verb, as the table in the
// package's documentation says; 200 for nil.
func Status(err error) int { return meaningOf(err).status }

func meaningOf(err error) meaning {
	if err == nil {
		return meaning{http.StatusOK, ""}
	}
	var problem *Problem
	if errors.As(err, &problem) {
		return meaning{problem.status(), problem.Code}
	}
	var undecodable *repository.DecodeError
	var body *http.MaxBytesError
	switch {
	// Before everything: it is wrapped around what became of one attempt.
	case errors.Is(err, repository.ErrAmbiguous):
		return meaning{http.StatusGatewayTimeout, "outcome-unknown"}
	case errors.As(err, &undecodable):
		return meaning{http.StatusInternalServerError, "internal"}
	case errors.Is(err, repository.ErrTenantMismatch):
		return meaning{http.StatusForbidden, "tenant-mismatch"}
	// Before ErrInvalid: a document that is known to be too large is both.
	case errors.Is(err, repository.ErrTooLarge), errors.As(err, &body):
		return meaning{http.StatusRequestEntityTooLarge, "too-large"}
	case errors.Is(err, repository.ErrInvalid):
		return meaning{http.StatusBadRequest, "invalid"}
	case errors.Is(err, repository.ErrUnsupported):
		return meaning{http.StatusBadRequest, "unsupported"}
	case errors.Is(err, repository.ErrPreconditionFailed):
		return meaning{http.StatusPreconditionFailed, "precondition-failed"}
	case errors.Is(err, repository.ErrHasChildren):
		return meaning{http.StatusConflict, "has-children"}
	case errors.Is(err, repository.ErrReferenced):
		return meaning{http.StatusConflict, "referenced"}
	case errors.Is(err, repository.ErrDanglingRef):
		return meaning{http.StatusConflict, "dangling-reference"}
	case errors.Is(err, repository.ErrConflict):
		return meaning{http.StatusConflict, "conflict"}
	case errors.Is(err, repository.ErrNotFound), errors.Is(err, repository.ErrEntityMismatch):
		return meaning{http.StatusNotFound, "not-found"}
	case errors.Is(err, repository.ErrBudget):
		return meaning{http.StatusUnprocessableEntity, "too-expensive"}
	case errors.Is(err, repository.ErrThrottled):
		return meaning{http.StatusTooManyRequests, "throttled"}
	case errors.Is(err, context.Canceled):
		return meaning{statusClientClosed, "canceled"}
	case errors.Is(err, context.DeadlineExceeded):
		return meaning{http.StatusGatewayTimeout, "timeout"}
	case repository.IsRetryable(err):
		return meaning{http.StatusServiceUnavailable, "unavailable"}
	}
	return meaning{http.StatusInternalServerError, "internal"}
}

// longestRetryAfter bounds what is asked of clients, in seconds.
const longestRetryAfter = 30

// retryAfter is what the header of that name says: the service's own wish in
// whole seconds, rounded up.
func retryAfter(err error) string {
	seconds := 1.0
	var response *azcore.ResponseError
	if errors.As(err, &response) && response.RawResponse != nil {
		ms, parseErr := strconv.ParseFloat(response.RawResponse.Header.Get("x-ms-retry-after-ms"), 64)
		if parseErr == nil && ms > 0 {
			seconds = min(math.Ceil(ms/1000), longestRetryAfter)
		}
	}
	return strconv.Itoa(int(seconds))
}
