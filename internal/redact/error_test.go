package redact_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/redact"
)

// What a text of an error may hold of the service's answer: its status, and neither the URL nor the body.
func TestErrorsLeaveTheAnswerOut(t *testing.T) {
	t.Parallel()
	where, err := url.Parse("https://account/dbs/secret-id")
	if err != nil {
		t.Fatal(err)
	}
	response := &http.Response{
		StatusCode: http.StatusNotFound, Status: "404 Not Found", Header: http.Header{"X-Ms-Substatus": {"1002"}},
		Body: io.NopCloser(strings.NewReader("secret-body")), Request: &http.Request{Method: http.MethodGet, URL: where},
	}
	answer := &azcore.ResponseError{StatusCode: 404, ErrorCode: "NotFound", RawResponse: response}
	if got := redact.Answer(answer); got != "HTTP 404/1002" {
		t.Errorf("%q", got)
	}
	for _, err := range []error{
		answer, fmt.Errorf("read: %w", answer), errors.Join(io.EOF, answer), errors.New("said: " + answer.Error()),
		&url.Error{Op: "Get", URL: "https://account/dbs/secret-id", Err: io.EOF},
	} {
		got := redact.Error(err)
		if strings.Contains(got.Error(), "secret") || !errors.Is(got, err) {
			t.Errorf("%q", got)
		}
	}
	if redact.Error(nil) != nil {
		t.Error("nil became an error")
	}
}
