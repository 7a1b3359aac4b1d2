package cosmos

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/codec"
)

// Batch is up to 100 operations of one logical partition, all applied or none.
//
// The SDK writes each document of a batch three times over, and reads each
// result through a map. So it is handed a batch of one operation that is never
// sent, and the policy sends this body in its place ([Exchange.Send]) and
// keeps the answer's ([Exchange.KeepBody]).
type Batch struct{ body []byte }

// NewBatch makes an empty batch; size is about how many bytes it will have.
func NewBatch(size int) *Batch { return &Batch{append(make([]byte, 0, size), '[')} }

// Add appends an operation; the etag that it requires is If-Match of its own. It fails where a
// patch holds a value that can't be encoded.
func (b *Batch) Add(op Operation) error {
	id, etag, body := op.ID, op.ETag, op.Body
	switch op.Kind {
	case OpCreate, OpUpsert:
		id, etag = "", "" // the id stands in the body
	case OpPatch:
		var err error
		if body, err = op.Patch.MarshalJSON(); err != nil {
			return err
		}
	case OpRead:
		etag = ""
	case OpReplace, OpDelete:
	}
	dst := b.body
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, `{"operationType":"`...), op.Kind.String()...), '"')
	if etag != "" {
		dst = codec.AppendText(append(dst, `,"ifMatch":`...), etag)
	}
	if id != "" {
		dst = codec.AppendText(append(dst, `,"id":`...), id)
	}
	if body != nil {
		dst = append(append(dst, `,"resourceBody":`...), body...)
	}
	dst = append(dst, '}')
	b.body = dst
	return nil
}

// Execute sends the batch, under a context with an [Exchange]. It was applied
// where applied says so: a batch that failed is no error for the SDK, but an
// answer whose results name the operation that was refused; all others have
// the status 424.
func (b *Batch) Execute(ctx context.Context, c *Container, key PartitionKey, o Options) (results []Result, applied bool, answer Answer, err error) {
	x := exchangeFrom(ctx)
	if x == nil {
		return nil, false, answer, errNoExchange
	}
	body := b.body
	body = append(body, ']')
	x.Send, x.KeepBody = body, true
	unsent := c.NewTransactionalBatch(key)
	unsent.ReadItem("never sent", nil)
	options := azcosmos.TransactionalBatchOptions{PriorityLevel: o.Priority, ThroughputBucket: o.Bucket, EnableContentResponseOnWrite: o.Contents}
	if o.Session != nil {
		options.SessionToken = *o.Session
	}
	r, err := c.ExecuteTransactionalBatch(ctx, unsent, &options)
	if answer = answerOf(r.Response); err != nil {
		return nil, false, answer, err
	}
	results, readable := readResults(x.Body)
	return results, r.Success && readable, answer, nil
}

var errNoExchange = errors.New("a batch was sent without an exchange in its context")

// readResults reads the answer to a batch. One that is not readable tells as
// little as one without results.
func readResults(body []byte) (results []Result, readable bool) {
	if len(body) > 0 && codec.NewReader(charges).Value(body, &results) != nil {
		return nil, false
	}
	// The gateway writes names in any case, in here as in headers.
	if slices.ContainsFunc(results, func(r Result) bool { return r.Status == 0 }) {
		var anyCase []Result
		if json.Unmarshal(body, &anyCase) == nil {
			results = anyCase
		}
	}
	return results, true
}

// charges and what else a result holds are not looked at: the batch has a
// charge of its own.
func charges([]byte) codec.Aside { return codec.Ignored }
