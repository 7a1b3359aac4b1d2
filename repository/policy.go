package repository

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// ClientOptions returns a copy of o with Grove's pipeline policy added, for
// azcosmos.NewClient and its siblings; nil stands for the defaults. The policy
// counts every attempt for [WithTally] and decodes a page of documents once,
// straight into the entities, where the SDK would decode it, encode each
// document again and leave the second decoding to the caller.
//
// A client made without it works with every repository, only slower and with
// coarser counts.
func ClientOptions(o *azcosmos.ClientOptions) *azcosmos.ClientOptions {
	var out azcosmos.ClientOptions
	if o != nil {
		out = *o
	}
	out.PerRetryPolicies = append(slices.Clone(out.PerRetryPolicies), &exchangePolicy{})
	return &out
}

// exchange travels in the context of one call into the SDK and is filled by
// the policy below; what the policy did not see is made up for afterwards.
type exchange struct {
	tally *Tally
	// metered says that the policy counted the attempts.
	metered bool
	// page takes the body of a successful feed page.
	page func(body []byte) error
	// pinned says that the call names a physical partition: when that is gone,
	// asking again would not help.
	pinned bool
	// paged says that page got the body.
	paged bool
	// sent and repeated say that the SDK sent the call, and more than once, as
	// it does for accounts with several write regions.
	sent     bool
	repeated atomic.Bool // also set by a read of the account in the background
	// settles says that the call finds out about an earlier write, so that a
	// used up budget must not stop it.
	settles bool
}

type exchangeKey struct{}

func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// exchangePolicy runs once for each attempt, below every retry loop.
type exchangePolicy struct {
	// buffers hold the bodies of pages, which are decoded and then done with:
	// decoding copies what it keeps.
	buffers sync.Pool
}

var emptyPage = []byte(`{"Documents":[]}`)

func (p *exchangePolicy) Do(req *policy.Request) (*http.Response, error) {
	x := exchangeFrom(req.Raw().Context())
	if x != nil && isAccountRead(req.Raw()) {
		// The SDK reads the account anew from time to time, with the values of
		// some call's context, while that call goes on.
		x = nil
	}
	wantsPage := x != nil && x.page != nil && req.Raw().Method == http.MethodPost
	if wantsPage {
		// The SDK would read the body into a buffer that grows as it goes.
		runtime.SkipBodyDownload(req)
	}
	resp, err := req.Next()
	if x == nil {
		return resp, err
	}
	x.metered = true
	if req.Raw().Method != http.MethodGet {
		if x.sent {
			x.repeated.Store(true)
		}
		x.sent = true
	}
	if err != nil {
		x.tally.add(0)
		return resp, err
	}
	x.tally.add(chargeOf(resp.Header))
	if !wantsPage || resp.StatusCode != http.StatusOK {
		return resp, nil
	}
	if err := p.readPage(resp, x.page); err != nil {
		return nil, err
	}
	x.paged = true
	resp.Body = io.NopCloser(bytes.NewReader(emptyPage))
	return resp, nil
}

// isAccountRead tells the SDK's own reads of the account from its callers'
// requests.
func isAccountRead(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == "")
}

// maxKeptBuffer bounds the buffers that are kept for the next page: one page
// holds at most 4 MB.
const maxKeptBuffer = 8 << 20

// readPage hands the body of a response over and closes it.
func (p *exchangePolicy) readPage(resp *http.Response, page func(body []byte) error) error {
	defer func() { _ = resp.Body.Close() }() // by then it was read, or its own error was returned
	b, _ := p.buffers.Get().(*bytes.Buffer)
	if b == nil {
		b = new(bytes.Buffer)
	}
	b.Reset()
	if n := resp.ContentLength; n > 0 && n < maxKeptBuffer {
		b.Grow(int(n) + bytes.MinRead) // room for the read that finds the end
	}
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return fmt.Errorf("read a page of the answer: %w", err)
	}
	err := page(b.Bytes())
	if b.Cap() <= maxKeptBuffer {
		p.buffers.Put(b)
	}
	return err
}

// chargeOf reads a response's request charge in RU; 0 when it names none.
func chargeOf(h http.Header) float64 {
	charge, err := strconv.ParseFloat(h.Get("x-ms-request-charge"), 64)
	if err != nil {
		return 0
	}
	return charge
}
