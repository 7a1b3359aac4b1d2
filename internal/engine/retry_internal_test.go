package engine

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// A time that does not fit, or makes no sense, is no reason for a busy loop.
func TestRetryTimesAreBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "x": 0, "NaN": 0, "250": 250 * time.Millisecond, "12.5": 12500 * time.Microsecond,
		"9223372036854": maxThrottled, "9223372036854775807": maxThrottled, "1e300": maxThrottled, "Inf": maxThrottled, "-Inf": 0,
	} {
		err := &azcore.ResponseError{StatusCode: 429, RawResponse: &http.Response{Header: http.Header{"X-Ms-Retry-After-Ms": {text}}}}
		if got := retryAfter(err); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
