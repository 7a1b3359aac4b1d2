package engine

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// FetchPage asks one logical partition for one page of rows. size is the most
// it may hold; 0 leaves it to the service. next is where to go on; "" is the end.
func FetchPage[R any](ctx context.Context, k *Call, at *Partition, st Statement, from string, size int) (rows []R, next string, err error) {
	params, err := asStored(st.Params)
	if err != nil {
		return nil, "", err
	}
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, "", err
	}
	var decodeErr error
	x := &exchange{pinned: at.physicalPartition != nil, exempt: k.Exempt, at: at}
	x.Page = func(body []byte) error {
		if k.Collection.layout != nil {
			var items [][]byte
			if items, decodeErr = itemsOf(body); decodeErr == nil {
				rows, decodeErr = decodeRows[R](k, st, items)
			}
			return nil
		}
		rows, decodeErr = decodePage[R](k, body)
		return nil // an answer was received: how it decodes is not the pipeline's matter
	}
	if left, bounded := tallyFrom(ctx).left(); bounded {
		size = k.cost.pageSize(left, size)
	}
	query := cosmos.Query{Text: k.textOf(st), Parameters: params, PageSize: size, From: from, Range: at.address()}
	var page cosmos.Page
	var answer cosmos.Answer
	err = k.read(ctx, x, func(ctx context.Context) (_ cosmos.Answer, err error) {
		page, answer, err = cosmos.QueryPage(ctx, k.Collection.Container, at.Key, query, k.options(ctx, token))
		return answer, err
	})
	if err != nil {
		return nil, "", err
	}
	switch {
	case x.Paged:
	case k.Collection.layout != nil:
		rows, decodeErr = decodeRows[R](k, st, page.Items)
	default:
		rows, decodeErr = decodeItems[R](k, page.Items)
	}
	if decodeErr != nil {
		return nil, "", &decodeError{decodeErr}
	}
	k.cost.add(answer.Charge, len(rows))
	noteScan(rows, answer.Header)
	noteTime(rows, answer.Header)
	return rows, page.Next, nil
}

// EachPage gives the pages of one logical partition to take until it wants no
// more of them. size is that of FetchPage.
func EachPage[R any](ctx context.Context, k *Call, at *Partition, st Statement, size int, take func(rows []R) (more bool, err error)) error {
	for from := ""; ; {
		rows, next, err := FetchPage[R](ctx, k, at, st, from, size)
		if err != nil {
			return err
		}
		if more, err := take(rows); err != nil || !more || next == "" {
			return err
		}
		from = next
	}
}

// noteScan tells sorted rows in which direction the service read its index.
func noteScan[R any](rows []R, header http.Header) {
	if len(rows) == 0 {
		return
	}
	if _, isSorted := any(&rows[0]).(interface{ SetScan(merge.Scan) }); !isSorted {
		return
	}
	scan := scanOf(header.Get("x-ms-cosmos-query-execution-info"))
	for i := range rows {
		any(&rows[i]).(interface{ SetScan(merge.Scan) }).SetScan(scan)
	}
}

// scanOf reads a header such as {"reverseRidEnabled":false,"reverseIndexScan":true}.
// Without one, or with reverseRidEnabled, the first ORDER BY value decides.
func scanOf(header string) merge.Scan {
	var info struct {
		ReverseRID   *bool `json:"reverseRidEnabled"`
		ReverseIndex bool  `json:"reverseIndexScan"`
	}
	switch {
	case header == "" || json.Unmarshal([]byte(header), &info) != nil || info.ReverseRID == nil || *info.ReverseRID:
		return merge.ScanUnknown
	case info.ReverseIndex:
		return merge.ScanReverse
	}
	return merge.ScanForward
}

// StartQuery is what every query checks before any request.
func (k *Call) StartQuery(ctx context.Context) error {
	if err := k.Start(ctx); err != nil {
		return err
	}
	if k.At.Tenant == "" && !k.At.All && !k.At.global {
		return tenantitem.ValidateTenantID(k.At.Tenant)
	}
	return nil
}

// SeveralPartitions reports whether the scope is more than one logical partition.
func (k *Call) SeveralPartitions() bool {
	return !k.At.Full || len(k.Collection.PartitionsOf(*k.At)) > 1
}
