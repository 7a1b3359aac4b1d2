package cosmos

import (
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/codec"
)

// Options go with any request about documents.
type Options struct {
	// Session is the token of what must have been seen by the replica that
	// answers; nil for none.
	Session *string
	// Priority and Bucket override the client's; nil leaves them.
	Priority *Priority
	Bucket   *int32
	// Contents asks for the documents that are written.
	Contents bool
}

// Priority is what the service refuses first when throughput is used up.
type Priority = azcosmos.PriorityLevel

// Answer is what an answer of the service says beside its content. It is empty
// where there was none.
type Answer struct {
	Header http.Header
	// Charge is in RU.
	Charge float64
}

func answerOf(r azcosmos.Response) Answer {
	a := Answer{Charge: float64(r.RequestCharge)}
	if r.RawResponse != nil {
		a.Header = r.RawResponse.Header
	}
	return a
}

// Result is what the service says about one document.
type Result struct {
	// Status is that of the operation; 0 where no answer told.
	Status int `json:"statusCode"`
	// Substatus tells it from others of that status; 0 where no answer told.
	Substatus int    `json:"subStatusCode"`
	ETag      string `json:"eTag"`
	// Body is the document, where it was read or asked for.
	Body codec.Raw `json:"resourceBody"`
}

// SubstatusPartitionFull goes with 403: the logical partition holds as much as it may, 20 GB.
const SubstatusPartitionFull = 1014

// SubstatusOf is what tells an answer from others of its status; 0 where it does not say.
func SubstatusOf(e *azcore.ResponseError) int {
	if e.RawResponse == nil {
		return 0
	}
	n, _ := strconv.Atoi(e.RawResponse.Header.Get("x-ms-substatus")) // 0 without one
	return n
}

func etagOption(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	return (*azcore.ETag)(&etag)
}
