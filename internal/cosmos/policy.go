package cosmos

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// ClientOptions returns a copy of o with the pipeline policy added that fills
// an [Exchange]; nil stands for the defaults. Options that have it already are
// returned as they are.
func ClientOptions(o *azcosmos.ClientOptions) *azcosmos.ClientOptions {
	var out azcosmos.ClientOptions
	if o != nil {
		out = *o
	}
	has := func(p policy.Policy) bool { _, ours := p.(*exchangePolicy); return ours }
	if !slices.ContainsFunc(out.PerRetryPolicies, has) {
		out.PerRetryPolicies = append(slices.Clone(out.PerRetryPolicies), &exchangePolicy{})
	}
	withoutDiagnostics(&out)
	return &out
}

// exchangePolicy runs once for each attempt, below every retry loop of the SDK.
type exchangePolicy struct {
	// buffers hold the bodies of pages, which are decoded and then done with:
	// decoding copies what it keeps.
	buffers sync.Pool
}

var emptyPage = []byte(`{"Documents":[]}`)

// Do makes one attempt, and tells of an answer that was cut.
func (p *exchangePolicy) Do(req *policy.Request) (*http.Response, error) {
	resp, err := p.attempt(req)
	return resp, asCut(err)
}

// attempt counts the attempt, keeps the SDK from repeating a write, and takes the
// body of a page.
func (p *exchangePolicy) attempt(req *policy.Request) (*http.Response, error) {
	x := exchangeFrom(req.Raw().Context())
	// The SDK reads the account anew from time to time, with the values of some
	// call's context, while that call goes on.
	if x == nil || isAccountRead(req.Raw()) {
		return req.Next()
	}
	x.seen.Store(true)
	if x.Probe {
		return nil, errProbed
	}
	if x.Write {
		if x.mayBeApplied {
			return nil, x.resend()
		}
		x.mayBeApplied = true
		return p.write(req, x)
	}
	if x.KeepBody {
		return x.keep(req)
	}
	wantsPage := x.Page != nil && req.Raw().Method == http.MethodPost
	if wantsPage {
		// The SDK would read the body into a buffer that grows as it goes.
		runtime.SkipBodyDownload(req)
	}
	resp, err := req.Next()
	x.count(resp)
	if err != nil || !wantsPage || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	if err := p.readPage(resp, x.Page); err != nil {
		return nil, err
	}
	x.Paged = true
	resp.Body = io.NopCloser(bytes.NewReader(emptyPage))
	return resp, nil
}

// write sends the only attempt of a write that may take effect.
func (p *exchangePolicy) write(req *policy.Request, x *Exchange) (*http.Response, error) {
	var sent written
	traced := req.WithContext(httptrace.WithClientTrace(req.Raw().Context(), sent.trace()))
	if x.Send != nil {
		if err := traced.SetBody(streaming.NopCloser(bytes.NewReader(x.Send)), "application/json"); err != nil {
			return nil, &TransportError{Cause: err, Unsent: true}
		}
	}
	resp, err := x.keep(traced)
	if err != nil {
		if req.Raw().Context().Err() != nil && !sent.nothing() {
			return nil, err
		}
		// As the SDK knows this kind of error not, it does not send again.
		return nil, &TransportError{Cause: err, Unsent: sent.nothing()}
	}
	x.answered = resp
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, statusRetryWith:
		x.mayBeApplied = false // another region may be asked
	}
	return resp, nil
}

// keep makes one attempt, counts it, and takes the body of a successful answer
// if it is wanted, in one piece of memory of the right size.
func (x *Exchange) keep(req *policy.Request) (*http.Response, error) {
	if !x.KeepBody {
		resp, err := req.Next()
		x.count(resp)
		return resp, err
	}
	runtime.SkipBodyDownload(req)
	resp, err := req.Next()
	x.count(resp)
	if err != nil || resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }() // by then it was read, or its own error was returned
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < maxKeptBuffer {
		b.Grow(int(n) + bytes.MinRead) // room for the read that finds the end
	}
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	x.Kept, x.Body = true, b.Bytes()
	resp.Body = http.NoBody
	return resp, nil
}

// resend is what the SDK gets in place of a second attempt: the first answer.
func (x *Exchange) resend() error {
	if x.answered == nil || x.answered.StatusCode < http.StatusBadRequest {
		return &TransportError{Cause: errResent}
	}
	return &azcore.ResponseError{StatusCode: x.answered.StatusCode, ErrorCode: strconv.Itoa(x.answered.StatusCode), RawResponse: x.answered}
}

const statusRetryWith = 449

// written follows a request through the standard library's transport.
type written struct {
	mu            sync.Mutex
	began, headed bool
}

func (w *written) trace() *httptrace.ClientTrace {
	note := func(flag *bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		*flag = true
	}
	return &httptrace.ClientTrace{
		GetConn:      func(string) { note(&w.began) },
		WroteHeaders: func() { note(&w.headed) },
		WroteRequest: func(httptrace.WroteRequestInfo) { note(&w.headed) },
	}
}

// nothing reports that the transport looked for a connection and never wrote
// to one. Transports that don't tell report false.
func (w *written) nothing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began && !w.headed
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
