package registry

import (
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
)

// answerError is the service's answer on one line with the next action. The
// SDK's own text takes a dozen lines and quotes what was sent.
type answerError struct {
	status int
	hint   string
	err    *azcore.ResponseError
}

// answer shortens an error that is the service's answer; others stay.
func answer(err error) error {
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		return err
	}
	hint := hintFor(response.StatusCode)
	if denial := cosmos.DenialOf(err); denial != nil {
		hint = denial.Hint()
	}
	return &answerError{status: response.StatusCode, hint: hint, err: response}
}

// Error names the status and what to do.
func (e *answerError) Error() string {
	text := redact.Answer(e.err) + " " + http.StatusText(e.status)
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text
}

// Unwrap returns the SDK's error.
func (e *answerError) Unwrap() error { return e.err }

func hintFor(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "check the account's key, and this machine's clock"
	case http.StatusForbidden:
		return "check the identity's role on the account, and the account's network rules"
	case http.StatusNotFound:
		return "create it, or set Config.Provision"
	case http.StatusTooManyRequests:
		return "try again later"
	}
	return ""
}

func statusOf(err error) int {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return response.StatusCode
	}
	return 0
}
