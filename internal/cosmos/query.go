package cosmos

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// QueryParameter is a value that a query's text names.
type QueryParameter = azcosmos.QueryParameter

// Query is a query as it is sent.
type Query struct {
	Text       string
	Parameters []QueryParameter
	// PageSize is the most that a page may hold; 0 leaves it to the service.
	PageSize int
	// From is where to go on; "" is the beginning.
	From string
	// Range is the physical partition that is asked, where the key names no
	// logical one.
	Range Range
}

// Page is what one request brought.
type Page struct {
	// Items are the rows, unless the context's [Exchange] took the page.
	Items [][]byte
	// Next is where to go on; "" is the end.
	Next string
}

// QueryPage asks one logical partition, or one physical one, for a page.
func QueryPage(ctx context.Context, c *Container, key PartitionKey, q Query, o Options) (Page, Answer, error) {
	no := false
	options := &azcosmos.QueryOptions{
		QueryParameters:           q.Parameters,
		PageSizeHint:              int32(min(q.PageSize, MaxPageSize)), //nolint:gosec // at most MaxPageSize
		EnableCrossPartitionQuery: &no,
		SessionToken:              o.Session,
		PriorityLevel:             o.Priority,
		ThroughputBucket:          o.Bucket,

		ResponseContinuationTokenLimitInKB: maxContinuationKB,
	}
	if q.From != "" {
		options.ContinuationToken = &q.From
	}
	if q.Range.ID != "" {
		ctx = withHeader(ctx, q.Range.queryHeader())
	}
	r, err := c.NewQueryItemsPager(q.Text, key, options).NextPage(ctx)
	page := Page{Items: r.Items}
	if r.ContinuationToken != nil {
		page.Next = *r.ContinuationToken
	}
	return page, answerOf(r.Response), err
}

// MaxPageSize is the largest page that is asked for; the service's own bound
// of 4 MB a page ends most pages sooner.
const MaxPageSize = 10_000

// maxContinuationKB bounds what a page says of where the next one begins. It
// comes back as a header, and the gateway takes about 16 KB of all headers; what
// the service leaves out for it only spares it work.
const maxContinuationKB = 4

// QueryAll yields the rows of a query of the whole container, page after page.
// It is for containers that hold little. The first error is the last yield.
func QueryAll(ctx context.Context, c *Container, o Options, text string, parameters ...QueryParameter) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		pager := c.NewQueryItemsPager(text, NewPartitionKey(), &azcosmos.QueryOptions{
			QueryParameters: parameters, SessionToken: o.Session, PriorityLevel: o.Priority, ThroughputBucket: o.Bucket, ResponseContinuationTokenLimitInKB: maxContinuationKB,
		})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
