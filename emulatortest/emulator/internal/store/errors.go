package store

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Error is a refusal as the service words it. Package restapi turns it into a response as it stands.
type Error struct {
	// Status is the HTTP status, 304 or at least 400.
	Status int
	// Substatus is the value of x-ms-substatus; zero means that the service sends none.
	Substatus int
	// Code is the word in the body's code field, such as "NotFound".
	Code string
	// Message is the sentence in the body's message field. It never holds a document, a key or a connection string.
	Message string
	// RetryAfter is how long a throttled caller is asked to wait; zero for everything but 429.
	RetryAfter time.Duration
	// PlanJSON is the query plan that goes into additionalErrorInfo when the gateway can't serve a query alone.
	PlanJSON []byte
}

// Error returns status, substatus and message.
func (e *Error) Error() string {
	if e.Substatus != 0 {
		return fmt.Sprintf("%d/%d %s: %s", e.Status, e.Substatus, e.Code, e.Message)
	}
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}

// The substatus codes that the store answers with.
const (
	SubstatusKeyMismatch          = 1001
	SubstatusPartitionRangeGone   = 1002
	SubstatusSessionNotAvailable  = 1002
	SubstatusParentNotFound       = 1003
	SubstatusLogicalPartitionFull = 1014
	SubstatusPatchConditionNotMet = 1110
	SubstatusThroughputExceeded   = 3200
	SubstatusUniqueIndexConflict  = 3301
	SubstatusDatabaseNameExists   = 3206
	SubstatusBatchResponseSize    = 3402

	SubstatusOfferReplaceInProgress = 3205
)

const (
	textNotFound     = "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found"
	textConflict     = "Resource with specified id or name already exists."
	textUnique       = "Resource with specified id, name, or unique index already exists."
	textPrecondition = "One of the specified pre-condition is not met. Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed"
	textWrongKey     = "PartitionKey extracted from document doesn't match the one specified in the header. Learn more: https://aka.ms/CosmosDB/sql/errors/wrong-pk-value"
	textFewerKeys    = "The partition key supplied in x-ms-partitionkey header has fewer components than defined in the the collection."
	textMoreKeys     = "The partition key supplied in x-ms-partitionkey header has more components than defined in the collection."
	textMissingID    = "The input content is invalid because the required properties - 'id; ' - are missing"
	textInvalidInput = "One of the specified inputs is invalid"
	textTooLarge     = "Request size is too large"
	textSession      = "The read session is not available for the input session token."
	textRateLimited  = "Request rate is large. More Request Units may be needed, so no changes were made. Please retry this request later. Learn more: http://aka.ms/cosmosdb-error-429"
)

// codeName is the word that the service puts into the body's code field for a status.
func codeName(status int) string {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return "RequestEntityTooLarge"
	case http.StatusTooManyRequests:
		return "429"
	default:
		return strings.ReplaceAll(http.StatusText(status), " ", "")
	}
}

func refuse(status, substatus int, message string) *Error {
	return &Error{Status: status, Substatus: substatus, Code: codeName(status), Message: message}
}

// asError takes a refusal out of an error; anything else, such as a condition that can't be evaluated, is a bad request.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return badRequest("%v", err)
}

func badRequest(format string, args ...any) *Error {
	return refuse(http.StatusBadRequest, 0, fmt.Sprintf(format, args...))
}

// NotFound is the refusal of a resource that is not there.
func NotFound() error { return notFound() }

func notFound() *Error { return refuse(http.StatusNotFound, 0, textNotFound) }

func parentNotFound() *Error {
	return refuse(http.StatusNotFound, SubstatusParentNotFound, textNotFound)
}

func rangeGone(id string) *Error {
	return refuse(http.StatusGone, SubstatusPartitionRangeGone,
		fmt.Sprintf("The partition key range %q is gone: it was split or merged, or never existed. Read the ranges again.", id))
}
