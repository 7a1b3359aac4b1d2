package redact

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Error gives an error a text that may be logged, stored and shown: that of
// the SDK holds the URL and the body of the answer, which may quote a document.
// It unwraps to the error.
func Error(err error) error {
	if err == nil {
		return nil
	}
	var done *readableError
	if errors.As(err, &done) && done == err { //nolint:errorlint // only the outermost one covers the whole text
		return err
	}
	text := err.Error()
	eachCause(err, func(cause error) {
		switch cause := cause.(type) { //nolint:errorlint // every cause comes by
		case *azcore.ResponseError:
			text = strings.ReplaceAll(text, cause.Error(), withText(cause))
		case *url.Error:
			text = strings.ReplaceAll(text, cause.Error(), cause.Op+": "+cause.Err.Error())
		}
	})
	return &readableError{withoutAnswers(text), err}
}

type readableError struct {
	text string
	err  error
}

func (e *readableError) Error() string { return e.text }

func (e *readableError) Unwrap() error { return e.err }

// Answer is all that is printed of the service's answer: its status, and the substatus if there is one, as
// HTTP 404/1002. Errors of every package print answers with it.
func Answer(e *azcore.ResponseError) string {
	text := fmt.Sprintf("HTTP %d", e.StatusCode)
	if e.RawResponse != nil {
		if sub := e.RawResponse.Header.Get("x-ms-substatus"); sub != "" && sub != "0" {
			text += "/" + sub
		}
	}
	return text
}

// withText is Answer with the status' name.
func withText(e *azcore.ResponseError) string {
	return strings.TrimSpace(Answer(e) + " " + http.StatusText(e.StatusCode))
}

// answerRule is the line that the SDK draws around the parts of an answer.
const answerRule = "--------------------"

// withoutAnswers cuts what is left of an answer that a handler has put into a
// text of its own.
func withoutAnswers(text string) string {
	before, _, found := strings.Cut(text, answerRule)
	if !found {
		return text
	}
	if i := strings.LastIndexByte(strings.TrimSuffix(before, "\n"), '\n'); i >= 0 {
		return before[:i] + " (the service's answer is left out)"
	}
	return "an answer of the service, which is left out"
}

// eachCause visits an error and everything that it wraps.
func eachCause(err error, visit func(error)) {
	visit(err)
	switch err := err.(type) { //nolint:errorlint // it looks at each wrapper itself
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			eachCause(inner, visit)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range err.Unwrap() {
			eachCause(inner, visit)
		}
	}
}
