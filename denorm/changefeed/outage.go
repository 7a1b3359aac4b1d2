package changefeed

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
)

// An outage is nobody's fault. A handler's error that may pass says nothing
// about the change, so the change is tried again for as long as that takes, and
// its range stands still meanwhile. What the error of a handler is, is decided
// here, once: only what is about the change itself ends in quarantine.

// Transient marks a handler's error as one that will pass, such as the failure
// of a service that the handler needs. The range stands still and the changes
// are tried again until it has passed; nothing is put into quarantine. Errors
// of the database and of the network are known without it, except for one: an
// io.ErrUnexpectedEOF of a body that the handler read itself may be that of a text
// in the document as well, and has to be marked.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transientError{err}
}

type transientError struct{ err error }

func (e *transientError) Error() string { return e.err.Error() }

func (e *transientError) Unwrap() error { return e.err }

// passes reports whether an error will go away without anybody changing the
// document that it came with.
func passes(err error) bool {
	var transient *transientError
	var response *azcore.ResponseError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &transient):
		return true
	case errors.As(err, &response):
		return answerPasses(response)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errNoPartition):
		return true
	case errors.As(err, &timeout) && timeout.Timeout():
		return true
	}
	return isOfNetwork(err)
}

// requestPasses is passes for the requests of the processor and of a watch, which read no text of a document.
func requestPasses(err error) bool {
	return passes(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isOfNetwork reports whether the network failed. An address that is none, which a
// handler may have from a document, is no failure of it, nor is a text that ends too
// soon: only a cut answer is.
func isOfNetwork(err error) bool {
	switch e := err.(type) { //nolint:errorlint // every cause comes by
	case nil:
		return false
	case syscall.Errno:
		return slices.Contains(networkErrors, e)
	case *net.DNSError:
		return !isMalformedAddress(e)
	case *cosmos.CutError:
		return true
	case *net.OpError:
		return !isMalformedAddress(e.Err)
	case *url.Error:
		return !isMalformedRequest(e)
	case interface{ NonRetriable() }:
		// azcore has no other sign of a body that it could not read to its end.
		if strings.HasPrefix(err.Error(), "body download policy: ") {
			return true
		}
	}
	switch e := err.(type) { //nolint:errorlint // this is what goes through the causes
	case interface{ Unwrap() error }:
		return isOfNetwork(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), isOfNetwork)
	}
	return false
}

// isMalformedRequest reports whether a request was not sent for its URL, a header, its method or the
// length of its body.
func isMalformedRequest(e *url.Error) bool {
	if text := e.Err.Error(); e.Op == "parse" || strings.HasPrefix(text, "net/http: invalid") || strings.HasPrefix(text, "http: ContentLength=") {
		return true
	}
	u, err := url.Parse(e.URL)
	return err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || isMalformedAddress(e.Err)
}

var networkErrors = []syscall.Errno{
	syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT, syscall.ENETUNREACH, syscall.EHOSTUNREACH,
}

// The substatus codes by which an answer is told from others of its status.
const (
	substatusBehind      = 1002 // of 404: the replica lacks what the session has seen
	substatusNoContainer = 1003 // of 404
)

// answerPasses is about answers of the service: it was busy or down, or it does
// not let this process in, or another region is about to take over. None of
// that lies in a document.
func answerPasses(e *azcore.ResponseError) bool {
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests, statusRetryWith, http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		return cosmos.SubstatusOf(e) != cosmos.SubstatusPartitionFull
	case http.StatusNotFound:
		return cosmos.SubstatusOf(e) == substatusBehind || cosmos.SubstatusOf(e) == substatusNoContainer
	}
	return e.StatusCode >= http.StatusInternalServerError
}

// statusRetryWith is the service's "concurrent write, try again".
const statusRetryWith = 449

// stallGrace is how long a range may stand still before the log tells of it:
// a replica that is behind, or a busy moment, is nothing to look at.
const stallGrace = 3 * time.Second

// stalled notes that the range stands still, and says so once.
func (w *worker) stalled(ctx context.Context, err error) {
	w.p.mu.Lock()
	if w.stalledSince.IsZero() {
		w.stalledSince = time.Now()
	}
	tell := !w.stallTold && time.Since(w.stalledSince) >= stallGrace
	w.stallTold = w.stallTold || tell
	since := w.stalledSince
	w.p.mu.Unlock()
	if tell {
		w.p.cfg.Logger.WarnContext(ctx, "change feed range stands still until this passes",
			"processor", w.p.cfg.Name, "range", w.keys.String(), "since", since, "error", redact.Error(err))
	}
}

// goesOn notes that the range does not stand still any more.
func (w *worker) goesOn(ctx context.Context) {
	w.p.mu.Lock()
	since, told := w.stalledSince, w.stallTold
	w.stalledSince, w.stallTold = time.Time{}, false
	w.p.mu.Unlock()
	if told {
		w.p.cfg.Logger.InfoContext(ctx, "change feed range goes on", "processor", w.p.cfg.Name, "range", w.keys.String(), "stood", time.Since(since))
	}
}

// stallStart is when the range began to stand still; zero when it goes on.
func (w *worker) stallStart() time.Time {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	return w.stalledSince
}
