package cosmos

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cosmosgrove/grove/internal/codec"
)

// The SDK writes each document of a batch three times over, and reads each
// result through a map. So it is handed a batch of one operation that is never
// sent, and the policy sends this body in its place ([Exchange.Send]) and
// keeps the answer's ([Exchange.KeepBody]).

// BatchOperation is one operation of a transactional batch.
type BatchOperation struct {
	// Verb is the operation's name: Create, Replace, Upsert, Patch, Delete or Read.
	Verb string
	// ID names the document; a Create and an Upsert have it in their body.
	ID string
	// ETag is the version that the document must have; empty for any.
	ETag string
	// Body is the document or the patch, as JSON.
	Body []byte
}

// AppendBatch appends the body of a batch.
func AppendBatch(dst []byte, operations []BatchOperation) []byte {
	dst = append(dst, '[')
	for i := range operations {
		op := &operations[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, `{"operationType":"`...), op.Verb...), '"')
		if op.ETag != "" {
			dst = appendText(append(dst, `,"ifMatch":`...), op.ETag)
		}
		if op.ID != "" {
			dst = appendText(append(dst, `,"id":`...), op.ID)
		}
		if op.Body != nil {
			dst = append(append(dst, `,"resourceBody":`...), op.Body...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendText writes what is no valid text with replacement characters, as
// encoding/json does; no document has such an id or etag.
func appendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// UnsentBatch is what the SDK is given in place of a batch.
func UnsentBatch(c *azcosmos.ContainerClient, key azcosmos.PartitionKey) azcosmos.TransactionalBatch {
	batch := c.NewTransactionalBatch(key)
	batch.ReadItem("never sent", nil)
	return batch
}

// BatchResult is the service's answer to one operation of a batch.
type BatchResult struct {
	Status int       `json:"statusCode"`
	ETag   string    `json:"eTag"`
	Body   codec.Raw `json:"resourceBody"`
}

// ReadBatch reads the answer to a batch.
func ReadBatch(body []byte) ([]BatchResult, error) {
	if len(body) == 0 {
		return nil, nil
	}
	var results []BatchResult
	if err := codec.NewReader(charges).Value(body, &results); err != nil {
		return nil, err
	}
	return results, nil
}

// charges and what else a result holds are not looked at: the batch has a
// charge of its own.
func charges([]byte) codec.Aside { return codec.Ignored }
