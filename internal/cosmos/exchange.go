package cosmos

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
)

// Exchange travels in the context of one call into the SDK and is filled by
// the pipeline policy. It is for one call after the other, not for two at once.
type Exchange struct {
	// Meter counts the attempts; nil where none are counted.
	Meter Meter
	// Write says that the call changes something: it is sent once.
	Write bool
	// Page takes the body of a successful feed page. The bytes are good until
	// it returns.
	Page func(body []byte) error
	// Send, where set, is the body that is sent in place of the SDK's.
	Send []byte
	// KeepBody keeps the body of a successful answer from the SDK, which would
	// copy it as it grows.
	KeepBody bool
	// Probe lets no request leave: the call only finds out whether the client
	// has the policy.
	Probe bool

	// Paged says that Page got the body.
	Paged bool
	// Kept says that Body is the answer's.
	Kept bool
	Body []byte

	seen         atomic.Bool // also asked for by the SDK's reads in the background
	mayBeApplied bool
	answered     *http.Response
}

// Meter counts requests and their charge, in RU.
type Meter interface{ Add(requestUnits float64) }

// Reset makes the exchange ready for the next call.
func (x *Exchange) Reset() {
	x.seen.Store(false)
	x.Paged, x.mayBeApplied, x.answered = false, false, nil
	x.Kept, x.Body = false, nil
}

// Seen reports that the policy was passed: the client has it, and the attempts
// were counted.
func (x *Exchange) Seen() bool { return x.seen.Load() }

func (x *Exchange) count(resp *http.Response) {
	if x.Meter == nil {
		return
	}
	charge := 0.0
	if resp != nil {
		charge = ChargeOf(resp.Header)
	}
	x.Meter.Add(charge)
}

// ChargeOf reads a response's request charge in RU; 0 when it names none.
func ChargeOf(h http.Header) float64 {
	charge, err := strconv.ParseFloat(h.Get("x-ms-request-charge"), 64)
	if err != nil || !(charge >= 0) || math.IsInf(charge, 0) {
		return 0
	}
	return charge
}

type exchangeKey struct{}

func exchangeFrom(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// TransportError is a write that got no answer.
type TransportError struct {
	Cause error
	// Unsent says that nothing of the request left this process.
	Unsent bool
}

// Error is the cause's text.
func (e *TransportError) Error() string { return e.Cause.Error() }

// NonRetriable tells the SDK's retry policy to leave it.
func (e *TransportError) NonRetriable() {}

// It has no Unwrap: the SDK takes some causes for "never sent", and a write is
// not repeated on a guess.

// CutError is an answer that ended before its end, which its cause,
// io.ErrUnexpectedEOF, does not tell from a text that does.
type CutError struct{ Cause error }

// Error is the cause's text.
func (e *CutError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *CutError) Unwrap() error { return e.Cause }

func asCut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &CutError{err}
	}
	return err
}

var (
	errResent = errors.New("the SDK tried to send a write a second time")
	errProbed = &TransportError{Cause: errors.New("a probe is not sent"), Unsent: true}
)
