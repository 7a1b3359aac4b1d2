package restapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// wireOperation is one operation of a batch or bulk request as clients write it.
type wireOperation struct {
	Type         string          `json:"operationType"`
	ID           string          `json:"id"`
	IfMatch      string          `json:"ifMatch"`
	IfNoneMatch  string          `json:"ifNoneMatch"`
	ResourceBody json.RawMessage `json:"resourceBody"`
	PartitionKey json.RawMessage `json:"partitionKey"`
}

// The service's limits on one batch or bulk request.
const (
	maxOperations = 100
	maxBatchBytes = 2 << 20
)

// operations reads the body of a batch or bulk request.
func (c *call) operations() ([]store.Operation, *store.Error) {
	if len(c.body) > maxBatchBytes {
		return nil, fail(http.StatusRequestEntityTooLarge, 0, "Request size is too large")
	}
	var wire []wireOperation
	if err := json.Unmarshal(c.body, &wire); err != nil {
		return nil, badRequest("The batch is not a JSON array of operations.")
	}
	if len(wire) == 0 {
		return nil, badRequest("The batch holds no operations.")
	}
	if len(wire) > maxOperations {
		return nil, badRequest("Batch request has more operations than what is supported: at most 100 fit in one request.")
	}
	operations := make([]store.Operation, len(wire))
	for i := range wire {
		op, e := c.operationOf(&wire[i])
		if e != nil {
			return nil, e
		}
		operations[i] = op
	}
	return operations, nil
}

func (c *call) operationOf(w *wireOperation) (store.Operation, *store.Error) {
	op := store.Operation{
		ID:           w.ID,
		Body:         w.ResourceBody,
		Precondition: store.Precondition{IfMatch: w.IfMatch, IfNoneMatch: w.IfNoneMatch},
	}
	switch strings.ToLower(w.Type) {
	case "create":
		op.Kind = store.OpCreate
	case "upsert":
		op.Kind = store.OpUpsert
	case "replace":
		op.Kind = store.OpReplace
	case "delete":
		op.Kind = store.OpDelete
	case "read":
		op.Kind = store.OpRead
	case "patch":
		op.Kind = store.OpPatch
		patch, e := c.patchOf(w.ResourceBody)
		if e != nil {
			return op, e
		}
		op.Patch = patch
	default:
		return op, badRequest("The batch holds an operation that is none of Create, Upsert, Replace, Delete, Read and Patch.")
	}
	if e := c.permitAction(c.operation, actionOfStep(op.Kind)); e != nil {
		return op, e
	}
	key, e := operationKey(w.PartitionKey)
	op.Key = key
	return op, e
}

// operationKey reads the partition key of a bulk operation: the header's JSON in a string, or the array itself.
func operationKey(raw json.RawMessage) (store.Key, *store.Error) {
	text := string(raw)
	if text == "" || text == "null" {
		return nil, nil
	}
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, badRequest("The partitionKey of an operation is not a string of JSON.")
		}
	}
	key, err := parsePartitionKey(text)
	if err != nil {
		return nil, badRequest("The partitionKey of an operation is not a partition key: " + err.Error() + ".")
	}
	return store.Key(key), nil
}

// wireResult is the answer to one operation.
type wireResult struct {
	StatusCode    int             `json:"statusCode"`
	SubStatusCode int             `json:"subStatusCode,omitempty"`
	RequestCharge float64         `json:"requestCharge"`
	ETag          string          `json:"eTag,omitempty"`
	RetryAfter    int64           `json:"retryAfterMilliseconds,omitempty"`
	ResourceBody  json.RawMessage `json:"resourceBody,omitempty"`
}

// batchAnswer writes the results of a batch or bulk request: 207 as soon as one operation failed.
func (c *call) batchAnswer(container *store.Container, operations []store.Operation, batch *store.BatchResult) (*result, *store.Error) {
	wire := make([]wireResult, len(batch.Results))
	for i := range batch.Results {
		one := &batch.Results[i]
		wire[i] = wireResult{StatusCode: one.Status, RequestCharge: one.Charge, ETag: one.ETag}
		if one.Err != nil {
			wire[i].StatusCode, wire[i].SubStatusCode = one.Err.Status, one.Err.Substatus
			wire[i].RetryAfter = one.Err.RetryAfter.Milliseconds()
			continue
		}
		if !c.opts.minimal || operations[i].Kind == store.OpRead {
			wire[i].ResourceBody = one.Body
		}
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return nil, fail(http.StatusInternalServerError, 0, "The results of the batch could not be written.")
	}
	r := positioned(container, batch.Result)
	r.body, r.etag, r.status = body, "", http.StatusOK
	if batch.Failed {
		r.status = http.StatusMultiStatus
	}
	return r, nil
}
