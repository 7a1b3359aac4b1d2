package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// fail makes a refusal in the service's shape; the code is the status's name as the service spells it.
func fail(status, substatus int, message string) *store.Error {
	return &store.Error{Status: status, Substatus: substatus, Code: codeOf(status), Message: message}
}

func badRequest(message string) *store.Error { return fail(http.StatusBadRequest, 0, message) }

// unsupported refuses by name what the service can do and this emulator can't.
func unsupported(what string) *store.Error {
	return fail(http.StatusNotImplemented, 0, what+" not supported by this emulator.")
}

func codeOf(status int) string {
	switch status {
	case http.StatusRequestTimeout:
		return "RequestTimeout"
	case http.StatusTooManyRequests:
		return "429"
	case 449:
		return "RetryWith"
	}
	text := []byte(http.StatusText(status))
	name := text[:0]
	for _, c := range text {
		if c != ' ' && c != '-' {
			name = append(name, c)
		}
	}
	if len(name) == 0 {
		return "Unknown"
	}
	return string(name)
}

// errorBody is what every answer of 400 and above carries: some clients fail on an empty one.
type errorBody struct {
	Code                string `json:"code"`
	Message             string `json:"message"`
	AdditionalErrorInfo string `json:"additionalErrorInfo,omitempty"`
}

const diagnosticsVersion = "Microsoft.Azure.Documents.Common/2.14.0"

func encodeError(e *store.Error, activityID string) []byte {
	code := e.Code
	if code == "" {
		code = codeOf(e.Status)
	}
	return encodeJSON(errorBody{
		Code:                code,
		Message:             e.Message + "\r\nActivityId: " + activityID + ", " + diagnosticsVersion,
		AdditionalErrorInfo: string(e.PlanJSON),
	})
}
